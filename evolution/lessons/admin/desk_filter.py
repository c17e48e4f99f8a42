"""Which drafts a person looks at on the desk: read from the query, kept in every link; and those put off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from common.admin import chosen_company, visible
from evolution.lessons.choices import Severity, Source
from evolution.lessons.models.lesson import LessonQuerySet
from evolution.lessons.selectors.drafts import complete, drafts_for, incomplete

DESK = "admin:lessons_lesson_desk"
PARTS = {"complete": _("complete"), "incomplete": _("incomplete")}
#: Session key of the drafts that the person put off, and how many are remembered.
LATER, MAX_LATER = "lessons_later", 500


@dataclass(frozen=True)
class DeskFilter:
    """Empty values do not narrow; what is no known value counts as empty."""

    severity: str = ""
    source: str = ""
    parts: str = ""
    agent: str = ""

    @classmethod
    def of(cls, request: HttpRequest) -> DeskFilter:
        """From the query of the request."""
        sent = {field.name: request.GET.get(field.name, "") for field in fields(cls)}
        agent = sent["agent"]
        return cls(
            severity=sent["severity"] if sent["severity"] in Severity.values else "",
            source=sent["source"] if sent["source"] in Source.values else "",
            parts=sent["parts"] if sent["parts"] in PARTS else "",
            agent=agent if agent.isascii() and agent.isdigit() and len(agent) < 19 else "",
        )

    def waiting_for(self, request: HttpRequest) -> LessonQuerySet:
        """The drafts that wait for this person, without those put off."""
        waiting = drafts_for(request.user, chosen_company(request))
        narrowed = {"severity": self.severity, "source": self.source, "agent": self.agent}
        waiting = waiting.filter(**{name: value for name, value in narrowed.items() if value})
        if self.parts:
            waiting = {"complete": complete, "incomplete": incomplete}[self.parts](waiting)
        put_off = later(request)
        return waiting.exclude(pk__in=put_off) if put_off else waiting

    def url(self, **more: Any) -> str:
        """The desk with this filter, and `more` in its query."""
        values = {field.name: getattr(self, field.name) for field in fields(self)} | more
        kept = {name: value for name, value in values.items() if value not in ("", None)}
        return reverse(DESK) + (f"?{urlencode(kept)}" if kept else "")

    def query(self) -> str:
        """The filter as a query string with its question mark; empty for nothing."""
        return self.url().removeprefix(reverse(DESK))

    def chips(self, request: HttpRequest) -> Iterator[tuple[Any, Any, str]]:
        """(name, value, the desk without it) of each filter that is set."""
        if self.severity:
            yield _("severity"), Severity(self.severity).label, replace(self, severity="").url()
        if self.source:
            yield _("source"), Source(self.source).label, replace(self, source="").url()
        if self.parts:
            yield _("completeness"), PARTS[self.parts], replace(self, parts="").url()
        if self.agent:
            agent = Agent.objects.seen_by(request.user).filter(pk=self.agent).first()
            yield _("agent"), visible(agent.name) if agent else "–", replace(self, agent="").url()


def later(request: HttpRequest) -> list[int]:
    """Ids of the drafts that this person put off since they signed in."""
    kept = request.session.get(LATER, [])
    return [pk for pk in kept if isinstance(pk, int)]


def put_off(request: HttpRequest, pk: int) -> None:
    """Show this draft again only when the person asks for what was put off; of many the first are forgotten."""
    request.session[LATER] = [*(kept for kept in later(request) if kept != pk), pk][-MAX_LATER:]

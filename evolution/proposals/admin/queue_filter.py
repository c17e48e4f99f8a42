"""Which part of the waiting list a person looks at, and how: read from the query, kept in every link."""

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
from common.text import forbidden_character
from evolution.proposals.choices import Risk, Trigger
from evolution.proposals.models import Proposal, ProposalQuerySet

QUEUE = "admin:proposals_proposal_queue"


@dataclass(frozen=True)
class QueueFilter:
    """Empty values do not narrow; what is no known value counts as empty."""

    risk: str = ""
    trigger: str = ""
    agent: str = ""
    source: str = ""
    view: str = ""

    @classmethod
    def of(cls, request: HttpRequest) -> QueueFilter:
        """From the query of the request."""
        sent = {field.name: request.GET.get(field.name, "") for field in fields(cls)}
        agent, source = sent["agent"], sent["source"][:200]
        return cls(
            risk=sent["risk"] if sent["risk"] in Risk.values else "",
            trigger=sent["trigger"] if sent["trigger"] in Trigger.values else "",
            agent=agent if agent.isascii() and agent.isdigit() and len(agent) < 19 else "",
            source="" if forbidden_character(source) else source,
            view="unified" if sent["view"] == "unified" else "",
        )

    def waiting_for(self, request: HttpRequest) -> ProposalQuerySet:
        """What waits for this person: pending proposals of companies that they are a member of."""
        waiting = Proposal.objects.waiting().written_by(request.user)
        narrowed = {
            "risk": self.risk,
            "trigger": self.trigger,
            "agent": self.agent,
            "created_by": self.source,
            "company__slug": chosen_company(request),
        }
        return waiting.filter(**{name: value for name, value in narrowed.items() if value})

    def query(self, **more: Any) -> str:
        """The filter, and `more`, as a query string with its question mark; empty for nothing."""
        values = {field.name: getattr(self, field.name) for field in fields(self)} | more
        kept = {name: value for name, value in values.items() if value not in ("", None)}
        return f"?{urlencode(kept)}" if kept else ""

    def url(self, **more: Any) -> str:
        """The queue with this filter."""
        return reverse(QUEUE) + self.query(**more)

    def toggled_view(self) -> QueueFilter:
        """The same list with the other way to show a difference."""
        return replace(self, view="" if self.view else "unified")

    def chips(self, request: HttpRequest) -> Iterator[tuple[Any, Any, str]]:
        """(name, value, the queue without it) of each filter that is set."""
        if self.risk:
            yield _("risk"), Risk(self.risk).label, replace(self, risk="").url()
        if self.trigger:
            yield _("trigger"), Trigger(self.trigger).label, replace(self, trigger="").url()
        if self.agent:
            agent = Agent.objects.seen_by(request.user).filter(pk=self.agent).first()
            yield _("agent"), visible(agent.name) if agent else "–", replace(self, agent="").url()
        if self.source:
            yield _("proposed by"), visible(self.source), replace(self, source="").url()

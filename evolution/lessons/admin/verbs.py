"""What people decide about lessons: one by one from their page, or several from the list. Each by POST.

Every lesson is decided on its own, in a transaction of its own, by one service call; what is refused is told, and
the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action

from agents.models import Agent
from agents.selectors import get_agent
from common.admin import FieldbookAdmin, actor_of
from common.companies.models import Company
from common.errors import ApplicationError, invalid
from common.text import length, show_hidden
from evolution.lessons.admin.shown import missing_parts, page_link
from evolution.lessons.choices import Category, Status
from evolution.lessons.models import Lesson
from evolution.lessons.services import deciding
from evolution.lessons.services.deciding import Decision
from evolution.lessons.services.promoting import promote
from experiences.rules import MAX_LENGTH, content_fault

log = structlog.get_logger(__name__)

CONFIRM, PROMOTE, CHANGE = "lessons.confirm_lesson", "lessons.promote_lesson", "lessons.change_lesson"
#: Lessons in one bulk decision: as many as a person can still read on one page.
MAX_CHOSEN = 100
#: Who comes from the drafts desk goes back to it.
DESK = "desk"
#: What a confirmation looks at.
RELATED = ("company", "agent", "supersedes")


@dataclass(frozen=True)
class Verb:
    """What can be done with a lesson in some states, by whom, what it means, and what is said afterwards."""

    slug: str
    title: Any
    question: Any
    done: Any
    icon: str
    permission: str
    states: tuple[str, ...]
    lines: tuple[Any, ...]
    perform: Callable[[Lesson, Decision, Agent | None], Any]
    asks_why: bool = False
    asks_agent: bool = False
    dangerous: bool = False


VERBS = {
    verb.slug: verb
    for verb in (
        Verb(
            "confirm",
            _("Confirm"),
            _("Confirm these lessons?"),
            _("confirmed"),
            "check_circle",
            CONFIRM,
            (Status.DRAFT,),
            (_("A confirmed lesson is recalled before tasks, and changes are checked against it."),),
            lambda lesson, decision, agent: deciding.confirm(lesson_id=lesson.pk, decision=decision),
        ),
        Verb(
            "reject",
            _("Reject"),
            _("Reject these drafts?"),
            _("rejected"),
            "block",
            CONFIRM,
            (Status.DRAFT,),
            (_("A rejected draft stays on record and is never recalled; it cannot be changed any more."),),
            lambda lesson, decision, agent: deciding.reject(lesson_id=lesson.pk, decision=decision),
            asks_why=True,
            dangerous=True,
        ),
        Verb(
            "promote",
            _("Make it an experience"),
            _("Make these lessons experiences of an agent?"),
            _("made an experience"),
            "move_up",
            PROMOTE,
            (Status.ACTIVE, Status.DRAFT),
            (
                _(
                    "The takeaway is copied as it is to a new experience of the agent, and stands in its prompt."
                ),
            ),
            lambda lesson, decision, agent: (
                promote(lesson_id=lesson.pk, agent=agent, decision=decision) if agent else None
            ),
            asks_agent=True,
        ),
        Verb(
            "archive",
            _("Archive"),
            _("Archive these lessons?"),
            _("archived"),
            "archive",
            CONFIRM,
            (Status.ACTIVE,),
            (_("An archived lesson stays readable and leaves recall; it can be restored."),),
            lambda lesson, decision, agent: deciding.archive(lesson_id=lesson.pk, decision=decision),
        ),
        Verb(
            "restore",
            _("Restore"),
            _("Restore these lessons?"),
            _("restored"),
            "unarchive",
            CONFIRM,
            (Status.ARCHIVED, Status.SUPERSEDED),
            (_("It is recalled again; an expiry that was computed counts from today."),),
            lambda lesson, decision, agent: deciding.restore(lesson_id=lesson.pk, decision=decision),
        ),
    )
}


class LessonVerbs(FieldbookAdmin):
    """The pages that ask before, and the bulk actions of the list."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.verb_view)
        own = [
            path(f"<int:pk>/{slug}/", view, {"slug": slug}, name=f"lessons_lesson_{slug}") for slug in VERBS
        ]
        return [*own, *super().get_urls()]

    def has_confirm_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(CONFIRM)

    def has_promote_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(PROMOTE)

    @action(description=_("Confirm the chosen drafts …"), permissions=["confirm"])
    def confirm_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._chosen(request, queryset, VERBS["confirm"])

    @action(description=_("Reject the chosen drafts with one reason …"), permissions=["confirm"])
    def reject_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._chosen(request, queryset, VERBS["reject"])

    @action(description=_("Archive the chosen ones …"), permissions=["confirm"])
    def archive_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._chosen(request, queryset, VERBS["archive"])

    @action(description=_("Restore the chosen ones …"), permissions=["confirm"])
    def restore_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._chosen(request, queryset, VERBS["restore"])

    @action(description=_("Make the chosen ones experiences of an agent …"), permissions=["promote"])
    def promote_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._chosen(request, queryset, VERBS["promote"])

    def verb_view(self, request: HttpRequest, pk: int, slug: str) -> HttpResponse:
        """One lesson: GET asks, a confirmed POST does it once."""
        lesson = self.visible_object(request, str(pk))
        verb = VERBS[slug]
        if not request.user.has_perm(verb.permission):
            raise PermissionDenied
        page = reverse("admin:lessons_lesson_change", args=[lesson.pk])
        if request.GET.get("from") == DESK:
            page = f"{reverse('admin:lessons_lesson_desk')}?p={lesson.pk}"
        title = f"{verb.title}: {lesson.code} {show_hidden(lesson.title)}"
        return self._ask(request, [lesson], verb, title=title, back=page)

    def _chosen(self, request: HttpRequest, queryset: QuerySet, verb: Verb) -> HttpResponse | None:
        lessons = list(
            queryset.defer(None).select_related(*RELATED).order_by("number", "id")[: MAX_CHOSEN + 1]
        )
        if len(lessons) > MAX_CHOSEN:
            told = _("At most %(limit)d lessons at once, so that each can be read; choose fewer.")
            messages.error(request, told % {"limit": MAX_CHOSEN})
            return None
        if verb.asks_agent and len({lesson.company_id for lesson in lessons}) > 1:
            messages.error(request, _("Choose lessons of one company: its agent gets them."))
            return None
        chosen = [("action", request.POST.getlist("action")[0])]
        chosen += [(ACTION_CHECKBOX_NAME, str(lesson.pk)) for lesson in lessons]
        back = request.get_full_path()
        return self._ask(request, lessons, verb, title=verb.question, back=back, hidden=chosen)

    def _ask(
        self,
        request: HttpRequest,
        lessons: Sequence[Lesson],
        verb: Verb,
        *,
        title: Any,
        back: str,
        hidden: Sequence[tuple[str, str]] = (),
    ) -> HttpResponse:
        if not all(self.may_write(request, lesson) for lesson in lessons):
            raise PermissionDenied
        told = [(lesson, left_out(lesson, verb)) for lesson in lessons]
        ready = [lesson for lesson, reason in told if not reason]
        if not ready:
            for lesson, reason in told:
                messages.error(request, f"{lesson.code}: {reason}")
            return HttpResponseRedirect(back)
        versions = [(f"version-{lesson.pk}", str(_shown_version(request, lesson))) for lesson in ready]
        context: dict[str, Any] = {
            "asks_why": verb.asks_why,
            "left_out": [(page_link(lesson), reason) for lesson, reason in told if reason],
        }
        if verb.asks_agent:
            agents = agents_for(request, lessons)
            context["agents"] = [(agent.pk, show_hidden(agent.name)) for agent in agents]
            context["agent"] = lessons[0].agent_id
        return self.confirmed(
            request,
            title=title,
            lines=verb.lines,
            names=[_name(lesson, verb) for lesson in ready],
            button=verb.title,
            hidden=[*hidden, *versions],
            dangerous=verb.dangerous,
            back=back,
            perform=lambda: self._performed_all(request, ready, verb, back),
            template="lessons/decide.html",
            context=context,
        )

    def _performed_all(
        self, request: HttpRequest, lessons: Iterable[Lesson], verb: Verb, back: str
    ) -> HttpResponse:
        """Decide each; the outcomes as messages."""
        reason = request.POST.get("reason", "")
        if verb.asks_why and not reason.strip():
            raise invalid("/reason", _("Say why, so that the next person knows."))
        agent_id = request.POST.get("agent", "")
        if verb.asks_agent and not (agent_id.isascii() and agent_id.isdigit() and len(agent_id) < 19):
            raise invalid("/agent", _("Choose the agent that gets the experience."))
        done: list[str] = []
        for lesson in lessons:
            refusal = self._performed_one(request, lesson, verb, agent_id, reason)
            if refusal:
                messages.error(request, f"{lesson.code}: {refusal}")
            else:
                done.append(lesson.code)
        if done:
            told = _("%(count)d %(done)s: %(codes)s")
            names = {"count": len(done), "done": verb.done, "codes": ", ".join(done[:20])}
            names["codes"] += " …" if len(done) > 20 else ""
            messages.success(request, told % names)
        return HttpResponseRedirect(back)

    def _performed_one(
        self, request: HttpRequest, lesson: Lesson, verb: Verb, agent_id: str, reason: str
    ) -> Any:
        """Nothing, or why it was refused."""
        sent = request.POST.get(f"version-{lesson.pk}", "")
        decision = Decision(
            actor=actor_of(request),
            now=timezone.now(),
            reason=reason,
            expected=(int(sent),) if is_number(sent) else None,
        )
        try:
            agent = get_agent(lesson.company, int(agent_id)) if verb.asks_agent else None
            verb.perform(lesson, decision, agent)
        except ApplicationError as error:
            return " ".join(str(fault.detail) for fault in error.errors) or error.message
        except DatabaseError:
            log.exception("lesson_decision_failed", lesson=lesson.code, verb=verb.slug)
            return _("The database refused this one; nothing of it was written.")
        return None

    def verbs_for(self, request: HttpRequest, lesson: Lesson) -> list[dict[str, Any]]:
        """Buttons of what this person may do with the lesson now; they name the version that the page shows."""
        if not self.may_write(request, lesson):
            return []
        return [
            {
                "title": verb.title,
                "icon": verb.icon,
                "link": f"{reverse(f'admin:lessons_lesson_{verb.slug}', args=[lesson.pk])}?v={lesson.version}",
            }
            for verb in VERBS.values()
            if request.user.has_perm(verb.permission) and not left_out(lesson, verb)
        ]


def left_out(lesson: Lesson, verb: Verb) -> Any:
    """Why a lesson takes no part in a decision; empty when it does."""
    if lesson.status not in verb.states:
        return _("It is %(status)s.") % {"status": lesson.get_status_display()}
    if verb.slug == "confirm" and (missing := missing_parts(lesson)):
        names = dict.fromkeys(str(name) for name, _detail in missing)
        return _("Not complete: %(parts)s.") % {"parts": ", ".join(names)}
    if verb.slug == "promote":
        return _not_promotable(lesson)
    return ""


def rule_ways(request: HttpRequest, lesson: Lesson) -> list[tuple[Any, str]]:
    """(what to do, address) of the ways in which this person can name the rule that a draft RULE-EXP lacks."""
    has_rule = lesson.rule_experience_id or lesson.rule_document_id
    if lesson.status != Status.DRAFT or lesson.category != Category.RULE or has_rule:
        return []
    ways: list[tuple[Any, str]] = []
    verb = VERBS["promote"]
    if request.user.has_perm(PROMOTE) and not left_out(lesson, verb):
        url = reverse("admin:lessons_lesson_promote", args=[lesson.pk])
        ways.append((verb.title, f"{url}?v={lesson.version}&from={DESK}"))
    if request.user.has_perm(CHANGE):
        page = reverse("admin:lessons_lesson_change", args=[lesson.pk])
        ways.append((_("Choose the experience or document"), f"{page}#id_rule_experience"))
    return ways


def _not_promotable(lesson: Lesson) -> Any:
    if lesson.status == Status.DRAFT and lesson.category != Category.RULE:
        return _("It is %(status)s.") % {"status": lesson.get_status_display()}
    if lesson.rule_experience_id is not None:
        return _("It is an experience already.")
    fault = content_fault(lesson.takeaway, "/takeaway")
    return fault.detail if fault else ""


def agents_for(request: HttpRequest, lessons: Sequence[Lesson]) -> list[Agent]:
    """The agents that may get experiences from these lessons: of their own company, and of no other."""
    companies = Company.objects.written_by(request.user).filter(
        pk__in={lesson.company_id for lesson in lessons}
    )
    agents = Agent.objects.live().filter(company__in=companies).only("pk", "name").order_by("name", "id")
    return list(agents)


def is_number(text: str) -> bool:
    """Whether it can be a version."""
    return text.isascii() and text.isdigit() and len(text) < 10


def _shown_version(request: HttpRequest, lesson: Lesson) -> int:
    """The version of the page that the person came from, else the one that this page shows."""
    sent = request.GET.get("v", "")
    return int(sent) if is_number(sent) else lesson.version


def _name(lesson: Lesson, verb: Verb) -> str:
    """The lesson in the list of a confirmation; where it would be copied, with size and words of its takeaway."""
    if not verb.asks_agent:
        return str(lesson)
    size = _("%(actual)d of %(limit)d characters")
    told = size % {"actual": length(lesson.takeaway), "limit": MAX_LENGTH}
    return f"{lesson} ({told}): {show_hidden(lesson.takeaway)}"

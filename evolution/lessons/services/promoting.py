"""Make a lesson an experience of an agent, so that it stands in the prompt."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from agents.choices import Source
from agents.models import Agent
from agents.services.editing import Edit, edit_agent
from common.actors import Channel
from common.errors import ApplicationError, Fault
from evolution.lessons.choices import Category, Status
from evolution.lessons.models import Lesson
from evolution.lessons.services.deciding import Decision
from evolution.lessons.services.indexing import reindex
from evolution.lessons.services.locking import locked, write
from evolution.lessons.services.receipts import write_lesson_receipt
from evolution.lessons.services.records import digest
from experiences.rules import CONTENT_INVALID, MAX_LENGTH, content_fault
from experiences.services import add_experience

SHARED_BODY = "SHARED_BODY"


def promote(*, lesson_id: int, agent: Agent, decision: Decision) -> Lesson:
    """Copy the takeaway to a new experience of `agent` and link it as the rule of the lesson.

    The lesson is active, or a draft RULE-EXP, which needs its rule to be confirmed.
    Errors: COMPANY_FORBIDDEN (fault SHARED_BODY) for an agent of another company, AGENT_EXPERIENCE_CONTENT_INVALID
    with limit, size and excess, STATE_CONFLICT (also when it is an experience already), VERSION_MISMATCH.
    """
    source = Source.ADMIN if decision.actor.channel == Channel.ADMIN else Source.API
    edit = Edit(decision.actor, decision.now, source, trigger="lesson_promoted")
    # The agent first: applying a proposal locks it before it makes lessons.
    with edit_agent(agent.pk, edit) as held:
        lesson = locked(lesson_id, decision.expected)
        _check_own(lesson, held)
        _check_state(lesson)
        fault = content_fault(lesson.takeaway, "/takeaway")
        if fault is not None:
            raise ApplicationError(
                CONTENT_INVALID, fault.detail, errors=(fault,), extra={"limit": MAX_LENGTH}
            )
        row = add_experience(agent_id=held.pk, content=lesson.takeaway, now=decision.now)
        write(lesson, now=decision.now, rule_experience=row)
        reindex(lesson)
        sha256 = digest(lesson)
        write_lesson_receipt(
            [lesson],
            actor=decision.actor,
            now=decision.now,
            trigger="lesson_promoted",
            reason=decision.reason,
            digests={lesson.pk: sha256},
            detail={
                "version": lesson.version,
                "agent": held.pk,
                "experience": row.pk,
                "after_sha256": sha256,
            },
        )
    return lesson


def _check_own(lesson: Lesson, agent: Agent) -> None:
    """A company's lesson in a shared body would be shown to all companies."""
    if agent.company_id != lesson.company_id:
        message = _(
            "This agent is shared by _global and can be changed only there; copy it to change the copy."
        )
        raise ApplicationError("COMPANY_FORBIDDEN", message, errors=(Fault("/agent", SHARED_BODY, message),))


def _check_state(lesson: Lesson) -> None:
    waits_for_rule = lesson.status == Status.DRAFT and lesson.category == Category.RULE
    if lesson.status != Status.ACTIVE and not waits_for_rule:
        raise ApplicationError(
            "STATE_CONFLICT",
            _("%(code)s is %(status)s; only an active lesson can become an experience.")
            % {"code": lesson.code, "status": lesson.get_status_display()},
            extra={"status": lesson.status},
        )
    if lesson.rule_experience_id is not None:
        raise ApplicationError(
            "STATE_CONFLICT",
            _("%(code)s is linked to the experience %(id)d already.")
            % {"code": lesson.code, "id": lesson.rule_experience_id},
            extra={"rule_experience": lesson.rule_experience_id},
        )

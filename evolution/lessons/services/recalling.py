"""Recall for a runtime: the answer, what is remembered of it, and whether it helped."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from common.actors import Actor
from common.companies.models import Company
from common.errors import ApplicationError, Fault
from common.redaction import redact
from common.text import length
from evolution.lessons.models import Lesson, RecallLog, RecallOutcome
from evolution.lessons.rules.kinds import lesson_code
from evolution.lessons.rules.reading import Reading
from evolution.lessons.rules.recall_request import RecallRequest
from evolution.lessons.rules.values import shortened
from evolution.lessons.selectors.recall import Match, Recalled, recall_lessons

log = structlog.get_logger(__name__)

MAX_EXCERPT = 200
MAX_NOTE = 500


@dataclass(frozen=True)
class Logged:
    """An answer and the id of its log row; None when it could not be logged."""

    recalled: Recalled
    recall_id: uuid.UUID | None


def recall_and_log(
    *,
    company: Company,
    request: RecallRequest,
    actor: Actor,
    now: datetime,
    agent: Agent | None = None,
    bound_to: int | None = None,
) -> Logged:
    """`recall_lessons`, remembered with its hits and counted at each lesson.

    A failure to log is logged, and never fails the recall. Errors: RECALL_INPUT_EMPTY.
    """
    started = time.perf_counter()
    recalled = recall_lessons(company=company, request=request, now=now, agent=agent, bound_to=bound_to)
    duration_ms = 1000 * (time.perf_counter() - started)
    try:
        row = log_recall(
            company=company,
            request=request,
            recalled=recalled,
            actor=actor,
            now=now,
            duration_ms=duration_ms,
        )
    except Exception:
        log.exception("recall_not_logged", company=company.slug)
        return Logged(recalled, None)
    return Logged(recalled, row.recall_id)


@transaction.atomic
def log_recall(
    *,
    company: Company,
    request: RecallRequest,
    recalled: Recalled,
    actor: Actor,
    now: datetime,
    duration_ms: float,
) -> RecallLog:
    """Store what was asked (without secrets) and answered, and count it at the lessons."""
    found = [match.lesson.pk for match in recalled.matches]
    # In one order, that of superseding (the newer first), so that nobody waits for each other.
    known = set(
        Lesson.objects.select_for_update(no_key=True)
        .filter(pk__in=found)
        .order_by("-pk")
        .values_list("pk", flat=True)
    )
    row = RecallLog.objects.create(
        company=company,
        agent=recalled.agent,
        purpose=request.purpose,
        reference=stored_text(request.reference, 200),
        task=stored_text(request.task, MAX_EXCERPT),
        tags=[stored_text(tag, 40) for tag in request.tags],
        files=[stored_text(path, 500) for path in request.files],
        hits=[_hit(match) for match in recalled.matches],
        hit_count=len(recalled.matches),
        scanned=recalled.scanned,
        duration_ms=round(duration_ms, 2),
        asked_by=actor.name[:200],
        created_at=now,
    )
    RecallOutcome.objects.bulk_create(
        RecallOutcome(
            recall=row,
            lesson=match.lesson,
            position=place,
            score=match.score.total,
            relevance=match.relevance.value,
        )
        for place, match in enumerate(recalled.matches, 1)
        if match.lesson.pk in known
    )
    Lesson.objects.filter(pk__in=found).update(recalled_count=F("recalled_count") + 1, last_recalled_at=now)
    return row


@dataclass(frozen=True)
class Outcome:
    """What became of a recalled lesson."""

    lesson: int
    helped: bool
    note: str


def checked_outcome(values: Mapping[str, Any]) -> Outcome:
    """Errors: VALIDATION_ERROR naming every fault."""
    reading = Reading(values)
    number, helped = reading.code("lesson"), reading.values.get("helped")
    if number is None and not reading.faults:
        reading.code_at("/lesson", "")
    if not isinstance(helped, bool):
        reading.fault("/helped", _("This must be true or false."))
    outcome = Outcome(number or 0, helped is True, reading.text("note", MAX_NOTE))
    reading.check()
    return outcome


@transaction.atomic
def record_outcome(
    *,
    company: Company,
    recall_id: uuid.UUID,
    outcome: Outcome,
    actor: Actor,
    now: datetime,
    bound_to: int | None = None,
) -> bool:
    """Whether a recalled lesson helped: once for each (recall, lesson); a repeat replaces it.

    The lesson's counts move with it. Returns whether an earlier answer was replaced.
    Errors: NOT_FOUND for a recall that is not the company's, and for a lesson that it did not return.
    """
    rows = RecallOutcome.objects.filter(recall__company=company, recall__recall_id=recall_id)
    if bound_to is not None:
        rows = rows.filter(recall__agent_id=bound_to)
    pk = rows.filter(lesson__number=outcome.lesson).values_list("pk", flat=True).first()
    if pk is None:
        raise _not_recalled(company, recall_id, outcome.lesson, bound_to)
    row = RecallOutcome.objects.select_for_update().get(pk=pk)
    before, row.helped = row.helped, outcome.helped
    row.note = stored_text(outcome.note, MAX_NOTE)
    row.reported_by, row.reported_at = actor.name[:200], now
    row.save(update_fields=["helped", "note", "reported_by", "reported_at"])
    if before != outcome.helped:
        moved = Counter({_column(outcome.helped): 1})
        if before is not None:
            moved[_column(before)] -= 1
        Lesson.objects.filter(pk=row.lesson_id).update(
            **{column: F(column) + step for column, step in moved.items()}
        )
    return before is not None


def _column(helped: bool) -> str:
    return "helped_count" if helped else "not_helped_count"


def _not_recalled(
    company: Company, recall_id: uuid.UUID, number: int, bound_to: int | None
) -> ApplicationError:
    logs = RecallLog.objects.filter(company=company, recall_id=recall_id)
    if bound_to is not None:
        logs = logs.filter(agent_id=bound_to)
    if not logs.exists():
        return ApplicationError("NOT_FOUND", _("No such recall."))
    message = _("This recall did not return %(code)s.") % {"code": lesson_code(number)}
    return ApplicationError("NOT_FOUND", message, errors=(Fault("/lesson", "NOT_FOUND", message),))


def _hit(match: Match) -> dict[str, Any]:
    return {
        "lesson": match.lesson.code,
        "score": round(match.score.total, 4),
        "relevance": match.relevance.value,
        "band": match.band,
    }


def stored_text(text: str, limit: int) -> str:
    """Without secrets, then within its limit (a placeholder may be longer than what it stands for)."""
    found = redact(text).text
    return found if length(found) <= limit else shortened(found, limit)

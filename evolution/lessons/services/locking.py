"""Lock lessons, compare versions, write what changed by compare-and-set."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db.models import F
from django.utils.translation import gettext_lazy as _

from common.counters.services import lock_numbers
from common.errors import ApplicationError
from evolution.lessons.models import PREFIX, Lesson
from evolution.lessons.rules.lifecycle import next_status
from evolution.lessons.selectors.lessons import lesson_not_found


def lock_company(company_id: int) -> None:
    """Writers of a company's lessons come one after the other, so that chains of successors stay chains."""
    lock_numbers(company_id=company_id, prefix=PREFIX)


def locked(lesson_id: int, expected: Collection[int] | None = None) -> Lesson:
    """The lesson, locked with all of its company until the transaction ends. Errors: NOT_FOUND, VERSION_MISMATCH."""
    company_id = Lesson.objects.filter(pk=lesson_id).values_list("company_id", flat=True).first()
    if company_id is None:
        raise lesson_not_found()
    lock_company(company_id)
    lesson = (
        Lesson.objects.select_for_update(of=("self",), no_key=True)
        .select_related("company", "agent")
        .filter(pk=lesson_id)
        .first()
    )
    if lesson is None:
        raise lesson_not_found()
    check_version(lesson, expected)
    return lesson


def check_version(lesson: Lesson, expected: Collection[int] | None) -> None:
    """VERSION_MISMATCH unless the lesson still has one of the expected versions."""
    if expected is not None and lesson.version not in expected:
        raise ApplicationError(
            "VERSION_MISMATCH",
            _("The lesson changed in the meantime; read version %(version)d and try again.")
            % {"version": lesson.version},
            extra={"current_version": lesson.version},
        )


def write(lesson: Lesson, *, now: datetime, **fields: Any) -> None:
    """Store fields of a locked lesson and raise its version. Errors: STATE_CONFLICT when it changed meanwhile."""
    rows = Lesson.objects.filter(pk=lesson.pk, status=lesson.status, version=lesson.version)
    if not rows.update(version=F("version") + 1, updated_at=now, **fields):
        raise ApplicationError("STATE_CONFLICT", _("The lesson changed in the meantime; read it again."))
    for name, value in fields.items():
        setattr(lesson, name, value)
    lesson.version += 1
    lesson.updated_at = now


def move(lesson: Lesson, verb: str, *, now: datetime, **fields: Any) -> None:
    """Change the state as `verb` does, with other fields. Errors: STATE_CONFLICT, also for one in quarantine."""
    if lesson.quarantined_at is not None:
        message = _("%(code)s is in quarantine; lift the quarantine first.") % {"code": lesson.code}
        raise ApplicationError("STATE_CONFLICT", message)
    write(lesson, now=now, status=next_status(lesson.status, verb), **fields)

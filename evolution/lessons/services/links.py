"""What a lesson names: related lessons, the one it supersedes, the experience or document of its rule."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.companies.models import Company
from common.errors import ApplicationError
from evolution.lessons.choices import Status
from evolution.lessons.models import Lesson
from evolution.lessons.rules.kinds import lesson_code
from evolution.lessons.rules.lifecycle import check_supersedes, next_status
from evolution.lessons.selectors.lessons import chain_of, named_lesson, rule_document, rule_experience
from evolution.lessons.services.locking import move, write
from evolution.lessons.services.records import successor


def rules_of(company: Company, fields: dict[str, Any]) -> dict[str, Any]:
    """The columns of the rule that the fields name. Errors: AGENT_EXPERIENCE_NOT_FOUND, NOT_FOUND."""
    columns: dict[str, Any] = {}
    if "rule_experience" in fields:
        pk = fields["rule_experience"]
        columns["rule_experience_id"] = None if pk is None else rule_experience(company, pk).pk
    if "rule_document" in fields:
        pk = fields["rule_document"]
        columns["rule_document_id"] = None if pk is None else rule_document(company, pk).pk
    return columns


def found_among(company: Company, numbers: Iterable[int]) -> tuple[list[Lesson], list[str]]:
    """The company's lessons of these numbers, and the codes of those that are not there."""
    wanted = list(dict.fromkeys(numbers))
    found = {lesson.number: lesson for lesson in Lesson.objects.of_company(company).filter(number__in=wanted)}
    missing = [lesson_code(number) for number in wanted if number not in found]
    return [found[number] for number in wanted if number in found], missing


def supersede(lesson: Lesson, number: int | None, *, now: datetime) -> list[Lesson]:
    """Let a locked lesson supersede the one of this number, or none; the others whose state changed with it.

    A draft only names it: the older one is superseded when the draft is confirmed.
    Errors: NOT_FOUND, LESSON_SUPERSEDE_CYCLE, STATE_CONFLICT. docs/rules.md: superseding.
    """
    current = lesson.supersedes
    if (current.number if current else None) == number:
        return []
    older = None
    if number is not None:
        older = named_lesson(lesson.company, number, "/supersedes")
        check_supersedes(lesson.number, older.number, chain_of(lesson.company))
        if lesson.status not in (Status.DRAFT, Status.ACTIVE):
            next_status(lesson.status, "supersede")
        _check_free(older)
    changed = unlink(lesson, now=now)
    if older is None:
        return changed
    write(lesson, now=now, supersedes=older)
    return changed + take_over(lesson, now=now)


def take_over(lesson: Lesson, *, now: datetime) -> list[Lesson]:
    """Move the lesson that an active one supersedes out of recall; it, if its state changed."""
    older = lesson.supersedes
    if older is None or lesson.status != Status.ACTIVE or older.status != Status.ACTIVE:
        return []
    move(older, "supersede", now=now)
    return [older]


def unlink(lesson: Lesson, *, now: datetime) -> list[Lesson]:
    """Take away the link to the lesson that this one supersedes; it, if it is active again."""
    older = lesson.supersedes
    if older is None:
        return []
    write(lesson, now=now, supersedes=None)
    if older.status != Status.SUPERSEDED:
        return []
    move(older, "reinstate", now=now)
    return [older]


def _check_free(older: Lesson) -> None:
    """Errors: STATE_CONFLICT unless the lesson is active and nothing supersedes it."""
    newer = successor(older)
    if newer is not None:
        values = {"older": older.code, "newer": newer.code}
        raise ApplicationError(
            "STATE_CONFLICT", _("%(newer)s supersedes %(older)s already; remove that link first.") % values
        )
    next_status(older.status, "supersede")

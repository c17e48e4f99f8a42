"""What a lesson names: related lessons, the one it supersedes, the experience or document of its rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
from evolution.lessons.services.records import WAITING, split_references, successor, waiting


def rules_of(company: Company, fields: Mapping[str, Any]) -> dict[str, Any]:
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
    if not wanted:
        return [], []
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


def resolve(lesson: Lesson, *, now: datetime) -> list[Lesson]:
    """Make the links that an imported lesson names and whose other end is there now; the lessons that moved.

    A link that cannot be (a cycle, another successor) stays named, with a warning on the lesson.
    """
    moved: list[Lesson] = []
    _resolve_related(lesson, now)
    for name in WAITING:
        number = waiting(lesson, name)
        other = Lesson.objects.of_company(lesson.company).filter(number=number or 0).first()
        if other is not None:
            newer, older = (lesson, other) if name == "supersedes" else (other, lesson)
            moved += _resolve_successor(lesson, newer, older, name, now)
    return moved


def _resolve_related(lesson: Lesson, now: datetime) -> None:
    codes, references = split_references(lesson.references)
    found, missing = found_among(lesson.company, codes)
    found = [other for other in found if other.pk != lesson.pk]
    lesson.related.add(*found)
    if found:
        write(lesson, now=now, references=[*references, *missing])


def _resolve_successor(
    lesson: Lesson, newer: Lesson, older: Lesson, name: str, now: datetime
) -> list[Lesson]:
    """Link both, as far as it can be; `lesson` is the one that names the other as `name`."""
    extras = {key: value for key, value in lesson.extras.items() if key != name}
    if newer.supersedes_id == older.pk:
        write(lesson, now=now, extras=extras)
        return []
    taken = newer.supersedes_id is not None or successor(older) is not None
    if taken or _is_cycle(newer, older):
        warning = f"not_linked:{name}:{lesson_code(waiting(lesson, name) or 0)}"
        if warning not in lesson.warnings:
            write(lesson, now=now, warnings=[*lesson.warnings, warning])
        return []
    write(newer, now=now, supersedes=older)
    write(lesson, now=now, extras=extras)
    if newer.status in (Status.DRAFT, Status.REJECTED) or older.status != Status.ACTIVE:
        return []
    move(older, "supersede", now=now)
    return [older]


def _is_cycle(newer: Lesson, older: Lesson) -> bool:
    try:
        check_supersedes(newer.number, older.number, chain_of(newer.company))
    except ApplicationError:
        return True
    return False

"""A stored lesson as the record that files hold, and the digest of that file."""

from __future__ import annotations

import hashlib
from typing import Any

from evolution.lessons.choices import Status
from evolution.lessons.markdown import write_lesson
from evolution.lessons.models import Lesson
from evolution.lessons.rules.kinds import lesson_number
from evolution.lessons.rules.records import Check, LessonRecord

#: Columns that are fields of the record under the same name.
SAME = (
    "number",
    "title",
    "type",
    "severity",
    "category",
    "status",
    "date",
    "trigger",
    "what",
    "when",
    "how",
    "takeaway",
    "expires_on",
    "expires_manual",
    "signal",
    "model",
    "config_hash",
)
#: A link to a lesson that is not there (yet) waits in `extras`, so that an export still says it.
WAITING = ("supersedes", "superseded_by")


def record_of(lesson: Lesson) -> LessonRecord:
    """The record of a lesson; what it names and is not there is named all the same."""
    codes, references = split_references(lesson.references)
    related = {other.number for other in lesson.related.all()} | set(codes) if lesson.pk else set(codes)
    fields: dict[str, Any] = {name: getattr(lesson, name) for name in SAME}
    return LessonRecord(
        **fields,
        tags=list(lesson.tags),
        related_files=list(lesson.related_files),
        checklist=[Check(item["text"], item["done"]) for item in lesson.checklist],
        related=sorted(related),
        references=references,
        supersedes=lesson.supersedes.number if lesson.supersedes else waiting(lesson, "supersedes"),
        superseded_by=shown_successor(lesson),
        extras={name: value for name, value in lesson.extras.items() if name not in WAITING},
        warnings=list(lesson.warnings),
    )


def split_references(references: list[str]) -> tuple[list[int], list[str]]:
    """The lessons among the references (by number; they are not there yet), and the others."""
    numbers = {reference: lesson_number(reference) for reference in references}
    codes = [number for number in numbers.values() if number]
    return codes, [reference for reference, number in numbers.items() if not number]


def waiting(lesson: Lesson, name: str) -> int | None:
    """The number of a lesson that this one names as `supersedes` or `superseded_by` and that is not linked."""
    code = lesson.extras.get(name)
    return lesson_number(code) if isinstance(code, str) else None


def successor(lesson: Lesson) -> Lesson | None:
    """The lesson that supersedes this one, or would once it is confirmed."""
    return Lesson.objects.filter(supersedes=lesson).first() if lesson.pk else None


def digest(lesson: Lesson) -> str:
    """SHA-256 of the lesson's file."""
    return hashlib.sha256(write_lesson(record_of(lesson)).encode()).hexdigest()


def shown_successor(lesson: Lesson) -> int | None:
    """The number of the lesson that supersedes this one, also of one that is not there."""
    found = getattr(lesson, "superseded_by", None) if lesson.pk else None
    # A draft supersedes nothing yet.
    if found and found.status not in (Status.DRAFT, Status.REJECTED):
        return int(found.number)
    return waiting(lesson, "superseded_by")

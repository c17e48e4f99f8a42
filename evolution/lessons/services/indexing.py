"""What a lesson is found by, kept beside it: its keys and its row of the recall index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from common.companies.models import Company
from common.search.rules.query import Entry
from common.search.services import change_state, index_objects, remove_objects
from common.search.sources import Source, register
from evolution.lessons.choices import KeyKind, Status
from evolution.lessons.models import Lesson, LessonKey
from evolution.lessons.rules.search_fields import KIND, STATES, index_attributes, index_fields
from evolution.lessons.rules.words import tag_keys


def reindex(*lessons: Lesson) -> None:
    """Bring the keys and the index of these lessons (of one company) up to their state.

    Run it in the transaction of the change, before its receipt. Active, superseded and archived lessons are
    indexed; drafts, rejected ones and those in quarantine are not.
    """
    if not lessons:
        return
    _write_keys(lessons)
    company = lessons[0].company
    shown = [lesson for lesson in lessons if _is_indexed(lesson)]
    hidden = [lesson.pk for lesson in lessons if not _is_indexed(lesson)]
    if shown:
        index_objects(company=company, kind=KIND, entries=map(entry_of, shown))
    if hidden:
        remove_objects(company=company, kind=KIND, object_ids=hidden)


def index_new(lesson: Lesson) -> None:
    """The same for a lesson that was stored just now: nothing of it can be there yet."""
    LessonKey.objects.bulk_create(
        LessonKey(lesson=lesson, kind=kind, key=key) for kind, key in sorted(_keys(lesson))
    )
    if lesson.status in STATES:
        index_objects(company=lesson.company, kind=KIND, entries=[entry_of(lesson)])


def note_archived(company: Company, ids: Sequence[int]) -> None:
    """Tell the index that these active lessons are archived now, all by one statement.

    Run it in the transaction of the change, before its receipt. Their keys stay as they are.
    """
    change_state(company=company, kind=KIND, object_ids=ids, state=STATES[Status.ARCHIVED.value])


def indexed_ids(company: Company) -> Iterable[int]:
    """Ids of the company's lessons that belong into the index."""
    return (
        Lesson.objects.of_company(company)
        .trusted()
        .filter(status__in=STATES)
        .order_by("pk")
        .values_list("pk", flat=True)
    )


def entries_of(company: Company, ids: Sequence[int]) -> Iterable[Entry]:
    """The rows of those of these lessons that belong into the index."""
    rows = Lesson.objects.of_company(company).trusted()
    return map(entry_of, rows.filter(pk__in=ids, status__in=STATES))


def register_source() -> None:
    """Tell the index how lessons are compared with it and indexed anew."""
    register(KIND, Source(ids=indexed_ids, entries=entries_of))


def entry_of(lesson: Lesson) -> Entry:
    """The row of the index for an active, superseded or archived lesson."""
    fields = index_fields(
        title=lesson.title,
        takeaway=lesson.takeaway,
        what=lesson.what,
        tags=lesson.tags,
        files=lesson.related_files,
    )
    attributes = index_attributes(
        status=lesson.status,
        day=lesson.date,
        expires=lesson.expires_on,
        agent_id=lesson.agent_id,
        severity=lesson.severity,
        number=lesson.number,
    )
    return Entry(lesson.pk, fields, attributes)


def _is_indexed(lesson: Lesson) -> bool:
    return lesson.status in STATES and lesson.quarantined_at is None


def _write_keys(lessons: Sequence[Lesson]) -> None:
    wanted = {(lesson.pk, kind, key) for lesson in lessons for kind, key in _keys(lesson)}
    known = {
        (row.lesson_id, row.kind, row.key): row.pk
        for row in LessonKey.objects.filter(lesson__in=[lesson.pk for lesson in lessons])
    }
    gone = [pk for key, pk in known.items() if key not in wanted]
    if gone:
        LessonKey.objects.filter(pk__in=gone).delete()
    LessonKey.objects.bulk_create(
        LessonKey(lesson_id=pk, kind=kind, key=key) for pk, kind, key in sorted(wanted - known.keys())
    )


def _keys(lesson: Lesson) -> set[tuple[str, str]]:
    tags = {(KeyKind.TAG.value, key) for key in tag_keys(lesson.tags)}
    return tags | {(KeyKind.FILE.value, path) for path in lesson.related_files}

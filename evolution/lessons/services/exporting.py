"""Give the library out: files that `import_lessons` reads back to the same lessons."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from common.companies.models import Company
from common.file_writing import ORDINARY, write_text
from evolution.lessons.markdown import index_of, write_index, write_lesson
from evolution.lessons.models.lesson import LessonQuerySet
from evolution.lessons.rules.records import LessonRecord
from evolution.lessons.selectors.lessons import LIBRARY, lessons_of
from evolution.lessons.services.records import record_of

INDEX = "index.json"


def library(
    company: Company, agent_id: int | None = None, statuses: Collection[str] = LIBRARY
) -> LessonQuerySet:
    """The company's lessons in these states, by number."""
    return lessons_of(company, agent_id).filter(status__in=statuses).order_by("number", "id")


def library_index(
    company: Company, agent_id: int | None = None, statuses: Collection[str] = LIBRARY
) -> dict[str, Any]:
    """index.json as a value. `last_updated` is the newest date of a lesson, so that equal lessons give equal files."""
    records = [record_of(lesson) for lesson in library(company, agent_id, statuses)]
    return index_of(records, _newest(records))


def export_lessons(
    *,
    company: Company,
    folder: Path,
    statuses: Collection[str] = LIBRARY,
    progress: Callable[[int], Any] = lambda done: None,
) -> int:
    """Write EXP-NNN.md of each lesson and index.json into a folder; how many lessons. Older exports are replaced.

    Errors: OSError of the file system.
    """
    folder.mkdir(parents=True, exist_ok=True)
    records = []
    for lesson in library(company, statuses=statuses):
        record = record_of(lesson)
        write_text(folder / f"{record.code}.md", write_lesson(record), mode=ORDINARY, overwrite=True)
        records.append(record)
        progress(1)
    write_text(folder / INDEX, write_index(records, _newest(records)), mode=ORDINARY, overwrite=True)
    return len(records)


def _newest(records: list[LessonRecord]) -> Any:
    return max((record.date for record in records if record.date), default=None)

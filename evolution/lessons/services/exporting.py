"""Give the library out: files that `import_lessons` reads back to the same lessons."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from common.companies.models import Company
from common.file_writing import ORDINARY, write_text
from evolution.lessons.markdown import index_of, write_index, write_lesson
from evolution.lessons.models import Lesson
from evolution.lessons.models.lesson import LessonQuerySet
from evolution.lessons.rules.records import LessonRecord
from evolution.lessons.selectors.lessons import LIBRARY, lessons_of
from evolution.lessons.services.records import record_of

INDEX = "index.json"
#: Files in an archive carry no time, so that equal lessons give equal archives.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


def library(
    company: Company, agent_id: int | None = None, statuses: Collection[str] = LIBRARY
) -> LessonQuerySet:
    """The company's lessons in these states, by number; none in quarantine."""
    return lessons_of(company, agent_id).trusted().filter(status__in=statuses).order_by("number", "id")


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


def zipped(lessons: Sequence[Lesson]) -> bytes:
    """A ZIP archive with EXP-NNN.md of each lesson; in a folder a company where there are several companies."""
    is_mixed = len({lesson.company_id for lesson in lessons}) > 1
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for lesson in lessons:
            folder = f"{lesson.company.slug}/" if is_mixed else ""
            entry = zipfile.ZipInfo(f"{folder}{lesson.code}.md", _NO_TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, write_lesson(record_of(lesson)))
    return content.getvalue()


def _newest(records: list[LessonRecord]) -> Any:
    return max((record.date for record in records if record.date), default=None)

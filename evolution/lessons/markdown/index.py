"""`index.json`: one row for each lesson. docs/rules.md: lesson index."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError
from common.strict_json import loads
from evolution.lessons.markdown.fields import as_number, as_text, fill
from evolution.lessons.markdown.writing import lesson_path
from evolution.lessons.rules.kinds import LessonType, Status, lesson_code
from evolution.lessons.rules.records import LessonRecord

VERSION = "1.1.0"
#: Fields that a file says better than the index; the row fills in what the file lacks.
_MERGED = ("severity", "type", "category", "date", "tags", "related_files", "takeaway", "expires_on", "title")


@dataclass
class IndexReading:
    """The rows that could be read, and for each other one its 1-based place and the reason."""

    records: list[LessonRecord] = field(default_factory=list)
    failed: list[tuple[int, str]] = field(default_factory=list)


def read_index(data: bytes) -> IndexReading:
    """The rows of an index in any order. Errors: VALIDATION_ERROR for what is not JSON or not an index."""
    document = loads(data)
    rows = document.get("experiences") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise ApplicationError("VALIDATION_ERROR", _("This is not an index: it has no list “experiences”."))
    reading = IndexReading()
    seen: set[int] = set()
    for place, row in enumerate(rows, 1):
        number = as_number(row.get("id")) if isinstance(row, dict) else None
        if number is None:
            reading.failed.append((place, str(_("the row has no id such as EXP-001"))))
        elif number in seen:
            reading.failed.append((place, str(_("%s occurs again") % lesson_code(number))))
        else:
            seen.add(number)
            reading.records.append(_record(number, row))
    return reading


def merge_row(of_file: LessonRecord, of_index: LessonRecord) -> LessonRecord:
    """The record of a file, completed by the index row of the same lesson: the file wins."""
    missing = {warning.partition(":")[2] for warning in of_file.warnings if warning.startswith("missing:")}
    names = {"key_lesson": "takeaway", "expires": "expires_on"}
    wanted = {names.get(name, name): name for name in missing}
    known = {
        name
        for name in wanted
        if name in _MERGED and f"missing:{wanted[name]}" not in of_index.warnings and getattr(of_index, name)
    }
    changes: dict[str, Any] = {name: getattr(of_index, name) for name in known}
    if "expires_on" in known:
        changes["expires_manual"] = of_index.expires_manual
    filled = {f"missing:{wanted[name]}" for name in known}
    warnings = [warning for warning in of_file.warnings if warning not in filled]
    return replace(of_file, **changes, warnings=warnings)


def write_index(records: Iterable[LessonRecord], last_updated: date | None, version: str = VERSION) -> str:
    """The index in numeric order, with LF line ends and one at the end."""
    return json.dumps(index_of(records, last_updated, version), ensure_ascii=False, indent=2) + "\n"


def index_of(
    records: Iterable[LessonRecord], last_updated: date | None, version: str = VERSION
) -> dict[str, Any]:
    """The index as a JSON value. The row of a lesson that is not active says its `status`."""
    rows = [_row(record) for record in sorted(records, key=lambda record: record.number or 0)]
    known = [str(kind) for kind in LessonType]
    return {
        "version": version,
        "last_updated": last_updated.isoformat() if last_updated else None,
        "total": len(rows),
        "type_enum": list(dict.fromkeys([*known, *sorted({row["type"] for row in rows})])),
        "experiences": rows,
    }


def key_lesson(record: LessonRecord) -> str:
    """What the index and recall show as the lesson: the takeaway, or the title where there is none."""
    return record.takeaway or record.title


def _record(number: int, row: dict[str, Any]) -> LessonRecord:
    record = LessonRecord(number=number)
    fill(record, row)
    record.title = record.title or record.code
    record.takeaway = as_text(row.get("key_lesson"))
    if not record.takeaway:
        record.warnings.append("missing:key_lesson")
        record.takeaway = record.title
    return record


def _row(record: LessonRecord) -> dict[str, Any]:
    assert record.number is not None
    row = {
        "id": record.code,
        "title": record.title,
        "type": str(record.type),
        "severity": str(record.severity),
        "category": str(record.category),
        "date": record.date.isoformat() if record.date else None,
        "tags": list(record.tags),
        "related_files": list(record.related_files),
        "key_lesson": key_lesson(record),
        "path": lesson_path(record.number),
        "expires": record.expires_on.isoformat() if record.expires_on else None,
    }
    return row if record.status == Status.ACTIVE else {**row, "status": str(record.status)}

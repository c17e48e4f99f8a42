"""From a path to what can be imported: lesson files, rows of an index, documents of others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as _

from agents.importers.markdown import is_pointer
from common.errors import ApplicationError
from common.file_reading import display_path, list_files, read_text_file
from common.text import is_blank
from evolution.lessons.choices import Status
from evolution.lessons.markdown import is_lesson_file, merge_row, read_document, read_index, read_lesson
from evolution.lessons.rules.kinds import LessonType
from evolution.lessons.rules.records import LessonRecord

MAX_INDEX_BYTES = 16 * 1024 * 1024
MARKDOWN = (".md", ".markdown")
SUFFIXES = (*MARKDOWN, ".json")
#: Where a project keeps lessons that it put away.
ARCHIVE = ".archive"
_PLACEHOLDER_RE = re.compile(r"[{<\[].*[}>\]]")
_PARTS = ("what", "when", "how", "takeaway")


@dataclass(frozen=True)
class Item:
    """One thing that was found at `source` (`file` or `file:row`).

    `record` is what it says; without one, `reason` says why: with `failed` because it cannot be read, else
    because there is no lesson in it. `is_row`: only a row of an index, which says less than a file. `sha256` is
    that of the text of a file without a number.
    """

    source: str
    record: LessonRecord | None = None
    reason: str = ""
    failed: bool = False
    is_row: bool = False
    sha256: str = ""


@dataclass
class _Rows:
    """Rows of all indexes by number, with their places, and what was wrong with others."""

    by_number: dict[int, tuple[str, LessonRecord]] = field(default_factory=dict)
    others: list[Item] = field(default_factory=list)


def read_folder(path: Path) -> list[Item]:
    """All lessons of a file, or of all files below a folder, in the order of files; index rows without a file last.

    A row of an index completes the file of the same lesson. What cannot be read becomes one failed item; links
    are not followed; other files of a folder are skipped.
    Errors: `NOT_FOUND` when nothing is there; `VALIDATION_ERROR` for a folder with too many files.
    """
    files: list[Item] = []
    rows = _Rows()
    for file, name in _files(path):
        if file.suffix.casefold() == ".json":
            _read_rows(file, name, rows)
        else:
            files.append(_read_file(file, name, in_folder=path.is_dir()))
    merged = [_merged(item, rows) for item in files]
    alone = [Item(source, record, is_row=True) for source, record in rows.by_number.values()]
    return merged + alone + rows.others


def _files(path: Path) -> Iterator[tuple[Path, str]]:
    if path.is_dir():
        for file in list_files(path, ("",)):
            if not file.name.startswith(".") or file.suffix.casefold() in SUFFIXES:
                yield file, display_path(file.relative_to(path))
    elif path.exists() or path.is_symlink():
        yield path, display_path(Path(path.name))
    else:
        raise ApplicationError("NOT_FOUND", _("there is no file or folder “%s”") % display_path(path))


def _read_file(path: Path, name: str, *, in_folder: bool) -> Item:
    if path.suffix.casefold() not in MARKDOWN and not (in_folder and path.is_symlink()):
        reason = str(_("the file name must end in one of %s") % ", ".join(SUFFIXES))
        return Item(name, reason=reason, failed=not in_folder)
    try:
        text = read_text_file(path)
        is_lesson = is_lesson_file(text, path.name)
        record = read_lesson(text, path.name) if is_lesson else read_document(text, path.name)
    except ApplicationError as error:
        return _unreadable(name, error)
    reason = _unwanted(record, text, path.stem, is_lesson=is_lesson)
    if reason:
        # A file that is named like a lesson should have been one.
        return Item(name, reason=str(reason), failed=record.number is not None)
    record.title = record.title or display_path(Path(path.stem))
    if ARCHIVE in Path(name).parts[:-1] and record.status == Status.ACTIVE:
        record.status = Status.ARCHIVED
    return Item(name, record, sha256="" if record.number else sha256(text.encode()).hexdigest())


def _unwanted(record: LessonRecord, text: str, stem: str, *, is_lesson: bool) -> Any:
    """Why a file gives no lesson; None when it gives one. Of others' documents only decisions and incidents count."""
    if is_pointer(text):
        return _("pointer, nothing imported")
    if all(is_blank(getattr(record, part)) for part in _PARTS) and not record.checklist:
        return _("there is no lesson in it")
    if is_lesson:
        return None
    if "template" in stem.casefold() or _PLACEHOLDER_RE.fullmatch(record.title):
        return _("a template, nothing imported")
    if record.type != LessonType.DESIGN_CORRECTION and "incident" not in record.warnings:
        return _("neither a lesson nor a decision nor a report of an incident")
    return None


def _read_rows(path: Path, name: str, rows: _Rows) -> None:
    try:
        reading = read_index(read_text_file(path, max_bytes=MAX_INDEX_BYTES).encode())
    except ApplicationError as error:
        rows.others.append(_unreadable(name, error))
        return
    for place, reason in reading.failed:
        rows.others.append(Item(f"{name}:{place}", reason=reason, failed=True))
    for record in reading.records:
        known = rows.by_number.get(record.number or 0)
        if known is not None:
            reason = str(_("%(code)s stands in %(source)s too") % {"code": record.code, "source": known[0]})
            rows.others.append(Item(f"{name}:{record.code}", reason=reason))
            continue
        rows.by_number[record.number or 0] = (f"{name}:{record.code}", record)


def _merged(item: Item, rows: _Rows) -> Item:
    """The item with what the index says of its lesson; that row is then done."""
    if item.record is None or item.record.number is None:
        return item
    known = rows.by_number.pop(item.record.number, None)
    return replace(item, record=merge_row(item.record, known[1])) if known else item


def _unreadable(name: str, error: ApplicationError) -> Item:
    extra: dict[str, Any] = dict(error.extra)
    line = f":{extra['line']}" if "line" in extra else ""
    return Item(f"{name}{line}", reason=str(extra.get("reason", error.message)), failed=True)

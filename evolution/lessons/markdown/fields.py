"""Values of front matter and of index rows, read leniently into the fields of a record."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from common.text import clean, name_key
from evolution.lessons.markdown.writing import FIELDS
from evolution.lessons.rules.kinds import (
    MAX_TAG,
    MAX_TAGS,
    MAX_TITLE,
    MAX_TRIGGER,
    Category,
    LessonType,
    Severity,
    Status,
    lesson_number,
)
from evolution.lessons.rules.lifetime import expires_on
from evolution.lessons.rules.paths import normalise_paths
from evolution.lessons.rules.records import LessonRecord

_DATE_RE = re.compile(r"([0-9]{4})[-/.年]([0-9]{1,2})[-/.月]([0-9]{1,2})(?![0-9])")
_EMPTY = frozenset({"", "null", "none", "~", "-", "无", "(无)", "（无）"})
_SEPARATOR_RE = re.compile(r"[,，、;；]")


def as_text(value: Any) -> str:
    """A scalar as cleaned text; nothing, a list and a mapping give an empty one."""
    if value is None or isinstance(value, list | dict):
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return clean(text)


def as_list(value: Any) -> list[str]:
    """A list, or a text with commas, as cleaned texts; empty ones are dropped, and words for "none" in a text."""
    if isinstance(value, list):
        return [text for text in map(as_text, value) if text]
    return [text for text in map(clean, _SEPARATOR_RE.split(as_text(value))) if text.casefold() not in _EMPTY]


def as_date(value: Any) -> date | None:
    """The day that a value starts with, or None."""
    found = _DATE_RE.match(as_text(value))
    if not found:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None


def as_number(value: Any) -> int | None:
    """The number of `EXP-007`, or None."""
    return lesson_number(as_text(value))


def fill(record: LessonRecord, meta: Mapping[str, Any]) -> None:
    """Sets the fields that front matter or an index row names, with a warning code for each odd or missing one."""
    warn = record.warnings.append
    record.title = _cut(as_text(meta.get("title")), MAX_TITLE, "title", warn)
    record.type = _word(meta, "type", LessonType, LessonType.BUG_FIX, warn)
    record.severity = _word(meta, "severity", Severity, Severity.MEDIUM, warn)
    record.category = _word(meta, "category", Category, Category.PRACTICE, warn)
    record.trigger = _cut(as_text(meta.get("trigger")), MAX_TRIGGER, "trigger", warn)
    record.tags = _tags(meta.get("tags"), warn)
    if "related_files" not in meta:
        warn("missing:related_files")
    record.related_files = normalise_paths(as_list(meta.get("related_files")))
    record.references = as_list(meta.get("references"))
    record.supersedes = as_number(meta.get("supersedes"))
    record.superseded_by = as_number(meta.get("superseded_by"))
    for name in ("signal", "model", "config_hash"):
        setattr(record, name, as_text(meta.get(name)))
    record.status = _status(record, meta, warn)
    _fill_dates(record, meta, warn)


def extras(meta: Mapping[str, Any]) -> dict[str, Any]:
    """What is not a field, as it was read."""
    return {key: value for key, value in meta.items() if key not in FIELDS}


def _fill_dates(record: LessonRecord, meta: Mapping[str, Any], warn: Callable[[str], None]) -> None:
    record.date = as_date(meta.get("date"))
    if record.date is None:
        warn("missing:date")
    computed = expires_on(record.date, record.category) if record.date else None
    if "expires" not in meta:
        warn("missing:expires")
        record.expires_on = computed
        return
    record.expires_on = as_date(meta["expires"])
    if record.expires_on is None and as_text(meta["expires"]).casefold() not in _EMPTY:
        warn("invalid:expires")
        record.expires_on = computed
    # An explicit value stays, also when it says "never".
    record.expires_manual = record.expires_on != computed


def _status(record: LessonRecord, meta: Mapping[str, Any], warn: Callable[[str], None]) -> str:
    word = as_text(meta.get("status")).casefold()
    known = next((status for status in Status if status == word), None)
    if word and known is None:
        warn(f"unknown:status:{word[:40]}")
    return str(known or (Status.SUPERSEDED if record.superseded_by else Status.ACTIVE))


def _word(meta: Mapping[str, Any], name: str, known: Any, default: str, warn: Callable[[str], None]) -> str:
    word = as_text(meta.get(name))
    if not word:
        warn(f"missing:{name}")
        return str(default)
    match = next((str(item) for item in known if str(item).casefold() == word.casefold()), None)
    if match is None:
        warn(f"unknown:{name}:{word[:40]}")
        # A severity orders and filters, so it has to be one; a type or a category is kept as written.
        return str(default) if name == "severity" else word[:40]
    return match


def _tags(value: Any, warn: Callable[[str], None]) -> list[str]:
    unique = {name_key(tag): tag for tag in reversed(as_list(value))}
    tags = [_cut(tag, MAX_TAG, "tag", warn) for tag in reversed(unique.values())]
    if len(tags) > MAX_TAGS:
        warn("cut:tags")
    return tags[:MAX_TAGS]


def _cut(text: str, limit: int, name: str, warn: Callable[[str], None]) -> str:
    text = " ".join(text.split("\n"))
    if len(text) <= limit:
        return text
    warn(f"cut:{name}")
    return f"{text[: limit - 1]}…"

"""What the fields of a lesson may hold, and how they are stored. Pure. docs/rules.md: lesson fields."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError, Fault
from common.text import clean, forbidden_character, is_blank, length, name_key
from evolution.lessons.rules.kinds import (
    MAX_CHECK,
    MAX_FILES,
    MAX_PART,
    MAX_TAG,
    MAX_TAGS,
    MAX_TAKEAWAY,
    MAX_TITLE,
    MAX_TRIGGER,
    Category,
    LessonType,
    Severity,
    Signal,
    lesson_number,
)
from evolution.lessons.rules.paths import MAX_PATH, normalise_path

MAX_CHECKS = 50
MAX_REFERENCES = 50
MAX_REFERENCE = 500
MAX_MODEL = 100
MAX_CONFIG_HASH = 128
#: Longest text of a field, and of one entry of a list.
LIMITS = {
    "title": MAX_TITLE,
    "trigger": MAX_TRIGGER,
    "what": MAX_PART,
    "when": MAX_PART,
    "how": MAX_PART,
    "takeaway": MAX_TAKEAWAY,
    "model": MAX_MODEL,
    "config_hash": MAX_CONFIG_HASH,
    "tags": MAX_TAG,
    "related_files": MAX_PATH,
    "references": MAX_REFERENCE,
    "checklist": MAX_CHECK,
}
#: Texts that stand on one line.
LINES = ("title", "trigger", "model", "config_hash")
PARTS = ("what", "when", "how", "takeaway")
#: Only a boundary signal has these.
SIGNAL_FIELDS = ("signal", "model", "config_hash")

_Faults = list[Fault]
_WORDS: dict[str, Collection[str]] = {
    "type": list(LessonType),
    "severity": list(Severity),
    "category": list(Category),
}


def checked_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The given fields as they are stored; what is not a field is left out.

    Raises VALIDATION_ERROR naming every fault with limit, actual size and how much to remove.
    """
    faults: _Faults = []
    checked = {name: read(name, values[name], faults) for name, read in _READERS.items() if name in values}
    if faults:
        raise ApplicationError("VALIDATION_ERROR", faults[0].detail, errors=tuple(faults))
    return checked


def check_signal(fields: Mapping[str, Any]) -> None:
    """Raises VALIDATION_ERROR when a lesson that is no boundary signal has a field of one."""
    if fields["type"] == LessonType.BOUNDARY_SIGNAL:
        return
    detail = _("Only a lesson of type boundary-signal has this field: leave it empty.")
    faults = tuple(
        Fault(f"/{name}", "VALIDATION_ERROR", detail) for name in SIGNAL_FIELDS if fields.get(name)
    )
    if faults:
        raise ApplicationError("VALIDATION_ERROR", detail, errors=faults)


def shortened(text: str, limit: int) -> str:
    """The text within `limit` code points; `…` stands for what was cut."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def _word(name: str, value: Any, faults: _Faults) -> str:
    known = _WORDS[name]
    if value not in known:
        faults.append(_unknown(f"/{name}", known))
    return str(value)


def _signal(name: str, value: Any, faults: _Faults) -> str:
    if value not in (None, "", *Signal):
        faults.append(_unknown("/signal", list(Signal)))
    return str(value or "")


def _line(name: str, value: Any, faults: _Faults) -> str:
    text = _text(f"/{name}", value, LIMITS[name], faults)
    if name == "title" and not text:
        detail = _("The title is blank; it needs 1 to %(limit)d characters.") % {"limit": MAX_TITLE}
        faults.append(Fault("/title", "VALIDATION_ERROR", detail))
    return " ".join(text.split("\n"))


def _part(name: str, value: Any, faults: _Faults) -> str:
    return _text(f"/{name}", value, LIMITS[name], faults)


def _day(name: str, value: Any, faults: _Faults) -> date | None:
    if not isinstance(value, date) and (value is not None or name == "date"):
        faults.append(Fault(f"/{name}", "VALIDATION_ERROR", _("This must be a date such as 2026-06-12.")))
        return None
    return value


def _tags(name: str, value: Any, faults: _Faults) -> list[str]:
    texts = _texts(name, value, faults)
    unique = {name_key(tag): " ".join(tag.split()) for tag in reversed(texts)}
    return _at_most("/tags", list(reversed(unique.values())), MAX_TAGS, faults)


def _files(name: str, value: Any, faults: _Faults) -> list[str]:
    paths: dict[str, None] = {}
    for index, raw in enumerate(_entries("/related_files", value, faults)):
        path = normalise_path(_text(f"/related_files/{index}", raw, None, faults))
        _check_length(f"/related_files/{index}", path, MAX_PATH, faults)
        paths |= {path: None} if path else {}
    return _at_most("/related_files", list(paths), MAX_FILES, faults)


def _references(name: str, value: Any, faults: _Faults) -> list[str]:
    texts = [" ".join(text.split()) for text in _texts(name, value, faults)]
    return _at_most("/references", list(dict.fromkeys(texts)), MAX_REFERENCES, faults)


def _checklist(name: str, value: Any, faults: _Faults) -> list[dict[str, Any]]:
    items = []
    for index, raw in enumerate(_entries("/checklist", value, faults)):
        item = raw if isinstance(raw, Mapping) else {"text": raw}
        pointer = f"/checklist/{index}/text"
        text = " ".join(_text(pointer, item.get("text"), MAX_CHECK, faults).split("\n"))
        if not text:
            detail = _("The item is blank; it needs 1 to %(limit)d characters.") % {"limit": MAX_CHECK}
            faults.append(Fault(pointer, "VALIDATION_ERROR", detail))
        done = item.get("done") or False
        if not isinstance(done, bool):
            faults.append(
                Fault(f"/checklist/{index}/done", "VALIDATION_ERROR", _("This must be true or false."))
            )
        items.append({"text": text, "done": done is True})
    return _at_most("/checklist", items, MAX_CHECKS, faults)


def _related(name: str, value: Any, faults: _Faults) -> list[int]:
    numbers: dict[int, None] = {}
    for index, raw in enumerate(_entries("/related", value, faults)):
        number = lesson_number(raw) if isinstance(raw, str) else None
        if number:
            numbers[number] = None
        else:
            faults.append(Fault(f"/related/{index}", "VALIDATION_ERROR", _no_code()))
    return _at_most("/related", list(numbers), MAX_REFERENCES, faults)


def _code(name: str, value: Any, faults: _Faults) -> int | None:
    number = lesson_number(value) if isinstance(value, str) else None
    if value is not None and not number:
        faults.append(Fault(f"/{name}", "VALIDATION_ERROR", _no_code()))
    return number


def _same(name: str, value: Any, faults: _Faults) -> Any:
    return value


_READERS: dict[str, Callable[[str, Any, _Faults], Any]] = {
    **dict.fromkeys(_WORDS, _word),
    **dict.fromkeys(LINES, _line),
    **dict.fromkeys(PARTS, _part),
    "signal": _signal,
    "date": _day,
    "expires_on": _day,
    "expires_manual": _same,
    "tags": _tags,
    "related_files": _files,
    "references": _references,
    "checklist": _checklist,
    "related": _related,
    "supersedes": _code,
    "rule_experience": _same,
    "rule_document": _same,
}


def _text(pointer: str, value: Any, limit: int | None, faults: _Faults) -> str:
    """The cleaned text; nothing for null and for what is blank."""
    if value is None:
        return ""
    if not isinstance(value, str):
        faults.append(Fault(pointer, "VALIDATION_ERROR", _("This must be a text.")))
        return ""
    if forbidden_character(value):
        faults.append(
            Fault(pointer, "VALIDATION_ERROR", _("The text contains a character that cannot be stored."))
        )
        return ""
    if is_blank(value):
        return ""
    if limit is not None:
        _check_length(pointer, value, limit, faults)
    return clean(value)


def _check_length(pointer: str, text: str, limit: int, faults: _Faults) -> None:
    actual = length(text)
    if actual > limit:
        detail = _("At most %(limit)d characters; this has %(actual)d: remove %(excess)d.")
        values = {"limit": limit, "actual": actual, "excess": actual - limit}
        faults.append(Fault(pointer, "VALIDATION_ERROR", detail % values))


def _texts(name: str, value: Any, faults: _Faults) -> list[str]:
    """The texts of a list that are not blank, each within its limit."""
    entries = enumerate(_entries(f"/{name}", value, faults))
    texts = [_text(f"/{name}/{index}", entry, LIMITS[name], faults) for index, entry in entries]
    return [text for text in texts if text]


def _entries(pointer: str, value: Any, faults: _Faults) -> Sequence[Any]:
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return value
    faults.append(Fault(pointer, "VALIDATION_ERROR", _("This must be a list.")))
    return []


def _at_most(pointer: str, entries: list[Any], limit: int, faults: _Faults) -> list[Any]:
    if len(entries) > limit:
        detail = _("At most %(limit)d entries; there are %(actual)d: remove %(excess)d.")
        values = {"limit": limit, "actual": len(entries), "excess": len(entries) - limit}
        faults.append(Fault(pointer, "VALIDATION_ERROR", detail % values))
    return entries


def _no_code() -> Any:
    return _("This must be the code of a lesson, such as EXP-001.")


def _unknown(pointer: str, known: Collection[str]) -> Fault:
    detail = _("Unknown value; there are: %(known)s.") % {"known": ", ".join(known)}
    return Fault(pointer, "VALIDATION_ERROR", detail)

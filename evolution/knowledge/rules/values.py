"""What the fields of an item of knowledge may hold, and how they are stored. Pure. docs/rules.md: knowledge fields."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.counters.rules import parse_code
from common.errors import ApplicationError, Fault, below
from common.text import clean, forbidden_character, is_blank, length, name_key, normalise_newlines
from evolution.parameters.rules.specs import CATEGORIES

PREFIX = "k-"
#: The highest number that a file may bring: what comes after it can still be counted and named.
MAX_IMPORTED = 999_999_999
#: Longest text of a field, and of one entry of a list.
LIMITS = {
    "title": 200,
    "summary": 1000,
    "details": 20_000,
    "code_example": 20_000,
    "code_language": 40,
    "tags": 40,
    "references": 500,
}
MAX_TAGS = 20
MAX_REFERENCES = 50
#: Texts that stand on one line.
LINES = ("title", "code_language")
PARTS = ("summary", "details", "code_example")
LISTS = ("tags", "references")
#: What a person reads before activating; another value makes the item a draft again.
TEXT_FIELDS = ("title", "category", *LISTS, *PARTS, "code_language")

_Faults = list[Fault]


def checked_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The given fields as they are stored (`related` as numbers); what is not a field is left out.

    Errors: VALIDATION_ERROR naming every fault with limit, actual size and how much to remove.
    """
    faults: _Faults = []
    checked = {name: read(name, values[name], faults) for name, read in _READERS.items() if name in values}
    if faults:
        raise ApplicationError("VALIDATION_ERROR", faults[0].detail, errors=tuple(faults))
    return checked


def title_key(title: str) -> str:
    """By which the same finding is found again: SHA-256 of the normalised title. docs/rules.md: same knowledge."""
    return hashlib.sha256(name_key(title).encode()).hexdigest()


def knowledge_number(code: str) -> int | None:
    """7 for `k-007`; None for what is no code of knowledge. Longer numbers than a column holds are none."""
    number = parse_code(PREFIX, code)
    return number if number is not None and 0 < number < 10**18 else None


def shortened(text: str, limit: int) -> str:
    """The text within `limit` code points; `…` stands for what was cut."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def _line(name: str, value: Any, faults: _Faults) -> str:
    text = _text(f"/{name}", value, LIMITS[name], faults)
    if name == "title" and not text and not faults:
        detail = _("The title is blank; it needs 1 to %(limit)d characters.") % {"limit": LIMITS[name]}
        faults.append(Fault("/title", "VALIDATION_ERROR", detail))
    return " ".join(text.split())


def _part(name: str, value: Any, faults: _Faults) -> str:
    return _text(f"/{name}", value, LIMITS[name], faults)


def _code(name: str, value: Any, faults: _Faults) -> str:
    """As a part, except that the first line keeps its indentation."""
    if not _text(f"/{name}", value, LIMITS[name], faults):
        return ""
    return normalise_newlines(value).strip("\n").rstrip()


def _category(name: str, value: Any, faults: _Faults) -> str:
    if not isinstance(value, str) or value not in CATEGORIES:
        detail = _("Unknown value; there are: %(known)s.") % {"known": ", ".join(CATEGORIES)}
        faults.append(Fault(f"/{name}", "VALIDATION_ERROR", detail))
    return str(value)


def _tags(name: str, value: Any, faults: _Faults) -> list[str]:
    unique = {name_key(tag): tag for tag in reversed(_texts(name, value, faults))}
    return _at_most(name, list(reversed(unique.values())), MAX_TAGS, faults)


def _references(name: str, value: Any, faults: _Faults) -> list[str]:
    return _at_most(name, list(dict.fromkeys(_texts(name, value, faults))), MAX_REFERENCES, faults)


def _related(name: str, value: Any, faults: _Faults) -> list[int]:
    numbers: dict[int, None] = {}
    for index, raw in enumerate(_entries(name, value, faults)):
        number = knowledge_number(raw) if isinstance(raw, str) else None
        if number:
            numbers[number] = None
        else:
            detail = _("This must be the code of an item, such as k-001.")
            faults.append(Fault(below(f"/{name}", index), "VALIDATION_ERROR", detail))
    return _at_most(name, list(numbers), MAX_REFERENCES, faults)


def _switch(name: str, value: Any, faults: _Faults) -> bool:
    if not isinstance(value, bool):
        faults.append(Fault(f"/{name}", "VALIDATION_ERROR", _("This must be true or false.")))
    return value is True


def _place(name: str, value: Any, faults: _Faults) -> int:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if not is_number or value < 0:
        faults.append(Fault(f"/{name}", "VALIDATION_ERROR", _("This must be a whole number, 0 or more.")))
    return value if is_number else 0


def _confidence(name: str, value: Any, faults: _Faults) -> Decimal:
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    number = Decimal(str(value)) if is_number else Decimal("NaN")
    if not (number.is_finite() and 0 <= number <= 1 and number == round(number, 3)):
        detail = _("This must be a number from 0 to 1 with at most three places.")
        faults.append(Fault(f"/{name}", "VALIDATION_ERROR", detail))
        return Decimal(0)
    return number


_READERS: dict[str, Callable[[str, Any, _Faults], Any]] = {
    **dict.fromkeys(LINES, _line),
    **dict.fromkeys(PARTS, _part),
    "code_example": _code,
    "category": _category,
    "tags": _tags,
    "references": _references,
    "related": _related,
    "enabled": _switch,
    "order": _place,
    "confidence": _confidence,
}


def _text(pointer: str, value: Any, limit: int, faults: _Faults) -> str:
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
    actual = length(value)
    if actual > limit:
        told = {"limit": limit, "actual": actual, "excess": actual - limit}
        detail = _("At most %(limit)d characters; this has %(actual)d: remove %(excess)d.") % told
        faults.append(Fault(pointer, "VALIDATION_ERROR", detail))
    return clean(value)


def _texts(name: str, value: Any, faults: _Faults) -> list[str]:
    """The texts of a list that are not blank, each on one line and within its limit."""
    entries = enumerate(_entries(name, value, faults))
    texts = [_text(below(f"/{name}", index), entry, LIMITS[name], faults) for index, entry in entries]
    return [" ".join(text.split()) for text in texts if text]


def _entries(name: str, value: Any, faults: _Faults) -> Sequence[Any]:
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return value
    faults.append(Fault(f"/{name}", "VALIDATION_ERROR", _("This must be a list.")))
    return []


def _at_most(name: str, entries: list[Any], limit: int, faults: _Faults) -> list[Any]:
    if len(entries) > limit:
        told = {"limit": limit, "actual": len(entries), "excess": len(entries) - limit}
        detail = _("At most %(limit)d entries; there are %(actual)d: remove %(excess)d.") % told
        faults.append(Fault(f"/{name}", "VALIDATION_ERROR", detail))
    return entries

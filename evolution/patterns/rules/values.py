"""What the fields of a pattern may hold, and how they are stored. Pure. docs/rules.md: pattern fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError, Fault
from common.text import clean, forbidden_character, is_blank, length, name_key
from evolution.patterns.rules.expressions import expression_fault

CATEGORIES = ("workflow-def", "data-layer", "ui-layer", "business-logic", "common")
MAX_NAME = 100
MAX_DESCRIPTION = 2000
MAX_KEYWORDS, MAX_KEYWORD = 20, 60
MAX_REGEX = 200
MAX_TEMPLATE = 20_000
MAX_LANGUAGE = 40
MAX_IMPORTED = 1_000_000
#: The highest number that a file may bring: what comes after it can still be counted and named.
MAX_NUMBER = 999_999_999
LIMITS = {
    "name": MAX_NAME,
    "description": MAX_DESCRIPTION,
    "regex": MAX_REGEX,
    "template": MAX_TEMPLATE,
    "template_language": MAX_LANGUAGE,
}
_LINES = ("name", "template_language")
_PLACES = Decimal("0.001")
_Faults = list[Fault]


def checked_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The given fields as they are stored; what is not a field is left out.

    Raises VALIDATION_ERROR naming every fault with limit, actual size and how much to remove.
    """
    faults: _Faults = []
    checked = {name: read(name, values[name], faults) for name, read in _READERS.items() if name in values}
    if faults:
        raise ApplicationError("VALIDATION_ERROR", faults[0].detail, errors=tuple(faults))
    return checked


def _text(name: str, value: Any, faults: _Faults, limit: int, pointer: str = "") -> str:
    pointer = pointer or f"/{name}"
    if value is None:
        return ""
    if not isinstance(value, str):
        return _fault(faults, pointer, _("This must be a text."))
    if forbidden_character(value):
        return _fault(faults, pointer, _("The text contains a character that cannot be stored."))
    if is_blank(value):
        return ""
    text = value if name == "template" else clean(value)
    actual = length(text)
    if actual > limit:
        told = {"limit": limit, "actual": actual, "excess": actual - limit}
        detail = _("At most %(limit)d characters; this has %(actual)d: remove %(excess)d.")
        return _fault(faults, pointer, detail % told)
    return " ".join(text.split()) if name in _LINES else text


def _plain(name: str, value: Any, faults: _Faults) -> str:
    return _text(name, value, faults, LIMITS[name])


def _name(name: str, value: Any, faults: _Faults) -> str:
    before = len(faults)
    text = _plain(name, value, faults)
    if not text and len(faults) == before:
        detail = _("The name is blank; it needs 1 to %(limit)d characters.") % {"limit": MAX_NAME}
        _fault(faults, "/name", detail)
    return text


def _template(name: str, value: Any, faults: _Faults) -> str:
    text = _plain(name, value, faults)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _regex(name: str, value: Any, faults: _Faults) -> str:
    text = _plain(name, value, faults)
    if text and (reason := expression_fault(text)):
        told = {"reason": reason}
        _fault(faults, "/regex", _("This expression cannot be used: %(reason)s") % told)
    return text


def _keywords(name: str, value: Any, faults: _Faults) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        _fault(faults, "/keywords", _("This must be a list."))
        return []
    texts = [
        _text("keywords", entry, faults, MAX_KEYWORD, f"/keywords/{index}")
        for index, entry in enumerate(value)
    ]
    unique = list({name_key(text): " ".join(text.split()) for text in reversed(texts) if text}.values())
    if len(unique) > MAX_KEYWORDS:
        told = {"limit": MAX_KEYWORDS, "actual": len(unique), "excess": len(unique) - MAX_KEYWORDS}
        detail = _("At most %(limit)d entries; there are %(actual)d: remove %(excess)d.")
        _fault(faults, "/keywords", detail % told)
    return unique[::-1]


def _category(name: str, value: Any, faults: _Faults) -> str:
    if value not in CATEGORIES:
        known = ", ".join(CATEGORIES)
        _fault(faults, "/category", _("Unknown value; there are: %(known)s.") % {"known": known})
    return str(value)


def _confidence(name: str, value: Any, faults: _Faults) -> Decimal:
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    number = Decimal(str(value)) if is_number else Decimal("NaN")
    if not number.is_finite() or not 0 <= number <= 1 or number != number.quantize(_PLACES):
        detail = _("This must be a number from 0 to 1 with at most three places.")
        _fault(faults, "/confidence", detail)
        return Decimal(0)
    return number


def _imported(name: str, value: Any, faults: _Faults) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_IMPORTED:
        told = {"least": 0, "most": MAX_IMPORTED}
        detail = _("This must be a whole number from %(least)d to %(most)d.") % told
        _fault(faults, "/imported_occurrences", detail)
        return 0
    return value


_READERS: dict[str, Callable[[str, Any, _Faults], Any]] = {
    "name": _name,
    "category": _category,
    "description": _plain,
    "keywords": _keywords,
    "regex": _regex,
    "template": _template,
    "template_language": _plain,
    "confidence": _confidence,
    "imported_occurrences": _imported,
}
FIELDS = tuple(_READERS)


def _fault(faults: _Faults, pointer: str, detail: Any) -> str:
    faults.append(Fault(pointer, "VALIDATION_ERROR", detail))
    return ""

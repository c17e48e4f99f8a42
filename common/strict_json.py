"""JSON in: strictly, with a pointer to the fault. JSON out: one canonical form for hashes. Pure."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import reduce
from itertools import accumulate
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError, below, invalid
from common.text import forbidden_character, show_hidden

MAX_DEPTH = 32
MIN_INTEGER, MAX_INTEGER = -(2**63), 2**63 - 1

# Possessive, and the closing quote is optional: an unterminated string must not be scanned again and again.
_STRING_RE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_BRACKET_RE = re.compile(r"[\[\]{}]")
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}
_SHOWN_CHARACTERS = 60


@dataclass(frozen=True)
class _Bad:
    """What a hook of the parser puts in place of a value it refuses; the walk knows where that is."""

    detail: Any
    key: str | None = None


def loads(body: bytes, max_depth: int = MAX_DEPTH) -> Any:
    """The value of a JSON document in UTF-8 (a byte-order mark is skipped).

    Raises VALIDATION_ERROR with the JSON pointer of the first fault: not UTF-8, not JSON, deeper than
    `max_depth` levels of arrays and objects, a key twice in one object, NUL or a lone surrogate in a value or
    a key, NaN, Infinity, a number beyond the range of a double, a whole number beyond 64 bits.
    docs/rules.md: strict JSON.
    """
    text = _decoded(body)
    _check_depth(text, max_depth)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        detail = _("The body is not valid JSON at line %(line)d, column %(column)d: correct it there.")
        raise invalid("", detail % {"line": error.lineno, "column": error.colno}) from None
    fault = next(_faults(value, ()), None)
    if fault is not None:
        raise fault
    return value


def _decoded(body: bytes) -> str:
    try:
        text = bytes(body).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        detail = _("The body is not UTF-8: byte %(position)d is 0x%(byte)s. Encode it as UTF-8.")
        values = {"position": error.start, "byte": f"{error.object[error.start]:02x}"}
        raise invalid("", detail % values) from None
    if not text.strip():
        raise invalid("", _("The body is empty: send a JSON document."))
    return text


def _check_depth(text: str, limit: int) -> None:
    # Before parsing, because the parser recurses; up to its first error it sees the same brackets.
    brackets = _BRACKET_RE.findall(_STRING_RE.sub("", text))
    actual = max(accumulate(_STEP[bracket] for bracket in brackets), default=0)
    if actual > limit:
        detail = _(
            "The JSON is nested %(actual)d levels deep; the limit is %(limit)d: remove %(excess)d levels."
        )
        values = {"actual": actual, "limit": limit, "excess": actual - limit}
        raise invalid("", detail % values, limit=limit, actual=actual)


def _integer(digits: str) -> int | _Bad:
    # The length first: converting a long digit string takes quadratic time.
    if len(digits) <= 20 and MIN_INTEGER <= (value := int(digits)) <= MAX_INTEGER:
        return value
    detail = _(
        "The whole number %(actual)s is outside the 64-bit range %(minimum)d to %(maximum)d: "
        "send a smaller one, or send it as text."
    )
    values = {"actual": _shortened(digits), "minimum": MIN_INTEGER, "maximum": MAX_INTEGER}
    return _Bad(detail % values)


def _float(digits: str) -> float | _Bad:
    value = float(digits)
    if math.isfinite(value):
        return value
    detail = _("The number %(actual)s is beyond the limit of 1.7976931348623157e308: send a smaller one.")
    return _Bad(detail % {"actual": _shortened(digits)})


def _constant(name: str) -> _Bad:
    return _Bad(_("%(actual)s is not a number of JSON: send a finite number or null.") % {"actual": name})


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Bad:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    times = Counter(key for key, _value in pairs)
    twice = next(key for key in times if times[key] > 1)
    detail = _("The key %(key)s occurs %(actual)d times in one object; the limit is 1: keep one of them.")
    return _Bad(detail % {"key": _shortened(twice), "actual": times[twice]}, key=twice)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
)


def _faults(value: Any, path: tuple[str | int, ...]) -> Iterator[ApplicationError]:
    # The path becomes a pointer only for a fault: a long key above many values would be copied for each.
    if isinstance(value, _Bad):
        named = value.key is not None and not forbidden_character(value.key)
        yield invalid(_pointer((*path, value.key or "") if named else path), value.detail)
    elif isinstance(value, str):
        yield from _character_fault(value, path, _("The text contains %(actual)s: remove this character."))
    elif isinstance(value, dict):
        for key, item in value.items():
            # The pointer stops at the object: the key itself cannot be written into an answer.
            yield from _character_fault(key, path, _("A key contains %(actual)s: remove this character."))
            yield from _faults(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _faults(item, (*path, index))


def _character_fault(text: str, path: tuple[str | int, ...], detail: Any) -> Iterator[ApplicationError]:
    found = forbidden_character(text)
    if found:
        yield invalid(_pointer(path), detail % {"actual": found})


def _pointer(path: tuple[str | int, ...]) -> str:
    return reduce(below, path, "")


def _shortened(text: str) -> str:
    return show_hidden(text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…")


def canonical(value: Any) -> bytes:
    """The one JSON text of a value: keys sorted by code point, raw UTF-8, no spaces.

    Decimals become text without exponent and trailing zeros, times UTC with microseconds, dates and UUIDs
    text. Raises TypeError for floats (two databases may give them back differently), naive times, keys that
    are not text, and any other type. docs/rules.md: canonical JSON.
    """
    plain = _plain(value)
    return json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _as_text(value)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key of canonical JSON is text, not {type(key).__name__}")
    return key


def _as_text(value: Any) -> str:
    if isinstance(value, Decimal) and value.is_finite():
        digits = f"{value:f}"
        digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
        return "0" if digits == "-0" else digits
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no canonical JSON")

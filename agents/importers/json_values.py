"""JSON from files: strict values, and the lines where the elements of an array stand."""

from __future__ import annotations

import json
import re
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError
from common.file_reading import unreadable

MAX_DEPTH = 32

_SPACE = re.compile(r"[ \t\r\n]*")


def _refuse_constant(name: str) -> Any:
    raise ValueError(_("%s is not a number of JSON") % name)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def load_json(text: str) -> Any:
    """The value of a JSON text.

    Errors: `VALIDATION_ERROR` naming the line, for a syntax error, NaN and infinity, and more than
    `MAX_DEPTH` levels.
    """
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _not_json(error.lineno, error.msg) from None
    except ValueError as error:
        raise _not_json(1, str(error)) from None
    except RecursionError:
        raise _too_deep() from None
    level = _containers([value])
    for _depth in range(MAX_DEPTH):
        if not level:
            return value
        level = [inner for outer in level for inner in _containers(outer)]
    if level:
        raise _too_deep()
    return value


def element_lines(text: str, key: str | None = None) -> list[int]:
    """The 1-based lines where the elements start: of the top-level array, or of the array under `key`.

    `text` is valid JSON; the answer is empty when there is no such array.
    """
    position = _skip(text, 0)
    if key is not None:
        position = _value_of_key(text, position, key)
    if not text.startswith("[", position):
        return []
    lines: list[int] = []
    line, counted = 1, 0
    position = _skip(text, position + 1)
    while not text.startswith("]", position):
        line, counted = line + text.count("\n", counted, position), position
        lines.append(line)
        position = _skip(text, _DECODER.raw_decode(text, position)[1])
        if text.startswith(",", position):
            position = _skip(text, position + 1)
    return lines


def _value_of_key(text: str, position: int, key: str) -> int:
    """Where the value of a key of the top-level object starts; the end of the text without it."""
    if not text.startswith("{", position):
        return len(text)
    position = _skip(text, position + 1)
    found = len(text)
    while not text.startswith("}", position):
        name, position = _DECODER.raw_decode(text, position)
        position = _skip(text, _skip(text, position) + 1)
        if name == key:
            found = position  # of a repeated key the last one counts, as in the value
        position = _skip(text, _DECODER.raw_decode(text, position)[1])
        if text.startswith(",", position):
            position = _skip(text, position + 1)
    return found


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _containers(outer: Any) -> list[Any]:
    """The arrays and objects directly inside one."""
    inside = outer.values() if isinstance(outer, dict) else outer
    return [value for value in inside if isinstance(value, dict | list)]


def _not_json(line: int, problem: Any) -> ApplicationError:
    return unreadable(line, _("not readable as JSON: %s") % problem)


def _too_deep() -> ApplicationError:
    return _not_json(1, _("nested deeper than %d levels") % MAX_DEPTH)

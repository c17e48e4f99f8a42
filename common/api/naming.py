"""snake_case inside, camelCase accepted and, in the result+json profile, answered. Pure."""

from __future__ import annotations

import json
import re
from functools import reduce
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.errors import below, invalid

_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")
_UNDERSCORE = re.compile(r"(?<=[a-z0-9])_([a-z])")

_GIVEN_TWICE = _("“%(name)s” is given twice, in both spellings, with different values.")
_SHOWN = 60

#: Fields whose value is the caller's own mapping: its keys are data, not field names.
FREE_MAPPINGS = frozenset({"environment", "metadata", "extras", "params", "snapshot", "detail"})


def to_snake(name: str) -> str:
    """`sortOrder` -> `sort_order`; anything else stays."""
    return _HUMP.sub(lambda match: "_" + match[1].lower(), name)


def to_camel(name: str) -> str:
    """`sort_order` -> `sortOrder`."""
    return _UNDERSCORE.sub(lambda match: match[1].upper(), name)


def snake_keys(value: Any, path: tuple[str | int, ...] = ()) -> Any:
    """The same JSON value with snake_case field names; `path` is where it stands in the body.

    Raises VALIDATION_ERROR when both spellings of one field are given with different values.
    """
    if isinstance(value, list):
        return [snake_keys(item, (*path, index)) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    renamed: dict[str, Any] = {}
    for key, item in value.items():
        name = to_snake(key)
        inner = item if name in FREE_MAPPINGS else snake_keys(item, (*path, name))
        # As JSON, because to Python `true` and 1 are equal.
        if name in renamed and json.dumps(renamed[name]) != json.dumps(inner):
            raise invalid(reduce(below, (*path, name), ""), _GIVEN_TWICE % {"name": name[:_SHOWN]})
        renamed[name] = inner
    return renamed


def camel_keys(value: Any) -> Any:
    """The same JSON value with camelCase field names."""
    if isinstance(value, (list, tuple)):
        return [camel_keys(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {to_camel(key): item if key in FREE_MAPPINGS else camel_keys(item) for key, item in value.items()}

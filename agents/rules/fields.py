"""What the fields of an agent may hold. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError, Fault, invalid
from common.text import clean, forbidden_character, is_blank, length, name_key

MAX_NAME = 100
MAX_DESCRIPTION = 1000
MAX_ROLE = 100_000
MAX_TAGS = 20
MAX_TAG = 30
MAX_SKILLS = 200
MAX_SKILL = 100
MAX_MESSAGE = 500

TEXT_LIMITS = {"name": MAX_NAME, "description": MAX_DESCRIPTION, "system_prompt": MAX_ROLE}
SWITCHES = ("enabled", "is_default", "inject_session_recaps", "introspection_enabled")
LANGUAGES = ("zh", "en")


def checked_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The given fields as they are stored; None stands for "leave as it is" and is dropped.

    Raises VALIDATION_ERROR naming every faulty field with limit, actual size and remedy.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    faults = [fault for name, value in given.items() for fault in _faults(name, value)]
    if faults:
        raise ApplicationError("VALIDATION_ERROR", faults[0].detail, errors=faults)
    return {name: _stored(name, value) for name, value in given.items()}


def too_long(pointer: str, limit: int, actual: int) -> Fault:
    """The fault of a text above its limit: limit, actual size, how much to remove."""
    detail = _("At most %(limit)d characters; this has %(actual)d: remove %(excess)d.") % {
        "limit": limit,
        "actual": actual,
        "excess": actual - limit,
    }
    return Fault(pointer, "VALIDATION_ERROR", detail)


def too_many(pointer: str, limit: int, actual: int) -> ApplicationError:
    """The error of a list above its limit: limit, actual size, how much to remove."""
    detail = _("At most %(limit)d entries at once; this has %(actual)d: remove %(excess)d.") % {
        "limit": limit,
        "actual": actual,
        "excess": actual - limit,
    }
    return invalid(pointer, detail, limit=limit, actual=actual)


def checked_remark(pointer: str, text: Any, limit: int) -> str:
    """An optional remark (a message, a note): empty for None, else trimmed and within its limit."""
    if text is None:
        return ""
    if not isinstance(text, str) or forbidden_character(text):
        raise invalid(pointer, _("This must be a text without NUL characters."))
    if length(text) > limit:
        fault = too_long(pointer, limit, length(text))
        raise ApplicationError("VALIDATION_ERROR", fault.detail, errors=[fault])
    return clean(text)


def _faults(name: str, value: Any) -> Iterator[Fault]:
    pointer = f"/{name}"
    if name in TEXT_LIMITS:
        yield from _text_faults(name, value, pointer)
    elif name in SWITCHES:
        if not isinstance(value, bool):
            yield Fault(pointer, "VALIDATION_ERROR", _("This must be true or false."))
    elif name == "language":
        if value not in LANGUAGES:
            yield Fault(pointer, "VALIDATION_ERROR", _("The language is “zh” or “en”."))
    elif name == "tags":
        yield from _list_faults(value, pointer, MAX_TAGS, MAX_TAG)
    elif name == "skill_names":
        yield from _list_faults(value, pointer, MAX_SKILLS, MAX_SKILL)


def _text_faults(name: str, value: Any, pointer: str) -> Iterator[Fault]:
    if not isinstance(value, str) or forbidden_character(value):
        yield Fault(pointer, "VALIDATION_ERROR", _("This must be a text without NUL characters."))
    elif name == "system_prompt" and is_blank(value):
        yield Fault(pointer, "VALIDATION_ERROR", _("The role definition must not be blank."))
    elif name == "name" and is_blank(value):
        yield Fault(pointer, "VALIDATION_ERROR", _("The name must not be blank."))
    elif length(_stored(name, value)) > TEXT_LIMITS[name]:
        yield too_long(pointer, TEXT_LIMITS[name], length(_stored(name, value)))


def _list_faults(value: Any, pointer: str, most: int, longest: int) -> Iterator[Fault]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        yield Fault(pointer, "VALIDATION_ERROR", _("This must be a list of texts."))
        return
    if len(value) > most:
        yield from too_many(pointer, most, len(value)).errors
        return
    for index, item in enumerate(value):
        if forbidden_character(item):
            detail = _("This must be a text without NUL characters.")
            yield Fault(f"{pointer}/{index}", "VALIDATION_ERROR", detail)
        elif is_blank(item):
            yield Fault(f"{pointer}/{index}", "VALIDATION_ERROR", _("An entry must not be blank."))
        elif length(clean(item)) > longest:
            yield too_long(f"{pointer}/{index}", longest, length(clean(item)))


def _stored(name: str, value: Any) -> Any:
    if name in TEXT_LIMITS:
        return clean(value)
    if name in ("tags", "skill_names"):
        unique = {name_key(item): clean(item) for item in reversed(value)}
        return list(reversed(unique.values()))
    return value


def copy_name(name: str, taken_keys: set[str]) -> str:
    """`<name> - 副本`, then `<name> - 副本 2`, ...; the base is shortened only if the whole would exceed 100."""
    number = 1
    while True:
        suffix = " - 副本" if number == 1 else f" - 副本 {number}"
        candidate = name[: MAX_NAME - len(suffix)].rstrip() + suffix
        if name_key(candidate) not in taken_keys:
            return candidate
        number += 1

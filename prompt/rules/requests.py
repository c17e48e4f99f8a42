"""What a prompt request may hold, and its limits. docs/rules.md: prompt request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError, Fault
from common.text import clean, is_blank, length
from prompt.rules.values import Precision, PromptRequest

TEXT_LIMITS = {
    "task": 4000,
    "phase": 50,
    "main_task_summary": 2000,
    "system_prompt_override": 20_000,
    "tools_guidance": 10_000,
    "task_management": 10_000,
    "delegation": 10_000,
}
MAX_KEYWORDS = 10
MAX_ENVIRONMENT = 30
_LISTS = ("keywords", "files", "tags")
_USER_ID = re.compile(r"[A-Za-z0-9._@-]{1,64}")
CODE = "VALIDATION_ERROR"


def checked_request(fields: Mapping[str, Any]) -> PromptRequest:
    """The request with these fields; absent and null ones take their default, unknown ones are ignored.

    Raises VALIDATION_ERROR naming every faulty field with its pointer, a limit with limit, actual size and
    remedy.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    faults = [*_user_faults(given), *_text_faults(given), *_list_faults(given), *_environment_faults(given)]
    if faults:
        first, size = faults[0]
        raise ApplicationError(CODE, first.detail, errors=[fault for fault, _size in faults], extra=size)
    values: dict[str, Any] = {name: clean(given[name]) for name in TEXT_LIMITS if name in given}
    values |= {name: tuple(clean(item) for item in given[name]) for name in _LISTS if name in given}
    if "environment" in given:
        values["environment"] = tuple(
            (clean(key), clean(value)) for key, value in given["environment"].items()
        )
    if "time_precision" in given:
        values["time_precision"] = Precision(given["time_precision"])
    return PromptRequest(user_id=given.get("user_id"), **values)


_Found = tuple[Fault, dict[str, int]]


def _fault(pointer: str, detail: Any) -> _Found:
    return Fault(pointer, CODE, detail), {}


def _too_long(pointer: str, limit: int, actual: int, detail: Any) -> _Found:
    size = {"limit": limit, "actual": actual}
    return Fault(pointer, CODE, detail % {**size, "excess": actual - limit}), size


def _user_faults(given: Mapping[str, Any]) -> Iterator[_Found]:
    user_id = given.get("user_id")
    if user_id is not None and not (isinstance(user_id, str) and _USER_ID.fullmatch(user_id)):
        yield _fault("/user_id", _("A user id has 1 to 64 letters, digits and the signs . _ @ -"))
    if given.get("time_precision", Precision.DAY) not in tuple(Precision):
        yield _fault("/time_precision", _("The precision is “day” or “minute”."))


def _text_faults(given: Mapping[str, Any]) -> Iterator[_Found]:
    for name, limit in TEXT_LIMITS.items():
        value = given.get(name, "")
        if not isinstance(value, str):
            yield _fault(f"/{name}", _("This must be a text."))
        elif (actual := length(value)) > limit:
            detail = _("At most %(limit)d characters; this has %(actual)d: remove %(excess)d.")
            yield _too_long(f"/{name}", limit, actual, detail)


def _list_faults(given: Mapping[str, Any]) -> Iterator[_Found]:
    for name in _LISTS:
        value = given.get(name, [])
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            yield _fault(f"/{name}", _("This must be a list of texts."))
        elif name == "keywords" and len(value) > MAX_KEYWORDS:
            detail = _("At most %(limit)d entries; this has %(actual)d: remove %(excess)d.")
            yield _too_long(f"/{name}", MAX_KEYWORDS, len(value), detail)


def _environment_faults(given: Mapping[str, Any]) -> Iterator[_Found]:
    pairs = given.get("environment", {})
    if not isinstance(pairs, Mapping) or not all(
        isinstance(key, str) and isinstance(value, str) for key, value in pairs.items()
    ):
        yield _fault("/environment", _("This must be an object whose values are texts."))
        return
    if any(is_blank(key) for key in pairs):
        yield _fault("/environment", _("A key must not be blank."))
    if len(pairs) > MAX_ENVIRONMENT:
        detail = _("At most %(limit)d entries; this has %(actual)d: remove %(excess)d.")
        yield _too_long("/environment", MAX_ENVIRONMENT, len(pairs), detail)

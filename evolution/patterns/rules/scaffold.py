"""Text made from a template in one pass: what a value says is never expanded again. Pure. docs/rules.md: scaffold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from common.errors import invalid

_PLACE_RE = re.compile(
    r"\{\{[ \t]{0,8}(?P<braces>[^\W\d][\w-]{0,59})[ \t]{0,8}\}\}|\$\{(?P<dollar>[^\W\d][\w-]{0,59})\}"
)
MAX_PARAMETERS, MAX_VALUE = 100, 10_000
MAX_RESULT = 500_000


@dataclass(frozen=True)
class Scaffold:
    """The text, and the names that no value was given for; those stand in the text as they were."""

    text: str
    missing: list[str]


def names_of(template: str) -> list[str]:
    """The names that the template asks for, unique, in order of first appearance."""
    return list(dict.fromkeys(_name(match) for match in _PLACE_RE.finditer(template)))


def scaffold(template: str, values: Mapping[str, str]) -> Scaffold:
    """Replace `{{name}}` and `${name}`. Errors: VALIDATION_ERROR when the result would be too long."""
    size = len(template) + sum(len(values.get(_name(match), "")) for match in _PLACE_RE.finditer(template))
    if size > MAX_RESULT:
        told = {"limit": MAX_RESULT, "actual": size, "excess": size - MAX_RESULT}
        detail = _("At most %(limit)d characters; this has %(actual)d: remove %(excess)d.") % told
        raise invalid("/params", detail)
    text = _PLACE_RE.sub(lambda match: values.get(_name(match), match[0]), template)
    return Scaffold(text, [name for name in names_of(template) if name not in values])


def _name(match: re.Match[str]) -> str:
    return match["braces"] or match["dollar"]

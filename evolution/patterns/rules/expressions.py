"""Expressions that people write, matched in time proportional to the text. Pure. docs/rules.md: pattern expressions."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

#: Bytes that the automaton of one expression may take; a repetition that unrolls to more is refused.
_MEMORY = 1 << 20
#: Characters of one file that are searched.
SEARCHED = 200_000


def expression_fault(expression: str) -> str:
    """Why the expression cannot be used, in the words of RE2; empty when it can."""
    try:
        compiled = _compiled(expression)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    return "it matches nothing at all" if compiled.search("") else ""


def is_found(expression: str, text: str) -> bool:
    """Whether a checked expression occurs in the first SEARCHED characters of the text."""
    try:
        return _compiled(expression).search(text[:SEARCHED]) is not None
    except re2.error:
        # Stored before a newer RE2 refused it.
        return False


@lru_cache(maxsize=512)
def _compiled(expression: str) -> Any:
    options = re2.Options()
    options.max_mem, options.log_errors = _MEMORY, False
    return re2.compile(expression, options)

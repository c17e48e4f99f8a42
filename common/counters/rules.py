"""How a human id is written and read: prefix + decimal number padded to at least three digits."""

from __future__ import annotations

import re

# No more digits than a column holds: Python refuses to read some thousands of them.
_PATTERN = re.compile(r"(?P<prefix>[A-Za-z]+-)(?P<number>[0-9]{3,18})")


def format_code(prefix: str, number: int) -> str:
    """`EXP-` and 7 -> `EXP-007`; numbers above 999 simply grow."""
    return f"{prefix}{number:03d}"


def parse_code(prefix: str, code: str) -> int | None:
    """The decimal number of `code` (never octal), or None when it is not a code of `prefix`."""
    match = _PATTERN.fullmatch(code.strip())
    if match is None or match["prefix"].casefold() != prefix.casefold():
        return None
    return int(match["number"], 10)

"""The vocabulary of lessons. Pure."""

from __future__ import annotations

import re
from enum import StrEnum


class LessonType(StrEnum):
    BUG_FIX = "bug-fix"
    DESIGN_CORRECTION = "design-correction"
    REFACTOR = "refactor"
    BOUNDARY_SIGNAL = "boundary-signal"


class Severity(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Category(StrEnum):
    RULE = "RULE-EXP"
    PRACTICE = "PRACT-EXP"
    INCIDENT = "INCIDENT-EXP"
    CALIBRATION = "CALIB-EXP"


class Signal(StrEnum):
    SUCCESS = "unexpected-success"
    FAILURE = "unexpected-failure"
    BREAKDOWN = "boundary-breakdown"


class Status(StrEnum):
    DRAFT = "draft"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    REJECTED = "rejected"


class Source(StrEnum):
    MANUAL = "manual"
    COMMIT = "commit"
    CHURN = "churn"
    RULE_FILE = "rule_file"
    LABEL = "label"
    API = "api"
    IMPORT = "import"


#: Higher is worse; an unknown word of an import counts as medium.
SEVERITY_RANK = {Severity.LOW: 0, Severity.MEDIUM: 1, Severity.HIGH: 2}

MAX_TITLE = 200
MAX_TRIGGER = 200
MAX_TAGS = 20
MAX_TAG = 40
MAX_FILES = 200
MAX_PART = 10_000
MAX_TAKEAWAY = 2000
MAX_CHECK = 300

#: The highest number that an import may bring: the company's counter goes on from there.
MAX_IMPORTED = 999_999_999

# As many digits as the column holds, so that what the counter gives after such an import can be named.
_CODE_RE = re.compile(r"EXP-([0-9]{3,18})")


def severity_rank(severity: str) -> int:
    """0 to 2; a word that is not listed counts as medium."""
    return next((rank for known, rank in SEVERITY_RANK.items() if known == severity), 1)


def is_severe_enough(severity: str, minimum: str) -> bool:
    """Whether a capture reaches the least severity that is wanted. docs/rules.md: least severity."""
    return severity_rank(severity) >= severity_rank(minimum)


def lesson_code(number: int) -> str:
    """`EXP-007` for 7."""
    return f"EXP-{number:03d}"


def lesson_number(code: str) -> int | None:
    """The number of a code (decimal, never octal), or None when it is not one."""
    found = _CODE_RE.fullmatch(code.strip())
    return int(found[1]) if found else None


def lesson_codes(text: str) -> list[str]:
    """The codes named in a text, canonical, unique, in order of first appearance."""
    return list(dict.fromkeys(lesson_code(int(digits)) for digits in _CODE_RE.findall(text)))

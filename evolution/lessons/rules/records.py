"""A lesson as files hold it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date as Day  # a field below is called date
from typing import Any

from evolution.lessons.rules.kinds import Category, LessonType, Severity, Status, lesson_code


@dataclass(frozen=True)
class Check:
    """One item of 防复发检查."""

    text: str
    done: bool = False


@dataclass
class LessonRecord:
    """The content of one lesson, without company, agent and counters.

    `number` is None for a text that is not a lesson file. `expires_manual`: the day (or None) was set by hand.
    `warnings` say what was missing or odd; `extras` holds front matter that is not a field.
    """

    number: int | None = None
    title: str = ""
    type: str = LessonType.BUG_FIX
    severity: str = Severity.MEDIUM
    category: str = Category.PRACTICE
    status: str = Status.ACTIVE
    date: Day | None = None
    trigger: str = ""
    tags: list[str] = field(default_factory=list)
    related_files: list[str] = field(default_factory=list)
    what: str = ""
    when: str = ""
    how: str = ""
    takeaway: str = ""
    checklist: list[Check] = field(default_factory=list)
    related: list[int] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    supersedes: int | None = None
    superseded_by: int | None = None
    expires_on: Day | None = None
    expires_manual: bool = False
    signal: str = ""
    model: str = ""
    config_hash: str = ""
    extras: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def code(self) -> str:
        """`EXP-007`, or an empty text without a number."""
        return lesson_code(self.number) if self.number else ""

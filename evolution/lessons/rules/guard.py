"""What the lessons say of a change before it is merged. Pure. It advises, it blocks nothing.

docs/rules.md: change check.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evolution.lessons.rules.kinds import Severity, lesson_code, severity_rank
from evolution.lessons.rules.paths import normalise_paths, touched
from evolution.lessons.rules.subjects import judge_subject

HEADING = "## 经验合规检查"
RECALLED = "已调用 /experience-recall 检索相关教训"
NOTHING_OPEN = '已确认不违反相关经验的"防复发检查"'
CAPTURED = "如本次修改属于 fix/revert，已生成 EXP-*.md"


@dataclass(frozen=True)
class Guarded:
    """An active lesson as far as the check needs it; `checks` are the texts of its checklist."""

    number: int
    title: str
    severity: str
    related_files: Sequence[str]
    checks: Sequence[str] = ()


@dataclass(frozen=True)
class OpenItem:
    """An item of a checklist that nobody has answered for this change; `item` counts from 0."""

    item: int
    text: str


@dataclass(frozen=True)
class Touched:
    """A lesson whose files the change meets."""

    number: int
    title: str
    severity: str
    matched_files: list[str]
    open_items: list[OpenItem]


@dataclass(frozen=True)
class Change:
    """A change that is about to be merged.

    `answers` is (number of the lesson, item) -> done; `was_recalled`: a recall with the change's reference was
    logged; `has_lesson`: some lesson was captured from this change.
    """

    modified_files: Sequence[str]
    subject: str = ""
    cited: Collection[int] = ()
    answers: Mapping[tuple[int, int], bool] = field(default_factory=dict)
    was_recalled: bool = False
    has_lesson: bool = False


@dataclass(frozen=True)
class GuardResult:
    """`verdict` is `pass` or `attention`; lessons in the order of severity, then number."""

    verdict: str
    lessons: list[Touched]
    missing_citations: list[int]
    fix_without_lesson: bool
    markdown: str


def check_change(lessons: Iterable[Guarded], change: Change) -> GuardResult:
    """Which lessons the change meets and what is open. docs/rules.md: change check."""
    changed = normalise_paths(change.modified_files)
    met = [
        Touched(lesson.number, lesson.title, lesson.severity, matched, _open_items(lesson, change))
        for lesson in lessons
        if (matched := touched(lesson.related_files, changed))
    ]
    met.sort(key=lambda lesson: (-severity_rank(lesson.severity), lesson.number))
    uncited = [lesson.number for lesson in met if lesson.number not in change.cited]
    is_bare_fix = judge_subject(change.subject).is_captured and not change.has_lesson
    has_open = any(lesson.open_items for lesson in met)
    is_attention = (
        bool(uncited)
        or is_bare_fix
        or any(lesson.open_items and lesson.severity != Severity.LOW for lesson in met)
    )
    verdict = "attention" if is_attention else "pass"
    markdown = guard_markdown(
        was_recalled=change.was_recalled, has_open=has_open, fix_without_lesson=is_bare_fix
    )
    return GuardResult(verdict, met, uncited, is_bare_fix, markdown)


def guard_markdown(*, was_recalled: bool, has_open: bool, fix_without_lesson: bool) -> str:
    """The block for the text of a pull request."""
    marks = ((was_recalled, RECALLED), (not has_open, NOTHING_OPEN), (not fix_without_lesson, CAPTURED))
    lines = [f"- [{'x' if is_done else ' '}] {text}" for is_done, text in marks]
    return "\n".join([HEADING, "", *lines, ""])


def codes(numbers: Iterable[int]) -> list[str]:
    """The codes of lessons, in the order given."""
    return [lesson_code(number) for number in numbers]


def _open_items(lesson: Guarded, change: Change) -> list[OpenItem]:
    return [
        OpenItem(item, text)
        for item, text in enumerate(lesson.checks)
        if not change.answers.get((lesson.number, item), False)
    ]

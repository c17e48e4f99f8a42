"""The sections of a lesson file: their headings, and how text inside them is kept from looking like one."""

from __future__ import annotations

import re

from common.text import nfkc

#: section -> the heading that is written.
HEADINGS = {
    "what": "## 错误 (What)",
    "when": "## 触发 (When)",
    "how": "## 修正 (How)",
    "takeaway": "## 教训 (Lesson)",
    "checklist": "## 防复发检查",
    "related": "## 相关经验",
}
#: The words of a heading that are understood, in brackets or alone.
_NAMES = {
    "what": ("what", "错误", "问题", "信号", "what happened", "what went wrong", "mistake"),
    "when": ("when", "触发", "场景", "trigger"),
    "how": ("how", "修正", "修复", "记录", "fix"),
    "takeaway": ("lesson", "教训", "takeaway", "key lesson", "lesson learned"),
    "checklist": (
        "防复发检查",
        "防复发检查清单",
        "checklist",
        "recurrence checklist",
        "prevention checklist",
    ),
    "related": ("相关经验", "related", "related experiences", "related lessons"),
}
_SECTION_BY_NAME = {name: section for section, names in _NAMES.items() for name in names}

_HEADING_RE = re.compile(r"##(?!#)[ \t]*(?P<text>\S.*)")
_BRACKETS_RE = re.compile(r"(?P<outer>[^()]*)\((?P<inner>[^()]*)\)\s*")
_ESCAPED_RE = re.compile(r"\\+(?=##)")


def section_of(line: str) -> str | None:
    """The section that a line opens, or None. `## 错误 (What)`, `## What` and `## 错误：` are the same."""
    found = _HEADING_RE.match(line)
    if not found:
        return None
    text = nfkc(found["text"][:200]).casefold().strip(" \t#:*")
    inner = _BRACKETS_RE.fullmatch(text)
    if inner and (section := _SECTION_BY_NAME.get(inner["inner"].strip())):
        return section
    return _SECTION_BY_NAME.get(inner["outer"].strip() if inner else text)


def split_sections(body: str) -> tuple[str, dict[str, str]]:
    """The text before the first section, and the text of each section, trimmed.

    A heading that is unknown, or that was there before, belongs to the text of the section it stands in.
    """
    intro: list[str] = []
    sections: dict[str, list[str]] = {}
    current = intro
    for line in body.split("\n"):
        section = section_of(line)
        if section and section not in sections:
            current = sections[section] = []
        else:
            current.append(unescaped(line))
    return trimmed(intro), {name: trimmed(lines) for name, lines in sections.items()}


def escaped(text: str) -> str:
    """The text with a backslash before each line that would open a section (or already has such a backslash)."""
    return "\n".join(
        f"\\{line}" if section_of(line) or _ESCAPED_RE.match(line) else line for line in text.split("\n")
    )


def unescaped(line: str) -> str:
    """One backslash less before `##` at the start of the line."""
    return line[1:] if _ESCAPED_RE.match(line) else line


def trimmed(lines: list[str]) -> str:
    """The lines as one text without blank space at its ends."""
    return "\n".join(lines).strip()

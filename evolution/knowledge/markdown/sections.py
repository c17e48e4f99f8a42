"""The sections of a file of knowledge, and how text inside them is kept from looking like one."""

from __future__ import annotations

import re

from common.text import nfkc

#: section -> the heading that is written.
HEADINGS = {
    "summary": "## Summary",
    "details": "## Details",
    "code": "## Code Example",
    "related": "## Related Knowledge",
}
_NAMES = {
    "summary": ("summary", "摘要", "总结", "概要"),
    "details": ("details", "detail", "详情", "详细说明"),
    "code": ("code example", "code examples", "code example (if applicable)", "代码示例"),
    "related": ("related knowledge", "related", "相关知识"),
}
_SECTION_BY_NAME = {name: section for section, names in _NAMES.items() for name in names}
_HEADING_RE = re.compile(r"##(?!#)[ \t]*(?P<text>\S.*)")
_ESCAPED_RE = re.compile(r"\\+(?=##)")


def section_of(line: str) -> str | None:
    """The section that a line opens, or None."""
    found = _HEADING_RE.match(line)
    return _SECTION_BY_NAME.get(nfkc(found["text"][:200]).casefold().strip(" \t#:*")) if found else None


def split_sections(lines: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The lines before the first section, and those of each; another heading belongs to where it stands."""
    intro: list[str] = []
    sections: dict[str, list[str]] = {}
    current = intro
    for line in lines:
        section = section_of(line)
        if section and section not in sections:
            current = sections[section] = []
        else:
            current.append(line[1:] if _ESCAPED_RE.match(line) else line)
    return intro, sections


def escaped(text: str) -> str:
    """The text with a backslash before each line that would open a section, or that has such a backslash."""
    return "\n".join(
        f"\\{line}" if section_of(line) or _ESCAPED_RE.match(line) else line for line in text.split("\n")
    )

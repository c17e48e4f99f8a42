"""Where a learnt line goes in a document. Pure. docs/rules.md: placement."""

from __future__ import annotations

from agents.rules.sections import markdown_section
from common.text import contained

#: item type -> heading (zh, en) under which its lines stand.
HEADINGS = {
    "user_preference": ("偏好", "Preferences"),
    "relationship_memory": ("记忆", "Memories"),
    "knowledge": ("知识", "Knowledge"),
    "skill_optimization": ("改进", "Improvements"),
    "workflow": ("改进", "Improvements"),
    "behavior_rule": ("规则", "Rules"),
    "error_correction": ("纠正", "Corrections"),
}


def heading_for(item_type: str, language: str) -> str:
    """The heading of an item type in the agent's language."""
    zh, en = HEADINGS.get(item_type, ("补充", "Notes"))
    return en if language == "en" else zh


def bullet(content: str) -> str:
    """The content as one list item that cannot forge structure."""
    return f"- {contained(content)}"


def with_line(text: str, content: str, heading: str) -> str:
    """The text with the content as a last bullet under `heading`, which is added at the end if it is missing.

    Nothing else changes: other lines keep their bytes, CRLF texts get CRLF lines, a missing final newline is
    added only in front of what is new.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    line = bullet(content).replace("\n", newline) + newline
    sections = markdown_section(text, heading, ())
    if not sections:
        start = _closed(text, newline)
        gap = newline if start else ""
        return f"{start}{gap}## {heading}{newline}{newline}{line}"
    section = sections[-1]
    last = section.start + len(text[section.start : section.end].rstrip())
    line_end = text.find("\n", last)
    at = len(text) if line_end < 0 else line_end + 1
    only_heading = "\n" not in text[section.start : last]
    opening = ("" if line_end >= 0 else newline) + (newline if only_heading else "")
    return text[:at] + opening + line + text[at:]


def without_line(text: str, line: str) -> str:
    """The text without the first line that equals `line` (with its line end); unchanged when there is none."""
    pieces = text.splitlines(keepends=True)
    for index, piece in enumerate(pieces):
        if piece.rstrip("\r\n") == line:
            return "".join(pieces[:index] + pieces[index + 1 :])
    return text


def _closed(text: str, newline: str) -> str:
    return text if not text or text.endswith(("\n", "\r")) else text + newline

"""Fitting Markdown into a prompt: as deep as a section allows, closed, and within a number of characters.

Pure. docs/rules.md: prompt budgets.
"""

from __future__ import annotations

import re

from common.text import close_fence, cut_at_line, fence_mask, is_blank, shift_headings

#: Section headings are `##`, so what is inside starts at `###`.
TOP_LEVEL = 3
_BYTE_ORDER_MARK = "\ufeff"
_COMMENT_RE = re.compile(r" {0,3}<!--")


def embedded(markdown: str) -> str:
    """A document as the inside of a section: headings moved down, nothing left open; empty when blank."""
    text = shift_headings(markdown.removeprefix(_BYTE_ORDER_MARK), TOP_LEVEL)
    return "" if is_blank(text) else closed(_without_blank_ends(text))


def fitted(markdown: str, limit: int) -> str:
    """The whole lines of `markdown` that fit into `limit` characters, closed where the cut left it open."""
    room = limit
    text = closed(_without_blank_ends(cut_at_line(markdown, room)))
    while len(text) > limit:
        # What closes the text takes room too; each turn gives up at least one character.
        room -= len(text) - limit
        text = closed(_without_blank_ends(cut_at_line(markdown, room)))
    return text


def closed(markdown: str) -> str:
    """The text with an open code fence and an open comment closed, so that neither swallows what follows."""
    text = close_fence(markdown)
    lines = text.split("\n")
    in_fence, _missing = fence_mask(lines)
    starts = [number for number, line in enumerate(lines) if not in_fence[number] and _COMMENT_RE.match(line)]
    if starts and "-->" not in "\n".join(lines[starts[-1] :]):
        return f"{text}\n-->"
    return text


def _without_blank_ends(text: str) -> str:
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    return "\n".join(lines[first:]).rstrip()

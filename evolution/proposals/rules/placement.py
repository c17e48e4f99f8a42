"""Where a learnt line goes in a document. Pure. docs/rules.md: placement."""

from __future__ import annotations

import re

from agents.rules.markdown import Heading, headings
from agents.rules.sections import name_key
from common.text import contained, fence_mask
from evolution.proposals.rules.entries import ITEM_RE, is_blank_line, lines_of

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


_ATX_RE = re.compile(r" {0,3}#{1,6}(?:[ \t\r\n]|$)")


def heading_for(item_type: str, language: str) -> str:
    """The heading of an item type in the agent's language."""
    zh, en = HEADINGS.get(item_type, ("补充", "Notes"))
    return en if language == "en" else zh


def bullet(content: str) -> str:
    """The content as one list item that cannot forge structure."""
    return f"- {contained(content)}"


def with_line(text: str, content: str, heading: str, *, apart: bool = False) -> str:
    """The text with the content as a last bullet of `heading`'s own lines, or of a new heading at the end.

    Every line that was there keeps its bytes; what is added has the line ends of the text, blank lines around
    it where Markdown needs them, and closes a code fence that was left open in front of it. `apart`: a lone
    heading over a list is taken for a section and not for a title, so that what is new is not put below it.
    """
    lines = lines_of(text)
    newline = _line_end(lines)
    found = headings(text)
    named = next((one for one in found if one.certain and _is_named(one, heading)), None)
    at, added = (len(lines), []) if named is None else _end_of_own_lines(lines, named, found)
    if named is None or _would_continue(lines[at:]):
        at = len(lines)
        added = [f"{'#' * _new_level(found, apart and any(map(ITEM_RE.match, lines)))} {heading}", ""]
        if lines and not is_blank_line(lines[-1]):
            added.insert(0, "")
    added = [*_closed_fence(lines[:at]), *added, *bullet(content).split("\n")]
    if at < len(lines) and not is_blank_line(lines[at]):
        added.append("")
    before = "".join(lines[:at])
    gap = newline if before and not before.endswith(("\n", "\r")) else ""
    return before + gap + "".join(line + newline for line in added) + "".join(lines[at:])


def _is_named(heading: Heading, name: str) -> bool:
    return name_key(heading.text).rstrip(":") == name_key(name)


def _line_end(lines: list[str]) -> str:
    """The most common line end of the text, LF when it has none."""
    ends = [line[len(line.rstrip("\r\n")) :] for line in lines]
    counted = {end: ends.count(end) for end in ("\n", "\r\n", "\r")}
    return max(counted, key=lambda end: counted[end])


def _new_level(found: list[Heading], lone_is_section: bool) -> int:
    """2 below a single title, else 1 where the text's sections are of level 1."""
    first_level = [heading for heading in found if heading.certain and heading.level == 1]
    if not first_level:
        return 2
    is_title = len(first_level) == 1 and first_level[0] is found[0]
    return 2 if is_title and not (len(found) == 1 and lone_is_section) else 1


def _end_of_own_lines(lines: list[str], named: Heading, found: list[Heading]) -> tuple[int, list[str]]:
    """Behind which line of the heading's own ones (before the next sure heading) to add, and what goes between."""
    number_at = {}
    start = 0
    for number, line in enumerate(lines):
        number_at[start] = number
        start += len(line)
    first = number_at[named.start]
    # A title over an underline has two lines or more.
    own = first + 1 if _ATX_RE.match(lines[first]) else _underline(lines, first) + 1
    following = [number_at[other.start] for other in found if other.certain and other.start > named.start]
    end = next((number for number in following if number >= own), len(lines))
    while end > own and is_blank_line(lines[end - 1]):
        end -= 1
    if end > own:
        return end, [] if _is_in_list(lines[own:end]) else [""]
    has_gap = own < len(lines) and is_blank_line(lines[own])
    return (own + 1, []) if has_gap else (own, [""])


def _underline(lines: list[str], first: int) -> int:
    marks = ("=", "-")
    numbers = (
        number
        for number in range(first + 1, len(lines))
        if (inked := lines[number].strip()) and any(not inked.strip(mark) for mark in marks)
    )
    return next(numbers, first)


def _is_in_list(lines: list[str]) -> bool:
    """Whether the last line belongs to a list item."""
    for line in reversed(lines):
        if is_blank_line(line):
            return False
        if ITEM_RE.match(line):
            return True
        if line[0] not in " \t":
            return False
    return False


def _closed_fence(lines: list[str]) -> list[str]:
    """What ends a code fence that these lines leave open; a fence inside raw HTML is none."""
    _mask, missing = fence_mask([line.rstrip("\r\n") for line in lines])
    before = "".join(lines)
    probes = headings(f"{before}\n\n# x\n") if missing else []
    is_open = missing and not any(probe.certain and probe.start > len(before) for probe in probes)
    return [missing] if is_open else []


def _would_continue(following: list[str]) -> bool:
    """Whether what comes next is indented, so that it would become a part of the bullet."""
    return next((line[0] in " \t" for line in following if not is_blank_line(line)), False)

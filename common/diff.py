"""Differences of two texts: as a unified diff, as hunks, and as the rows of a table. Pure.

Only LF ends a line: a CR, a form feed or a line separator belongs to the text of its line. The work is
bounded, whatever the texts are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Literal

from common.line_matching import Block, matching_blocks

NO_NEWLINE = "\\ No newline at end of file"
#: Work on one pair of texts, about a second at most (docs/rules.md: diff limits).
_LINE_STEPS = 1_000_000
#: Work on all changed lines of one table, and the longest line whose words are compared.
_WORD_STEPS = 500_000
_MAX_COMPARED = 2000
_LINE_EFFORT = 20_000
#: Below this share of kept text, marking single words only confuses.
_LEAST_KEPT = 0.3

_WORD_RE = re.compile(r"[A-Za-z0-9_]+|\s+|.", re.DOTALL)

Segment = tuple[Literal["equal", "delete", "insert"], str]


@dataclass(frozen=True)
class HunkLine:
    """`tag` is ` `, `-` or `+`; `text` has no line end; `newline` says whether it had one."""

    tag: Literal[" ", "-", "+"]
    text: str
    newline: bool = True


@dataclass(frozen=True)
class Hunk:
    """Changed lines with their context. Line numbers count from 1; of an empty side it is the line before."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: list[HunkLine]

    @property
    def header(self) -> str:
        """`@@ -start,count +start,count @@`, a count of 1 left out."""
        old = _range(self.old_start, self.old_count)
        return f"@@ -{old} +{_range(self.new_start, self.new_count)} @@"


@dataclass(frozen=True)
class DiffRow:
    """One row of a table with the old text left and the new text right.

    `gap` stands for `hidden` equal lines that begin at the two numbers. A side that is absent has neither
    number nor text. The segments of a `replace` row say which parts of the line changed; joined they are its
    text. The newline flags are False only for a last line without a line end.
    """

    kind: Literal["equal", "delete", "insert", "replace", "gap"]
    old_no: int | None = None
    new_no: int | None = None
    old_text: str = ""
    new_text: str = ""
    old_segments: tuple[Segment, ...] = ()
    new_segments: tuple[Segment, ...] = ()
    old_newline: bool = True
    new_newline: bool = True
    hidden: int = 0


@dataclass(frozen=True)
class _Change:
    """Lines [old_start, old_end) became [new_start, new_end); both counted from 0."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def unified(old: str, new: str, old_label: str, new_label: str, context: int = 3) -> str:
    r"""The unified diff with `context` lines around each change; empty for equal texts.

    A missing final newline is marked `\ No newline at end of file`. Line ends in labels become spaces.
    """
    found = hunks(old, new, context)
    if not found:
        return ""
    lines = [f"--- {_label(old_label)}", f"+++ {_label(new_label)}"]
    for hunk in found:
        lines.append(hunk.header)
        for line in hunk.lines:
            lines.append(f"{line.tag}{line.text}")
            if not line.newline:
                lines.append(NO_NEWLINE)
    return "\n".join(lines) + "\n"


def hunks(old: str, new: str, context: int = 3) -> list[Hunk]:
    """The changes from `old` to `new`, those closer than twice `context` lines in one hunk."""
    old_lines, new_lines = _lines(old), _lines(new)
    return [
        _hunk(group, old_lines, new_lines, context)
        for group in _groups(_changes(old_lines, new_lines), context)
    ]


def side_by_side(old: str, new: str, context: int = 3) -> list[DiffRow]:
    """The same changes as rows of a table, with gap rows for the equal lines left out; empty for equal texts.

    Within replaced lines the changed words are marked; lines of more than 2,000 code points and lines that
    have little in common are marked as a whole. No text is ever shortened.
    """
    old_lines, new_lines = _lines(old), _lines(new)
    rows: list[DiffRow] = []
    words = _WordComparison(_WORD_STEPS)
    shown = 0  # the first old line that has no row yet
    shift = 0
    for group in _groups(_changes(old_lines, new_lines), context):
        start = max(group[0].old_start - context, shown)
        rows += _gap(shown, start, shift)
        shown = start
        for change in group:
            shift = change.new_start - change.old_start
            rows += _equal_rows(old_lines, shown, change.old_start, shift)
            rows += _changed_rows(change, old_lines, new_lines, words)
            shown = change.old_end
            shift = change.new_end - change.old_end
        end = min(shown + context, len(old_lines))
        rows += _equal_rows(old_lines, shown, end, shift)
        shown = end
    return [*rows, *_gap(shown, len(old_lines), shift)] if rows else []


def _lines(text: str) -> list[str]:
    """Lines with their LF; the last one may have none."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _changes(old: Sequence[str], new: Sequence[str]) -> list[_Change]:
    blocks = [Block(0, 0, 0), *matching_blocks(old, new, _LINE_STEPS), Block(len(old), len(new), 0)]
    changes = (
        _Change(before.old + before.size, after.old, before.new + before.size, after.new)
        for before, after in pairwise(blocks)
    )
    return [c for c in changes if c.old_start < c.old_end or c.new_start < c.new_end]


def _groups(changes: list[_Change], context: int) -> list[list[_Change]]:
    groups: list[list[_Change]] = []
    for change in changes:
        if groups and change.old_start - groups[-1][-1].old_end <= 2 * context:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(group: list[_Change], old: list[str], new: list[str], context: int) -> Hunk:
    first, last = group[0], group[-1]
    before = min(context, first.old_start)
    after = min(context, len(old) - last.old_end)
    old_start, new_start = first.old_start - before, first.new_start - before
    lines: list[HunkLine] = []
    at = old_start
    for change in group:
        lines += _tagged(" ", old[at : change.old_start])
        lines += _tagged("-", old[change.old_start : change.old_end])
        lines += _tagged("+", new[change.new_start : change.new_end])
        at = change.old_end
    lines += _tagged(" ", old[at : at + after])
    old_count = last.old_end + after - old_start
    new_count = last.new_end + after - new_start
    return Hunk(
        old_start=old_start + 1 if old_count else old_start,
        old_count=old_count,
        new_start=new_start + 1 if new_count else new_start,
        new_count=new_count,
        lines=lines,
    )


def _tagged(tag: Literal[" ", "-", "+"], lines: list[str]) -> list[HunkLine]:
    return [HunkLine(tag, line.removesuffix("\n"), line.endswith("\n")) for line in lines]


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"


def _label(label: str) -> str:
    return " ".join(label.splitlines())


def _gap(start: int, end: int, shift: int) -> list[DiffRow]:
    if start >= end:
        return []
    return [DiffRow("gap", old_no=start + 1, new_no=start + shift + 1, hidden=end - start)]


def _equal_rows(old: list[str], start: int, end: int, shift: int) -> Iterator[DiffRow]:
    for number in range(start, end):
        text, newline = old[number].removesuffix("\n"), old[number].endswith("\n")
        yield DiffRow(
            "equal", number + 1, number + shift + 1, text, text, old_newline=newline, new_newline=newline
        )


def _changed_rows(
    change: _Change, old: list[str], new: list[str], words: _WordComparison
) -> Iterator[DiffRow]:
    old_numbers = range(change.old_start, change.old_end)
    new_numbers = range(change.new_start, change.new_end)
    for left, right in zip_longest(old_numbers, new_numbers):
        if right is None:
            line = old[left]
            yield DiffRow("delete", left + 1, None, line.removesuffix("\n"), old_newline=line.endswith("\n"))
        elif left is None:
            line = new[right]
            yield DiffRow(
                "insert", None, right + 1, new_text=line.removesuffix("\n"), new_newline=line.endswith("\n")
            )
        else:
            old_text, new_text = old[left].removesuffix("\n"), new[right].removesuffix("\n")
            yield DiffRow(
                "replace",
                left + 1,
                right + 1,
                old_text,
                new_text,
                *words.segments(old_text, new_text),
                old_newline=old[left].endswith("\n"),
                new_newline=new[right].endswith("\n"),
            )


@dataclass
class _WordComparison:
    """Compares replaced lines word by word; one budget for a whole table."""

    steps: int

    def segments(self, old: str, new: str) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
        old_words, new_words = _WORD_RE.findall(old), _WORD_RE.findall(new)
        blocks: list[Block] = []
        longest = max(len(old), len(new))
        if longest <= _MAX_COMPARED:
            effort = min(self.steps, _LINE_EFFORT)
            self.steps -= effort
            blocks = matching_blocks(old_words, new_words, effort)
        kept = sum(len(word) for block in blocks for word in old_words[block.old : block.old + block.size])
        if kept < longest * _LEAST_KEPT:
            blocks = []
        old_spans = [(block.old, block.old + block.size) for block in blocks]
        new_spans = [(block.new, block.new + block.size) for block in blocks]
        return _segments(old_words, old_spans, "delete"), _segments(new_words, new_spans, "insert")


def _segments(
    words: list[str], equal: list[tuple[int, int]], changed: Literal["delete", "insert"]
) -> tuple[Segment, ...]:
    segments: list[Segment] = []
    at = 0
    for start, end in [*equal, (len(words), len(words))]:
        if at < start:
            segments.append((changed, "".join(words[at:start])))
        if start < end:
            segments.append(("equal", "".join(words[start:end])))
        at = end
    return tuple(segments)

"""The lines of a document as a reader takes them: a list item with what continues it is one entry. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from common.text import name_key, nfkc, without_format_characters

#: LF, CR LF and CR end a line, as Markdown has it; each line keeps its end.
LINE_RE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
ITEM_RE = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|$)")

_MARKER_RE = re.compile(r"\s*(?:[-*+]|[0-9]{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_ESCAPE_RE = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True)
class Entry:
    """Lines `first` to `last` (exclusive, from 0) of a text; `text` is what they say, trimmed, joined by LF."""

    first: int
    last: int
    text: str


def lines_of(text: str) -> list[str]:
    """The lines with their ends; joined they are the text."""
    return LINE_RE.findall(text)


def is_blank_line(line: str) -> bool:
    """Whether the line shows nothing but spaces."""
    return not line.strip()


def entries(text: str) -> list[Entry]:
    """The entries of a text in order; blank lines belong to none.

    Indented lines behind a list item continue it, unless they are list items of their own.
    """
    found: list[Entry] = []
    in_item = False
    for number, line in enumerate(lines_of(text)):
        said = line.strip()
        if not said:
            in_item = False
        elif in_item and line[0] in " \t" and not ITEM_RE.match(line):
            before = found.pop()
            found.append(Entry(before.first, number + 1, f"{before.text}\n{said}"))
        else:
            found.append(Entry(number, number + 1, said))
            in_item = ITEM_RE.match(line) is not None
    return found


def without_entries(text: str, unwanted: Collection[str]) -> str:
    """The text without the entries that say one of `unwanted`; every other line keeps its bytes."""
    keys = {comparable(entry) for entry in unwanted}
    gone: set[int] = set()
    for entry in entries(text):
        if comparable(entry.text) in keys:
            gone.update(range(entry.first, entry.last))
    return "".join(line for number, line in enumerate(lines_of(text)) if number not in gone)


def plain(entry: str) -> str:
    """What an entry says, folded: no list marker, escapes, case, width, invisible characters; one-space gaps."""
    bare = _ESCAPE_RE.sub(r"\1", _MARKER_RE.sub("", entry, count=1) if _MARKER_RE.match(entry) else entry)
    return " ".join(nfkc(nfkc(without_format_characters(bare)).casefold()).split())


def comparable(entry: str) -> str:
    """The key by which two entries say the same. docs/rules.md: conflicts."""
    return name_key(plain(entry))

"""What a unified diff adds, file by file. Pure. docs/rules.md: reading diffs.

Text from outside: whatever it holds is read in one pass, and what is no diff gives no file. Paths are only names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_HUNK_RE = re.compile(r"@@ -\d{1,9}(?:,(?P<old>\d{1,9}))? \+\d{1,9}(?:,(?P<new>\d{1,9}))? @@")
_ESCAPE_RE = re.compile(rb'\\([0-7]{3}|[abfnrtv"\\])')
_SIMPLE = {b"a": 7, b"b": 8, b"f": 12, b"n": 10, b"r": 13, b"t": 9, b"v": 11, b'"': 34, b"\\": 92}
_NOWHERE = "/dev/null"
MAX_PATH = 500


@dataclass
class AddedFile:
    """A file and the lines added to it; each run stands together in the new file."""

    path: str
    runs: list[list[str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All added lines."""
        return "\n".join(line for run in self.runs for line in run)


@dataclass(frozen=True)
class Additions:
    """The files with added lines, at most as many as asked for, and how many more there were."""

    files: list[AddedFile]
    left_out: int


def read_diff(text: str, most: int) -> Additions:
    """The first `most` files of a unified diff to which something was added."""
    files: list[AddedFile] = []
    left_out = 0
    for file in _files(text):
        if not file.runs:
            continue
        if len(files) < most:
            files.append(file)
        else:
            left_out += 1
    return Additions(files, left_out)


def _files(text: str) -> Iterator[AddedFile]:
    file: AddedFile | None = None
    old = new = 0
    is_run = False
    for raw in text.split("\n"):
        line = raw.removesuffix("\r")
        if old > 0 or new > 0:
            # Inside a hunk: its header said how many lines belong to it, whatever they look like.
            mark = line[:1]
            if mark == "+" and file is not None and new > 0:
                if not is_run:
                    file.runs.append([])
                file.runs[-1].append(line[1:])
            is_run = mark == "+" or (is_run and mark in ("-", "\\"))
            new -= mark in ("+", " ", "")
            old -= mark in ("-", " ", "")
            if mark in ("+", "-", " ", "\\", ""):
                continue
            old = new = 0
        if line.startswith("+++ "):
            if file is not None:
                yield file
            path = _path(line[4:])
            file = AddedFile(path) if path else None
        elif found := _HUNK_RE.match(line):
            old, new = (int(found[name]) if found[name] is not None else 1 for name in ("old", "new"))
            is_run = False
    if file is not None:
        yield file


def _path(header: str) -> str:
    """The name in a `+++ ` line; empty for a file that was deleted."""
    name = header.split("\t")[0].strip()
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = _ESCAPE_RE.sub(_character, name[1:-1].encode("utf-8", "replace")).decode("utf-8", "replace")
    if name == _NOWHERE:
        return ""
    return " ".join(name.removeprefix("b/").replace("\0", " ").split())[:MAX_PATH]


def _character(match: re.Match[bytes]) -> bytes:
    escaped = match[1]
    return bytes([_SIMPLE[escaped] if escaped in _SIMPLE else int(escaped, 8) & 0xFF])

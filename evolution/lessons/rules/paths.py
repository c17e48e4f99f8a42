"""One spelling for each path, what it has in common with another, and patterns over paths. Pure.

Paths come from commits, lessons and tasks. They are compared, never opened.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

MAX_PATH = 500

_SLASHES_RE = re.compile(r"/{2,}")
_HERE_RE = re.compile(r"\A(?:\s*\./)+")
_MAX_PATTERN = 200
_WILD = frozenset("*?[")


def normalise_path(raw: str) -> str:
    """NFC, on one line, `/` between parts, no leading `./`, no repeated `/`; empty for nothing. Idempotent.

    A final `/`, which names a directory, stays. docs/rules.md: lesson paths.
    """
    line = " ".join(unicodedata.normalize("NFC", raw).splitlines())
    path = _SLASHES_RE.sub("/", line.replace("\\", "/"))
    path = _HERE_RE.sub("", path).strip()
    return "" if path in (".", "/") else path


def normalise_paths(raw: Iterable[str]) -> list[str]:
    """The normal forms, unique, in order; empty entries are dropped."""
    return list(dict.fromkeys(path for path in map(normalise_path, raw) if path))


def is_directory(path: str) -> bool:
    """Whether the normalised path names a directory and so all that lies below it."""
    return path.endswith("/")


def directories(path: str) -> Iterator[str]:
    """Each directory above a normalised path, the outermost first: `a/`, `a/b/` for `a/b/c.py`."""
    end = path.find("/", 1)
    while 0 <= end < len(path) - 1:
        yield path[: end + 1]
        end = path.find("/", end + 1)


def basename(path: str) -> str:
    """The last part of a normalised path; of a directory its own name."""
    return path.rstrip("/").rpartition("/")[2]


def touched(listed: Sequence[str], changed: Iterable[str]) -> list[str]:
    """Which of the `changed` normalised paths equal a listed one or lie below a listed directory."""
    wanted = set(listed)
    # By their beginning: to look at each directory above would take as long as the paths are deep.
    above = tuple(path for path in wanted if is_directory(path))
    return [path for path in changed if path in wanted or path.startswith(above)]


def matches_any(path: str, patterns: Sequence[str]) -> str | None:
    """The first pattern that the normalised path meets, or None. Case does not matter.

    Without `/` a pattern is compared with the file's name; `name/` means any directory of that name (or below
    a directory path such as `a/b/`); with `/` inside it is compared with the whole path, where `*` stays in
    one part and `**` spans any number. Time is bounded by path times pattern. docs/rules.md: churn ignores.
    """
    parts = tuple(path.casefold().split("/"))
    return next((pattern for pattern in patterns if _meets(pattern, parts)), None)


def _meets(pattern: str, parts: tuple[str, ...]) -> bool:
    kind, wanted = _compiled(pattern)
    if kind == "name":
        return fnmatchcase(parts[-1], wanted[0])
    if kind == "directory":
        if not _WILD.intersection(wanted[0]):
            return wanted[0] in parts[:-1]
        return any(fnmatchcase(part, wanted[0]) for part in parts[:-1])
    return _parts_meet(wanted, parts)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> tuple[str, tuple[str, ...]]:
    text = normalise_path(pattern[:_MAX_PATTERN]).casefold()
    inside = text.rstrip("/")
    if "/" not in inside:
        return ("directory" if text.endswith("/") else "name"), (inside,)
    return "path", tuple((inside + "/**" if text.endswith("/") else inside).split("/"))


def _parts_meet(wanted: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    # Row by row instead of recursion: `**/**/**` cannot make it slow.
    row = [True] + [False] * len(parts)
    for want in wanted:
        if want == "**":
            first = row.index(True) if True in row else len(row)
            row = [position >= first for position in range(len(row))]
        else:
            row = [False] + [row[at] and fnmatchcase(part, want) for at, part in enumerate(parts)]
    return row[-1]

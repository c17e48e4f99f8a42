"""Blocks of lines that are written the same way with other names. Pure. docs/rules.md: structures."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evolution.patterns.rules.diffs import AddedFile

#: Lines of a block, places of one diff, and shapes of line that make a block a structure and no mere list.
BLOCK, PLACES, SHAPES = 5, 3, 3
#: New structures of one diff; the rest is noise of generated files.
MAX_NEW = 5
_LONGEST_LINE = 500
_LONGEST_BLOCK = 60
#: Lines of one diff that are compared.
MAX_LINES = 50_000

# A string that is not closed ends with its line: nothing is tried twice.
_TOKEN_RE = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*+"?|'(?:[^'\\]|\\.)*+'?|`(?:[^`\\]|\\.)*+`?)|(?P<number>\d[\w.]*+)"""
    r"""|(?P<name>[^\W\d]\w*+)|(?P<space>\s++)""",
    re.DOTALL,
)
#: Words that make the structure; every other name may be another one.
_WORDS = """
    abstract and as assert async await base begin break case catch class const constexpr continue def default defer
    delete do elif else end ensure enum except export extends extern final finally fn for foreach from func function
    global go goto guard if implements import in inline instanceof interface is lambda let loop match mod module move
    mut namespace new nil none nonlocal not null of operator or override package pass private protected pub public
    raise readonly repeat require rescue return select self static struct super switch template then this throw throws
    trait try type typedef typeof union unless unsafe until use using val var virtual void volatile when where while
    with yield true false
"""
_KEPT = frozenset(_WORDS.split())


@dataclass(frozen=True)
class Place:
    """Where a structure stands: file, and the lines as they were written."""

    path: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Structure:
    """A block found in several places; the fingerprint is that of its first five lines."""

    fingerprint: str
    places: tuple[Place, ...]


@dataclass(frozen=True)
class _Line:
    path: str
    shape: str
    text: str
    #: How many lines of the same run follow, this one included.
    left: int


def neutral(line: str) -> str:
    """The line without what may differ: names, texts, numbers, spaces. Time grows linearly with the line."""

    def replacement(match: re.Match[str]) -> str:
        kind = match.lastgroup
        if kind == "name":
            return f" {match[0]} " if match[0].casefold() in _KEPT else "x"
        return {"text": "s", "number": "n", "space": ""}[str(kind)]

    return _TOKEN_RE.sub(replacement, line[:_LONGEST_LINE]).strip()


def fingerprints_of(file: AddedFile) -> frozenset[str]:
    """Fingerprints of all blocks of five added lines of a file."""
    lines = _lines([file])
    return frozenset(_fingerprint(lines, at) for at in range(len(lines)) if _is_block(lines, at))


def find_structures(files: Iterable[AddedFile], known: frozenset[str] = frozenset()) -> list[Structure]:
    """Blocks of at least five added lines that stand in three places or more, not overlapping, in order of appearance.

    A block is told once, as long as all its places go on alike; what is `known` already is not told.
    """
    lines = _lines(files)
    by_print: dict[str, list[int]] = {}
    for at in range(len(lines)):
        if _is_block(lines, at):
            by_print.setdefault(_fingerprint(lines, at), []).append(at)
    covered: set[int] = set()
    found: list[Structure] = []
    for fingerprint, starts in by_print.items():
        places = _apart([at for at in starts if at not in covered])
        if len(places) < PLACES:
            continue
        size = _common_size(lines, places)
        covered.update(line for at in places for line in range(at, at + size))
        if fingerprint not in known:
            told = (
                Place(lines[at].path, tuple(line.text for line in lines[at : at + size])) for at in places
            )
            found.append(Structure(fingerprint, tuple(told)))
    return found[:MAX_NEW]


def _lines(files: Iterable[AddedFile]) -> list[_Line]:
    lines: list[_Line] = []
    for file in files:
        for run in file.runs:
            shapes = [(shape, text) for text in run if (shape := neutral(text))]
            count = len(shapes)
            lines += [_Line(file.path, shape, text, count - at) for at, (shape, text) in enumerate(shapes)]
            if len(lines) >= MAX_LINES:
                return lines[:MAX_LINES]
    return lines


def _is_block(lines: Sequence[_Line], at: int) -> bool:
    """Whether five lines of one run start here and are more than a list of one kind of line."""
    if lines[at].left < BLOCK or at + BLOCK > len(lines):
        return False
    return len({line.shape for line in lines[at : at + BLOCK]}) >= SHAPES


def _fingerprint(lines: Sequence[_Line], at: int) -> str:
    shapes = "\n".join(line.shape for line in lines[at : at + BLOCK])
    return hashlib.sha256(shapes.encode("utf-8", "surrogatepass")).hexdigest()


def _apart(starts: Sequence[int]) -> list[int]:
    """The places that do not overlap the one before."""
    kept: list[int] = []
    for at in starts:
        if not kept or at >= kept[-1] + BLOCK:
            kept.append(at)
    return kept


def _common_size(lines: Sequence[_Line], places: Sequence[int]) -> int:
    """How many lines all places have in common from their start on, without running into one another."""
    most = min(lines[at].left for at in places)
    gaps = [later - earlier for earlier, later in pairwise(places)]
    most = min([most, _LONGEST_BLOCK, *gaps])
    size = BLOCK
    while size < most and len({lines[at + size].shape for at in places if at + size < len(lines)}) == 1:
        size += 1
    return size

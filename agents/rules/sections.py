"""Sections of documents: what belongs to a heading of Markdown, or to a key of JSON.

A section starts wherever some reader could see its heading, and ends only where every reader sees the next
one: in doubt it is protected, and longer. docs/rules.md: sections of a document.
"""

from __future__ import annotations

import html
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agents.rules.glyphs import skeleton, without_invisible
from agents.rules.markdown import Heading, headings
from common.errors import ApplicationError
from common.strict_json import loads
from common.text import CJK, nfkc

_TAG_RE = re.compile(r"<[^<>]*>")
# Marks of emphasis, code, links and escapes; an underscore parts words (`must_not` is `must not`).
_MARKS = str.maketrans({**dict.fromkeys("*`~\\[]{}"), "_": " "})
_LEADING_SIGNS_RE = re.compile(r"[^\w]+|_+")
# `1. `, `1.2 `, `(3) `, `一、`, `第二章 `, `a) `, `iv. ` in front of a name
_ORDINAL_RE = re.compile(
    r"(?:第?[0-9一二三四五六七八九十百零]+(?:[.-][0-9]+)*[章节条部分]?[\s.):、,-]+|(?:[a-z]|[ivxlc]+)[.):、]\s*)"
)
_CJK_RE = re.compile(f"[{CJK}]")


@dataclass(frozen=True)
class Section:
    """One section of a Markdown text, from its heading line up to the next heading that ends it.

    `parents` are the headings it stands under, `inside` the HTML wrappers and comments open at its heading,
    `certain` whether every reader sees the heading. `is_last`: it runs to the end of the text.
    """

    start: int
    end: int
    level: int
    title: str
    text: str
    parents: tuple[str, ...]
    inside: frozenset[str]
    certain: bool
    is_last: bool


class JsonUnreadable(ValueError):
    """The text is not one JSON object whose values have exactly one meaning."""


def markdown_section(
    text: str, name: str, aliases: Iterable[str] = (), *, soft_breaks: bool = False
) -> list[Section]:
    """The sections whose heading starts with the name or an alias, in order; usually none or one.

    Letters are compared without case, width, accents, marks of emphasis, invisible characters and look-alikes
    of other alphabets. An unreadable name (no letter or digit) names nothing. `soft_breaks` as in `headings`.
    """
    names = {key for wanted in (name, *aliases) for key in _plain_readings(wanted)}
    if not names:
        return []
    all_headings = headings(text, soft_breaks=soft_breaks)
    ends = [heading for heading in all_headings if heading.certain]
    sections: list[Section] = []
    above: list[Heading] = []
    covered = passed = 0
    for heading in all_headings:
        above = [parent for parent in above if parent.level < heading.level or not heading.certain]
        # What lies inside a section is protected with it; only a sure heading can start another one there.
        if (heading.certain or heading.start >= covered) and _is_named(heading.text, names):
            following = _end(heading, ends, passed)
            sections.append(_section(text, heading, following, above))
            covered = max(covered, sections[-1].end)
        if heading.certain:
            above.append(heading)
            passed += 1
    return sections


def names_something(name: str) -> bool:
    """Whether a section can have this name at all; a blank one, or signs alone, stand for the whole file."""
    return bool(_plain_readings(name))


def name_key(heading: str) -> str:
    """What a heading says, for comparing: no case, width, marks, invisible characters, leading signs."""
    plain = without_invisible(nfkc(without_invisible(heading))).translate(_MARKS).casefold()
    return _without_leading_signs(" ".join(plain.split()))


def json_section(text: str, key: str, aliases: Iterable[str] = ()) -> dict[str, Hashable]:
    """The top-level entries of a JSON object whose key is `key` or an alias: `{key as written: value}`.

    Values are comparable by meaning: order of keys and spelling of numbers do not count; `1` is not `true`.
    Keys are compared by their letters and digits alone, so `accessControl` is `access_control` as well.
    Raises `JsonUnreadable` for all that `strict_json` refuses (a key given twice, NaN, ...).
    """
    wanted = {_json_key(name) for name in (key, *aliases)} - {""}
    try:
        value = loads(text.encode())
    except (ApplicationError, UnicodeEncodeError) as error:
        raise JsonUnreadable(str(error)) from error
    if not isinstance(value, dict):
        raise JsonUnreadable("not an object")
    return {name: _comparable(inner) for name, inner in value.items() if _json_key(name) in wanted}


def _end(heading: Heading, ends: Sequence[Heading], passed: int) -> Heading | None:
    """The first sure heading behind this one, of its level or a higher one; `passed` of them come before."""
    later = (ends[number] for number in range(passed, len(ends)))
    return next((end for end in later if end.start > heading.start and end.level <= heading.level), None)


def _section(text: str, heading: Heading, following: Heading | None, above: Iterable[Heading]) -> Section:
    end = following.start if following else len(text)
    parents = (parent for parent in above if parent.level < heading.level)
    return Section(
        start=heading.start,
        end=end,
        level=heading.level,
        title=heading.text,
        text=text[heading.start : end],
        parents=tuple(f"{parent.level} {name_key(parent.text)}" for parent in parents),
        inside=heading.inside,
        certain=heading.certain,
        is_last=following is None,
    )


def _plain_readings(heading: str) -> set[str]:
    """The heading as written, and with its look-alikes replaced; empty without a letter or digit."""
    plain = html.unescape(_TAG_RE.sub("", heading))
    return {name_key(plain), name_key(skeleton(plain))} - {""}


@lru_cache(maxsize=4096)
def _readings(heading: str) -> frozenset[str]:
    """The plain readings, and the same without a number in front."""
    keys = _plain_readings(heading)
    numbered = ((key, _ORDINAL_RE.match(key)) for key in keys)
    return frozenset(keys | {_without_leading_signs(key[found.end() :]) for key, found in numbered if found})


def _is_named(heading: str, names: Iterable[str]) -> bool:
    return any(_starts_with(key, name) for key in _readings(heading) for name in names)


def _starts_with(text: str, name: str) -> bool:
    """Whether the first words of the text are the name: `L0 x` and `L0：x` for `L0`, not `L01`.

    Chinese has no gaps between words, so behind a Chinese name anything may follow.
    """
    if not text.startswith(name):
        return False
    following = text[len(name) : len(name) + 1]
    return not following.isalnum() or any(_CJK_RE.match(char) for char in (following, name[-1]))


def _without_leading_signs(text: str) -> str:
    return _LEADING_SIGNS_RE.sub("", text, count=1) if _LEADING_SIGNS_RE.match(text) else text


def _json_key(name: str) -> str:
    return "".join(char for char in skeleton(name) if char.isalnum())


def _comparable(value: Any) -> Hashable:
    if isinstance(value, dict):
        return "object", frozenset((key, _comparable(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return "array", tuple(_comparable(inner) for inner in value)
    # In Python `1 == True`.
    return "number" if type(value) in (int, float) else type(value).__name__, value

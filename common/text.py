"""Text hygiene: trimming, blankness, lengths, keys of names, hidden characters, and text for prompts.

Everything here is pure, takes and returns `str`, and needs time proportional to the text.
"""

from __future__ import annotations

import hashlib
import re
import string
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

# Pieces of regular-expression character classes. They are spelled out, because `re` knows no Unicode
# properties; a test compares them with the Unicode tables.
HAN = (
    "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
KANA = (
    "\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
    "\U0001b000-\U0001b16f"
)
HANGUL = (
    "\u1100-\u115e\u1161-\u11ff\u3131-\u3163\u3165-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uffa1-\uffdc"
)
#: Letters written without spaces between words: Han, kana, Hangul (punctuation is not among them).
CJK = HAN + KANA + HANGUL

BIDI_CONTROLS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
#: Category Cf, as far as it shows nothing (the Arabic, Kaithi and hieroglyph signs below do show).
_INVISIBLE_FORMAT = (
    "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_VISIBLE_FORMAT = "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001343f"
#: Letters, marks and symbols that show nothing: grapheme joiner, fillers, variation selectors, empty Braille.
_EMPTY = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d159"
_CONTROLS = "\u0000-\u0008\u000b-\u001f\u007f-\u009f"  # without tab and LF
_SURROGATES = "\ud800-\udfff"

_FORMAT_RE = re.compile(f"[{_INVISIBLE_FORMAT}{_VISIBLE_FORMAT}]+")
_NOTHING_VISIBLE_RE = re.compile(rf"[\s{_CONTROLS}{_INVISIBLE_FORMAT}{_VISIBLE_FORMAT}{_EMPTY}]*")
_IGNORED_IN_MARKERS_RE = re.compile(f"[{_CONTROLS}{_INVISIBLE_FORMAT}{_EMPTY}]")
_BIDI_RE = re.compile(f"[{BIDI_CONTROLS}]")
_FORBIDDEN_RE = re.compile(f"[\u0000{_SURROGATES}]")
_CJK_RUN_RE = re.compile(f"[{CJK}]+")

# A joiner between two emoji, and one variation selector behind a symbol, are part of what the reader sees.
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_HIDDEN_RE = re.compile(
    rf"(?P<emoji>(?<=[{_EMOJI}])\ufe0f?\u200d(?=[{_EMOJI}])|(?<=[{_EMOJI}#*0-9])[\ufe0e\ufe0f])"
    rf"|[\t{_CONTROLS}{_INVISIBLE_FORMAT}{_EMPTY}\u2028\u2029{_SURROGATES}]"
)

_MAX_KEY = 400

# Sorting combining marks is quadratic in the length of a run of them (a megabyte of marks takes minutes), so
# runs are cut first; real languages need fewer than ten. Marks are neither word characters nor spaces.
_MAX_MARKS = 30
_LONG_RUN_RE = re.compile(rf"[^\w\s\x00-\x7f]{{{_MAX_MARKS + 1},}}")

_PUNCTUATION = frozenset(string.punctuation)
# Lenient on purpose: any indent, any Unicode space after the marker, and `##x` (a heading in older dialects).
# A single `#` glued to a word is an issue number or a tag, not a heading.
_BLOCK_MARKER_RE = re.compile(r"\s*(?:#+(?=\s|$)|##+|>+|[-+*](?=\s|$)|[0-9]+[.)](?=\s|$)|`{3,}|~{3,})")


_MAX_LEVEL = 6
# As in `contained`, `##x` without a space counts as a heading and `#x` does not.
_ATX_RE = re.compile(r"(?P<indent> {0,3})(?P<marks>#{1,6})(?P<rest>(?:\s.*|(?<=##)[^#].*)?)")
_UNDERLINE_RE = re.compile(r" {0,3}(?:(?P<one>=+)|-+)[ \t]*")
# A thematic break or a comment: a line of its own, whatever stands around it.
_BREAK_RE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|<!--.*-->.*)")
_FENCE_RE = re.compile(r"(?P<indent> {0,3})(?P<marks>`{3,}+(?!.*`)|~{3,}+)")
# What follows one of these up to the next blank line is no paragraph of the document itself.
_CONTAINER_RE = re.compile(r" {0,3}(?:>|[-+*](?:[ \t]|$)|[0-9]{1,9}[.)](?:[ \t]|$))")
_FRONT_MATTER_RE = re.compile(r"[\w.-]+:(?:\s|$)|\s*- ")


def normalise_newlines(text: str) -> str:
    """The text with CRLF and CR turned into LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_blank(text: str) -> bool:
    """Whether nothing visible is left without spaces, control and format characters, and empty letters.

    docs/rules.md: blank text.
    """
    return _NOTHING_VISIBLE_RE.fullmatch(text) is not None


def clean(text: str) -> str:
    """The text as it is stored: LF line ends, Unicode spaces trimmed at both ends, else unchanged."""
    return normalise_newlines(text).strip()


def length(text: str) -> int:
    """Unicode code points of the cleaned text, the one way to count. docs/rules.md: text length."""
    return len(clean(text))


def nfkc(text: str) -> str:
    """NFKC in linear time: of more than 30 combining marks in a row the rest is dropped."""
    return unicodedata.normalize("NFKC", _LONG_RUN_RE.sub(_with_few_marks, text))


def _with_few_marks(run: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for char in run[0]:
        marks = marks + 1 if unicodedata.category(char).startswith("M") else 0
        if marks <= _MAX_MARKS:
            kept.append(char)
    return "".join(kept)


def without_format_characters(text: str) -> str:
    """The text without characters of category Cf (zero-width, joiners, byte-order mark, bidi controls)."""
    return _FORMAT_RE.sub("", text)


def name_key(text: str) -> str:
    """The key by which unique names are compared, at most 400 code points. Idempotent. docs/rules.md: name key."""
    previous, key = None, text
    # Folding can undo the composition and the other way round, so it is repeated until nothing changes.
    while key != previous:
        previous, key = key, " ".join(nfkc(nfkc(key).casefold()).split())
    if len(key) <= _MAX_KEY:
        return key
    # One sign can become 18: a column, and an index of it, could not hold the key of every legal name.
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{key[: _MAX_KEY - len(digest)]}{digest}"


def forbidden_character(text: str) -> str | None:
    """The first NUL or lone surrogate as `U+XXXX` (it cannot be printed itself), or None."""
    found = _FORBIDDEN_RE.search(text)
    return _code_point(found[0]) if found else None


def has_bidi_controls(text: str) -> bool:
    """Whether a bidirectional control character can make the text look different from what it says."""
    return _BIDI_RE.search(text) is not None


def show_hidden(text: str) -> str:
    """The text for a reviewer's eyes: each character that shows nothing as `[U+XXXX]`.

    These are control characters except LF, bidi controls, zero-width and other invisible characters, and lone
    surrogates. Joiners and selectors inside an emoji stay, because they are seen as the emoji.
    """
    return _HIDDEN_RE.sub(lambda found: found[0] if found["emoji"] else f"[{_code_point(found[0])}]", text)


def _code_point(char: str) -> str:
    return f"U+{ord(char):04X}"


def estimated_tokens(text: str) -> int:
    """ceil(CJK letters + other code points / 4), in whole numbers. docs/rules.md: estimated tokens."""
    cjk = sum(len(run) for run in _CJK_RUN_RE.findall(text))
    return (4 * cjk + (len(text) - cjk) + 3) // 4


def contained(text: str) -> str:
    r"""Stored text as the inside of one Markdown list item: it can never start a block of its own.

    Line ends of every kind (LF, CR, VT, FF, FS, GS, RS, NEL, LS, PS) count, blank lines are dropped, later
    lines get two spaces in front; the punctuation of a block marker at a line start is preceded by a
    backslash; bidirectional controls are left out. Nothing else changes. docs/rules.md: contained text.
    """
    # The controls go first: behind them a marker could hide.
    lines = _BIDI_RE.sub("", text).splitlines()
    return "\n  ".join(_without_marker(line) for line in lines if not is_blank(line))


def _without_marker(line: str) -> str:
    # Invisible characters do not hide a marker from a model, so they are skipped when it is looked for.
    end = _marker_end(_IGNORED_IN_MARKERS_RE.sub("", line))
    escaped: list[str] = []
    seen = 0
    for position, char in enumerate(line):
        if seen == end:
            return "".join(escaped) + line[position:]
        if not _IGNORED_IN_MARKERS_RE.match(char):
            seen += 1
        escaped.append(f"\\{char}" if char in _PUNCTUATION else char)
    return "".join(escaped)


def _marker_end(line: str) -> int:
    """Where the block marker at the start of `line` ends, 0 without one; a rule or underline is the line."""
    inked = "".join(line.split())
    is_underline = (
        bool(inked)
        and not inked.strip(inked[0])
        and ((inked[0] in "=-" and inked in line) or (inked[0] in "*-_" and len(inked) >= 3))
    )
    if is_underline:
        return len(line)
    found = _BLOCK_MARKER_RE.match(line)
    return found.end() if found else 0


def cut_at_line(text: str, limit: int) -> str:
    """The whole lines that fit into `limit` code points; a longer first line is cut at the limit."""
    if len(text) <= limit:
        return text
    whole = text[: max(text.rfind("\n", 0, limit + 1), 0)]
    return text[: max(limit, 0)] if is_blank(whole) else whole


@dataclass(frozen=True)
class _Heading:
    """Lines `start` to `end` (exclusive) are one heading; `text` is what follows its marks."""

    start: int
    end: int
    level: int
    indent: str
    text: str


def shift_headings(markdown: str, top_level: int = 3) -> str:
    """Move all headings down by the same number of levels, so that the highest one gets `top_level`.

    Levels end at 6; headings that are deep enough already stay. Code fences are untouched. Setext headings
    become ATX headings. Line ends of every kind come out as LF. docs/rules.md: headings moved down.
    """
    lines = markdown.splitlines()
    headings = list(_headings(lines))
    shift = top_level - min((heading.level for heading in headings), default=top_level)
    final = "\n" if markdown.splitlines(keepends=True)[-1:] != lines[-1:] else ""
    if shift <= 0:
        return "\n".join(lines) + final
    shifted: list[str] = []
    done = 0
    for heading in headings:
        marks = "#" * min(heading.level + shift, _MAX_LEVEL)
        shifted += [*lines[done : heading.start], f"{heading.indent}{marks}{heading.text}"]
        done = heading.end
    return "\n".join([*shifted, *lines[done:]]) + final


def close_fence(markdown: str) -> str:
    """The text with its last code fence closed, so that it cannot swallow what is put behind it."""
    _, missing = fence_mask(markdown.split("\n"))
    return f"{markdown.removesuffix(chr(10))}\n{missing}" if missing else markdown


def fence_mask(lines: list[str]) -> tuple[list[bool], str]:
    """For each line whether it belongs to a code fence (its delimiters too), and the mark that is missing.

    The mark is the text that would close a fence left open at the end, else empty. A heading that stands left
    of an indented fence does not belong to it: there the list item that holds the fence has ended.
    """
    mask: list[bool] = []
    marks = indent = ""
    for line in lines:
        found = _FENCE_RE.match(line)
        if not marks:
            mask.append(found is not None)
            if found:
                marks, indent = found["marks"], found["indent"]
            continue
        escapes = not line.startswith(indent) and _ATX_RE.fullmatch(line) is not None
        mask.append(not escapes)
        stripped = line.strip(" \t")
        if found and set(stripped) == {marks[0]} and len(stripped) >= len(marks):
            marks = ""
    return mask, marks


def _headings(lines: list[str]) -> Iterator[_Heading]:
    mask, _ = fence_mask(lines)
    front_end = _front_matter_end(lines)
    paragraph: int | None = None
    in_container = False
    for number, line in enumerate(lines):
        atx = None if mask[number] else _ATX_RE.fullmatch(line)
        underline = _UNDERLINE_RE.fullmatch(line)
        if atx:
            yield _Heading(number, number + 1, len(atx["marks"]), atx["indent"], atx["rest"])
        elif underline and paragraph is not None and not mask[number]:
            yield _setext(lines, paragraph, number, 1 if underline["one"] else 2)
        elif not (mask[number] or not line.strip() or number <= front_end or _BREAK_RE.fullmatch(line)):
            in_container = in_container or _CONTAINER_RE.match(line) is not None
            if in_container:
                paragraph = None
            elif paragraph is None and not line.startswith(("    ", "\t")):
                paragraph = number
            continue
        paragraph, in_container = None, False


def _setext(lines: list[str], start: int, underline: int, level: int) -> _Heading:
    text = " ".join(line.strip() for line in lines[start:underline])
    indent = lines[start][: len(lines[start]) - len(lines[start].lstrip(" "))]
    return _Heading(start, underline + 1, level, indent, f" {text}")


def _front_matter_end(lines: list[str]) -> int:
    """The last line of YAML front matter (its closing `---` would underline a heading), or -1.

    Only plain keys and list items are taken for it: anything else could be a title in disguise.
    """
    if not lines or lines[0] != "---" or "---" not in lines[1:]:
        return -1
    end = lines.index("---", 1)
    return end if all(_FRONT_MATTER_RE.match(line) for line in lines[1:end]) else -1

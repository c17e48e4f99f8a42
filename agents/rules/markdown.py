"""Where the headings of a Markdown text are, as CommonMark sees them, and how sure that is.

The text is never changed or split up for good: headings are offsets into it, because a comparison must see
each character. The scanner follows CommonMark as far as it decides about headings at the outer level: fences,
front matter, HTML blocks, lists, quotes, indented code, paragraphs. docs/rules.md: headings of a document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

_HARD_LINE_RE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

_SOFT_BREAK_RE = re.compile("[\v\f\x1c-\x1e\x85\u2028\u2029]")

_ATX_RE = re.compile(r" {0,3}(#{1,6})(?:[ \t](.*))?", re.DOTALL)
_GLUED_ATX_RE = re.compile(r" {0,3}(#{1,6})([^#\s].*)", re.DOTALL)
_UNDERLINE_RE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_BREAK_RE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_FENCE_RE = re.compile(r"[ \t]*(`{3,}+(?!.*`)|~{3,}+)", re.DOTALL)
_ANY_FENCE_RE = re.compile(r"(?:`{3,}+[^`]*|~{3,}.*)", re.DOTALL)
# A fence to the eye, wherever it stands; whoever reads the bare text takes it for one.
_LOOSE_FENCE_RE = re.compile(r"[ \t>*+-]*(`{3,}+(?!.*`)|~{3,}+)(.*)", re.DOTALL)
_FENCE_END_RE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*")
# Other numbers cannot start a list in the middle of a paragraph.
_INTERRUPTING = frozenset({"-", "+", "*", "1.", "1)"})
_QUOTE_RE = re.compile(r" {0,3}>")
_ITEM_RE = re.compile(r"[ \t]*(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t]|$)")
# Of a line of thousands of list markers only so many are read (reading all takes quadratic time).
_MAX_MARKERS = 20
_DEFINITION_RE = re.compile(r" {0,3}\[[^\]]+\]:")

_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|iframe|legend|li|"
    "link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|"
    "thead|title|tr|track|ul"
)
_BLANK_LINE_RE = re.compile(r"[ \t]*")
_ATTRIBUTE = r"[ \t]+[a-z_:][\w.:-]*(?:[ \t]*=[ \t]*(?:[^\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?"
_LONE_TAG_RE = re.compile(
    rf" {{0,3}}<(?:[a-z][a-z0-9-]*(?:{_ATTRIBUTE})*[ \t]*/?|/[a-z][a-z0-9-]*[ \t]*)>[ \t]*", re.IGNORECASE
)


def _html(start: str, end: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(rf" {{0,3}}<{start}", re.IGNORECASE), re.compile(end, re.IGNORECASE)


# How a block of HTML starts, and what ends it (within a line, or for the last two kinds a blank line).
_HTML_BLOCKS = (
    _html(r"(?:script|pre|style|textarea)(?:[\s>]|$)", r"</(?:script|pre|style|textarea)>"),
    _html(r"!--", r"-->"),
    _html(r"\?", r"\?>"),
    _html(r"![a-z]", r">"),
    _html(r"!\[CDATA\[", r"\]\]>"),
)
_HTML_BLOCK_TAG_RE = re.compile(rf" {{0,3}}</?(?:{_BLOCK_TAGS})(?:[\s>]|/>|$)", re.IGNORECASE)

# What hides, voids or sets apart all that stands inside it, wherever in a line it starts.
_WRAPPER_RE = re.compile(
    r"(?P<open><!--)|(?P<close>-->)|<(?P<slash>/?)(?P<tag>del|details|noscript|pre|s|script|strike|style|template|"
    r"textarea|xmp)(?=[\s/>])",
    re.IGNORECASE,
)
_COMMENT = "!--"
_LOOSE_FENCE = "```"
_TAG = "<"


@dataclass(frozen=True)
class Heading:
    """One heading: `start` is its offset in the text, `level` 1-6, `text` what it says without its marks.

    `certain` is False where one reader sees a heading and another does not (`#x` without a space, inside a
    block of HTML, a paragraph over a line of hyphens). `inside` names the wrappers open at that place.
    """

    start: int
    level: int
    text: str
    certain: bool = True
    inside: frozenset[str] = frozenset()


def headings(text: str, *, soft_breaks: bool = False) -> list[Heading]:
    """All headings of the text outside code fences and front matter, in order.

    LF, CR LF and CR end a line; with `soft_breaks` so do the other line ends of Unicode (VT, FF, NEL, U+2028,
    ...), at which some programs break a text as well.
    """
    lines = text.splitlines(keepends=True) if soft_breaks else _HARD_LINE_RE.findall(text)
    scanner = _Scanner(text)
    start = 0
    front_matter = _front_matter_length(lines)
    for number, line in enumerate(lines):
        if number >= front_matter:
            scanner.read(start, "".join(line.splitlines()) if soft_breaks else line.rstrip("\r\n"))
        start += len(line)
    scanner.close(start)
    found = sorted(scanner.found, key=lambda heading: (heading.start, not heading.certain))
    return list(_with_wrappers(text, found, scanner.fenced))


def has_soft_breaks(text: str) -> bool:
    """Whether `soft_breaks` can make a difference for this text."""
    return _SOFT_BREAK_RE.search(text) is not None


def _front_matter_length(lines: Sequence[str]) -> int:
    """How many lines are YAML front matter, 0 without one. It starts in the first line and must be closed."""
    if not lines or lines[0].removeprefix("\ufeff").rstrip() != "---":
        return 0
    closing = (number for number, line in enumerate(lines) if number and line.rstrip() in ("---", "..."))
    return next(closing, -1) + 1


@dataclass
class _Paragraph:
    start: int
    apart: bool  # a blank line or nothing stands before it
    in_container: bool
    lines: int = 1


@dataclass
class _Fence:
    marks: str
    start: int
    column: int  # where the list item that holds it has its text, 0 outside lists


@dataclass
class _Scanner:
    """Reads line by line, keeping what CommonMark needs to know about the lines before."""

    text: str
    found: list[Heading] = field(default_factory=list)
    fenced: list[tuple[int, int]] = field(default_factory=list)
    fence: _Fence | None = None
    html_end: re.Pattern[str] | None = None
    paragraph: _Paragraph | None = None
    # Text in a list item or quote goes on in the next line, though that has no marker ("lazy continuation").
    lazy: bool = False
    after_blank: bool = True
    items: list[int] = field(default_factory=list)  # columns at which the text of the open list items starts
    empty_item: bool = False  # the line before is a list marker alone; a blank line would end the item
    loose_fence: str = ""
    # A line that starts with a tag can turn what follows, up to a blank line, into raw HTML.
    under_tag: bool = False

    def read(self, start: int, line: str) -> None:
        self._look_for_loose_fence(line)
        if self.fence and self._goes_on_in_fence(start, line):
            return
        blank = _BLANK_LINE_RE.fullmatch(line) is not None
        self.under_tag = not blank and (self.under_tag or line.lstrip(" \t").startswith("<"))
        if self.html_end:
            self._read_html(start, line)
        elif blank:
            self.paragraph, self.lazy = None, False
            if self.empty_item and self.items:
                self.items.pop()
        else:
            self._read_block(start, line)
        self.after_blank = blank

    def _look_for_loose_fence(self, line: str) -> None:
        found = _LOOSE_FENCE_RE.match(line)
        if found and not self.loose_fence:
            self.loose_fence = found[1]
        elif found and found[1].startswith(self.loose_fence) and not found[2].strip():
            self.loose_fence = ""

    def _add(self, start: int, level: int, text: str, *, certain: bool) -> None:
        inside = {name for name, holds in ((_LOOSE_FENCE, self.loose_fence), (_TAG, self.under_tag)) if holds}
        self.found.append(Heading(start, level, text, certain, frozenset(inside)))

    def close(self, end: int) -> None:
        if self.fence:
            self.fenced.append((self.fence.start, end))

    def _goes_on_in_fence(self, start: int, line: str) -> bool:
        fence = self.fence
        assert fence is not None
        if line.strip() and _indent(line) < fence.column:
            # The list item has ended and took its fence along: this line is an ordinary one.
            self.fenced.append((fence.start, start))
            self.fence = None
            return False
        end = _FENCE_END_RE.fullmatch(line)
        if end and end[1].startswith(fence.marks) and _indent(line) - fence.column < 4:
            self.fenced.append((fence.start, start + len(line)))
            self.fence, self.after_blank = None, False
        return True

    def _read_html(self, start: int, line: str) -> None:
        self._add_atx(start, line, certain=False)
        assert self.html_end is not None
        ends = self.html_end.fullmatch if self.html_end is _BLANK_LINE_RE else self.html_end.search
        if ends(line):
            self.html_end = None

    def _read_block(self, start: int, line: str) -> None:
        self.empty_item = False
        indent = _indent(line)
        open_items = self.items
        self.items = [column for column in open_items if column <= indent]
        outdented = line.lstrip(" \t") if self.items and indent - self._column() < 4 else line
        is_block = (
            self._add_atx(start, outdented, certain=not self.items)
            or self._add_setext(start, line)
            or _BREAK_RE.fullmatch(line) is not None
            or self._open_fence(start, line)
            or self._open_html(line)
        )
        if is_block:
            self.paragraph, self.lazy = None, False
        elif not self._open_container(start, line):
            self._add_text(start, line, indent)
            if self.paragraph and self.paragraph.in_container:
                self.items = open_items  # the text of a list item goes on, wherever the line starts

    def _add_atx(self, start: int, line: str, *, certain: bool) -> bool:
        """Take note of an ATX heading; True if the line is one (`#x` is text, but may be meant as one)."""
        found = _ATX_RE.fullmatch(line)
        atx = found or _GLUED_ATX_RE.fullmatch(line)
        if atx:
            text = _without_closing(atx[2] or "")
            self._add(start, len(atx[1]), text, certain=certain and found is not None)
        return found is not None

    def _add_setext(self, start: int, line: str) -> bool:
        underline = _UNDERLINE_RE.fullmatch(line)
        if not underline or not self.paragraph:
            return False
        text = " ".join(self.text[self.paragraph.start : start].split())
        is_level_one = underline[1].startswith("=")
        # Hyphens under running text are meant as a line across the page more often than as an underline.
        stands_alone = self.paragraph.apart and self.paragraph.lines == 1
        certain = (is_level_one or stands_alone) and not self.paragraph.in_container
        self._add(self.paragraph.start, 1 if is_level_one else 2, text, certain=certain)
        return not self.paragraph.in_container  # there it is most often text that goes on, or a line across

    def _open_fence(self, start: int, line: str) -> bool:
        column = self.items[-1] if self.items else 0
        found = _FENCE_RE.match(line)
        if found is None or _indent(line) - column > 3:
            return False
        self.fence = _Fence(found[1], start, column)
        return True

    def _open_html(self, line: str) -> bool:
        end = _html_end(line, may_be_lone=not self.paragraph and not self.lazy)
        ends_at_once = end not in (None, _BLANK_LINE_RE) and end.search(line, line.index("<") + 1)
        self.html_end = None if ends_at_once else end
        return end is not None

    def _open_container(self, start: int, line: str) -> bool:
        """A quote, or one or more list markers in a row, perhaps with a fence right behind them."""
        at = 0
        for _level in range(_MAX_MARKERS):
            item = _ITEM_RE.match(line, at)
            if item is None or _indent(line[at:]) - (0 if at else self._column()) > 3:
                break
            may_interrupt = line[: item.end()].strip() in _INTERRUPTING and item.end() < len(line)
            if self._in_text() and not may_interrupt:
                return False
            gap = _indent(line[item.end() :])
            is_code_or_empty = gap > 4 or not line[item.end() :].strip()
            self.items.append(_width(line[: item.end()]) + (1 if is_code_or_empty else gap))
            at = item.end()
            self.paragraph = None
        if not at and not _QUOTE_RE.match(line):
            return False
        self.paragraph = None
        inner = line[at:].lstrip(" \t>")
        fence = _FENCE_RE.match(line, at) if at else None
        if fence:
            self.fence = _Fence(fence[1], start, self.items[-1])
        is_text = not any(block.fullmatch(inner) for block in (_ATX_RE, _BREAK_RE, _ANY_FENCE_RE))
        self.lazy = bool(inner) and is_text and _html_end(inner, may_be_lone=True) is None
        self.empty_item = not inner
        return True

    def _in_text(self) -> bool:
        return self.paragraph is not None and not self.paragraph.in_container

    def _column(self) -> int:
        return self.items[-1] if self.items else 0

    def _add_text(self, start: int, line: str, indent: int) -> None:
        if self.paragraph:
            self.paragraph.lines += 1
        elif self.lazy:
            self.paragraph = _Paragraph(start, apart=False, in_container=True)
        elif indent - self._column() < 4 and not _DEFINITION_RE.match(line):
            self.paragraph = _Paragraph(start, self.after_blank, in_container=bool(self.items))


def _html_end(line: str, *, may_be_lone: bool) -> re.Pattern[str] | None:
    """What ends the block of HTML that this line starts; None if it starts none."""
    for start, end in _HTML_BLOCKS:
        if start.match(line):
            return end
    starts = _HTML_BLOCK_TAG_RE.match(line) or (may_be_lone and _LONE_TAG_RE.fullmatch(line))
    return _BLANK_LINE_RE if starts else None


def _indent(line: str) -> int:
    return _width(line[: len(line) - len(line.lstrip(" \t"))])


def _width(text: str) -> int:
    return len(text.expandtabs(4))


def _without_closing(text: str) -> str:
    """The text of an ATX heading without the optional `#` marks at its end."""
    text = text.strip(" \t")
    bare = text.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare.endswith((" ", "\t")) else text


def _with_wrappers(text: str, found: list[Heading], fenced: list[tuple[int, int]]) -> Iterator[Heading]:
    """The headings with the names of the wrappers that are open where they start."""
    changes = _wrapper_changes(text, fenced)
    change = next(changes, None)
    inside: frozenset[str] = frozenset()
    for heading in found:
        while change and change[0] <= heading.start:
            inside = change[1]
            change = next(changes, None)
        yield replace(heading, inside=heading.inside | inside) if inside else heading


def _wrapper_changes(text: str, fenced: list[tuple[int, int]]) -> Iterator[tuple[int, frozenset[str]]]:
    depth: dict[str, int] = {}
    fences = iter([*fenced, (len(text) + 1, len(text) + 1)])
    fence = next(fences)
    for found in _WRAPPER_RE.finditer(text):
        while found.start() >= fence[1]:
            fence = next(fences)
        if found.start() >= fence[0] or (depth.get(_COMMENT) and not found["close"]):
            continue
        name = (found["tag"] or _COMMENT).casefold()
        closes = bool(found["close"] or found["slash"])
        # A comment is open or not; tags nest.
        depth[name] = 0 if found["close"] else max(0, depth.get(name, 0) + (-1 if closes else 1))
        yield found.start(), frozenset(name for name, count in depth.items() if count)

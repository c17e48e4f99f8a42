"""Front matter of Markdown files, read leniently: strictly where it is valid YAML, else entry by entry.

Real files often hold `description: Phase 1: text` or `globs: **/*`, which is not YAML. Such a value is taken
as if it were quoted, and the caller gets a warning with the line.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError
from common.file_reading import unreadable
from common.safe_yaml import load_yaml

#: Larger blocks are refused: the entry-by-entry reading costs about 0.1 ms a line.
MAX_FRONT_MATTER_BYTES = 64 * 1024
_MAX_NESTED = 8

_RULE = re.compile(r"---[ \t]*")
_END = re.compile(r"(?:---|\.\.\.)[ \t]*")
# A full-width colon counts after an ASCII word only: in Chinese prose it is ordinary punctuation.
_KEY = re.compile(
    r"""(?P<key>[^\s:#\-\[{'"&*!|>%@`][^:]*|"[^"]+"|'[^']+'):(?P<rest>.*)"""
    r"""|(?P<word>[A-Za-z_][A-Za-z0-9_-]*)[ ]?：(?P<tail>.*)"""
)
_LIST_ITEM = re.compile(r"-(?:[ \t]+(?P<text>.*))?")
_BLOCK_SCALAR = re.compile(r"[|>][+\-0-9]*[ \t]*(?:#.*)?")
_INDENT = re.compile(r"^[ \t]+")
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")


@dataclass(frozen=True)
class FrontMatterWarning:
    """Something that was read differently from how it is written; `line` is 1-based in the whole text."""

    line: int
    message: str


@dataclass
class FrontMatter:
    """`meta` of the block, `body` after it (line ends LF), and the 1-based line where the body starts."""

    meta: dict[str, Any] = field(default_factory=dict)
    body: str = ""
    warnings: list[FrontMatterWarning] = field(default_factory=list)
    body_line: int = 1
    #: False when the text has no (closed) front matter, so that `body` is the whole text.
    found: bool = False


@dataclass
class _Entry:
    """One key of a mapping with its lines (value on the key's line, and what is indented below it)."""

    line: int
    key: str
    rest: str
    lines: list[str]


class _NotFrontMatterError(Exception):
    """The block between two rules is prose."""


def split_front_matter(text: str) -> FrontMatter:
    """Splits `text` into front matter and body; fails only on a front matter that is too large.

    A BOM is dropped and CRLF and CR become LF. The block starts in the first line and ends at the first line
    `---` (or `...`); later rules belong to the body. A block that is never closed or that is prose leaves the
    whole text as body, with a warning (docs/rules.md: Front matter).
    Errors: `VALIDATION_ERROR` for a block of more than `MAX_FRONT_MATTER_BYTES`.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not _RULE.fullmatch(lines[0]):
        return FrontMatter(body=text)
    end = next((number for number, line in enumerate(lines[1:], 1) if _END.fullmatch(line)), None)
    if end is None:
        return _no_front_matter(text, 1, _("the front matter is not closed; all was taken as text"))
    block = "\n".join(lines[1:end])
    try:
        meta, warnings = _read_block(block, 2)
    except _NotFrontMatterError:
        return _no_front_matter(text, 1, _("no front matter between the first two ---; taken as text"))
    return FrontMatter(meta, "\n".join(lines[end + 1 :]), warnings, end + 2, found=True)


def read_mapping(block: str, *, first_line: int = 1) -> tuple[dict[str, Any], list[FrontMatterWarning]]:
    """A YAML mapping, read leniently; `first_line` is where `block` starts in its file.

    Errors: `VALIDATION_ERROR` for too large a block and for a text that is no mapping.
    """
    try:
        return _read_block(block, first_line)
    except _NotFrontMatterError:
        raise unreadable(first_line, _("not a list of “key: value” lines")) from None


def _read_block(block: str, first_line: int) -> tuple[dict[str, Any], list[FrontMatterWarning]]:
    actual = len(block.encode("utf-8", "surrogatepass"))
    if actual > MAX_FRONT_MATTER_BYTES:
        reason = _(
            "the front matter is too large: limit %(limit)d bytes, actual %(actual)d, remove %(excess)d"
        ) % {
            "limit": MAX_FRONT_MATTER_BYTES,
            "actual": actual,
            "excess": actual - MAX_FRONT_MATTER_BYTES,
        }
        raise unreadable(first_line, reason)
    try:
        value = load_yaml(block)
    except ApplicationError:
        value = ""
    if not block.strip():
        return {}, []
    if isinstance(value, dict):
        return value, []
    reader = _LenientReader()
    meta = reader.mapping(block.split("\n"), first_line, depth=1)
    return meta, reader.warnings


def _no_front_matter(text: str, line: int, message: Any) -> FrontMatter:
    return FrontMatter(body=text, warnings=[FrontMatterWarning(line, str(message))])


class _LenientReader:
    """Reads each entry as YAML of its own, and an entry that is not YAML as quoted text."""

    def __init__(self) -> None:
        self.warnings: list[FrontMatterWarning] = []

    def mapping(self, lines: list[str], first_line: int, depth: int) -> dict[str, Any]:
        meta: dict[str, Any] = {}
        for entry in self._entries(_dedented(lines), first_line):
            for key, value in self._entry(entry, depth).items():
                if key in meta:
                    self._warn(entry.line, _("the key “%s” occurs again; the first one counts") % key)
                meta.setdefault(key, value)
        return meta

    def _entries(self, lines: list[str], first_line: int) -> list[_Entry]:
        entries: list[_Entry] = []
        after_blank = False
        for number, line in enumerate(lines, first_line):
            below = line[:1] in ("", " ", "\t") or bool(_LIST_ITEM.fullmatch(line))
            if match := _KEY.fullmatch(line):
                key = (match["key"] or match["word"]).strip().strip("\"'")
                entries.append(_Entry(number, key, (match["rest"] or match["tail"] or "").strip(), [line]))
            elif line.startswith("#"):
                line = ""  # kept as an empty line, so that the lines below keep their numbers
            elif line.strip() and (not entries or (after_blank and not below)):
                raise _NotFrontMatterError
            elif not below:
                self._warn(number, _("this line was joined to the value of “%s” above it") % entries[-1].key)
                line = "  " + line
            if not match and entries:
                entries[-1].lines.append(line)
            after_blank = not line.strip()
        if not entries:
            raise _NotFrontMatterError
        return entries

    def _entry(self, entry: _Entry, depth: int) -> dict[str, Any]:
        try:
            value = load_yaml("\n".join(entry.lines))
        except ApplicationError:
            value = None
        return value if isinstance(value, dict) else {entry.key: self._recovered(entry, depth)}

    def _recovered(self, entry: _Entry, depth: int) -> Any:
        key, below = entry.key, entry.lines[1:]
        if _BLOCK_SCALAR.fullmatch(entry.rest):
            self._warn(entry.line, _("the lines of “%s” are not valid YAML; taken as they are") % key)
            return "\n".join(_dedented(below)).strip("\n")
        if _without_comment(entry.rest) or not any(line.strip() for line in below):
            return self._quoted(key, [entry.rest, *below], entry.line)
        return self._nested(key, below, entry.line + 1, depth)

    def _nested(self, key: str, lines: list[str], first_line: int, depth: int) -> Any:
        """What stands below `key:`; a list, a mapping, or else text."""
        lines = _dedented(lines)
        filled = [(number, line) for number, line in enumerate(lines, first_line) if line.strip()]
        if all(_LIST_ITEM.fullmatch(line) for _number, line in filled):
            return [self._item(key, line, number) for number, line in filled]
        if depth < _MAX_NESTED:
            try:
                return self.mapping(lines, first_line, depth + 1)
            except _NotFrontMatterError:
                pass
        return self._quoted(key, lines, first_line)

    def _item(self, key: str, line: str, number: int) -> Any:
        try:
            return load_yaml(line)[0]
        except ApplicationError:
            return self._quoted(key, [line[1:]], number)

    def _quoted(self, key: str, lines: list[str], number: int) -> str:
        self._warn(number, _("the value of “%s” is not valid YAML; taken as if quoted") % key)
        text = " ".join(part for part in (_without_comment(line.strip()) for line in lines) if part)
        if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
            return text[1:-1]
        return text

    def _warn(self, line: int, message: Any) -> None:
        self.warnings.append(FrontMatterWarning(line, str(message)))


def _dedented(lines: list[str]) -> list[str]:
    spaced = (_INDENT.sub(lambda match: match[0].expandtabs(2), line) for line in lines)
    return textwrap.dedent("\n".join(spaced)).split("\n")


def _without_comment(text: str) -> str:
    return _COMMENT.sub("", text).rstrip()

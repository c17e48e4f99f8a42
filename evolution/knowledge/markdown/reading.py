"""Reads `k-NNN.md`: front matter, or a title with `## ID: k-026` below it. docs/rules.md: knowledge files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.translation import gettext as _

from common.front_matter import split_front_matter
from common.text import clean, normalise_newlines
from evolution.knowledge.markdown.sections import split_sections
from evolution.knowledge.rules.confidence import rounded
from evolution.knowledge.rules.records import KnowledgeRecord
from evolution.knowledge.rules.values import LIMITS, knowledge_number, shortened

_TITLE_RE = re.compile(r"#[ \t]+(?P<text>\S.*)")
_HEADER_RE = re.compile(
    r"#{2,4}[ \t]*(?P<key>id|title|category|tags|created|confidence|references|status)[ \t]*[:：](?P<value>.*)",
    re.IGNORECASE,
)
_CODE_RE = re.compile(r"(?<![\w-])k-[0-9]{3,18}(?![\w-])", re.IGNORECASE)
_FENCE_RE = re.compile(r"[ \t]*(?P<marks>`{3,}|~{3,})(?P<info>[^`]*)")
_DATE_RE = re.compile(r"([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})(?![0-9])")


def is_knowledge_file(text: str) -> bool:
    """Whether a text is meant as an item: its header names an id of knowledge, or a category and a confidence."""
    meta, _lines = _header(text)
    code = meta.get("id")
    return bool(isinstance(code, str) and knowledge_number(code)) or {"category", "confidence"} <= set(meta)


def read_knowledge(text: str) -> KnowledgeRecord:
    """The record of a file; what is odd and could be read all the same is a warning.

    Without a summary the first paragraph that is no heading is one. Values may hold colons and commas. Limits and
    categories are those of `rules.values`, which the import asks.
    """
    meta, lines = _header(text)
    record = KnowledgeRecord(
        number=knowledge_number(_line(meta.get("id"))),
        title=_line(meta.get("title")),
        category=_line(meta.get("category")).casefold(),
        tags=_list(meta.get("tags")),
        references=_list(meta.get("references")),
        created=_day(meta.get("created")),
        is_deprecated=_line(meta.get("status")).casefold() == "deprecated",
    )
    _read_confidence(record, meta.get("confidence"))
    intro, sections = split_sections(lines)
    record.title = _cut(record, "title", record.title or _title_of(intro))
    intro = [line for line in intro if not _is_title(line, record.title)]
    record.code_example, record.code_language = _code(sections.get("code", []))
    record.details = "\n\n".join(filter(None, [_trimmed(intro), _trimmed(sections.get("details", []))]))
    summary = _trimmed(sections.get("summary", [])) or _first_paragraph(record.details)
    record.summary = _cut(record, "summary", summary)
    for line in sections.get("related", []):
        record.related |= {number: "" for number in map(_number, _CODE_RE.findall(line)) if number}
    return record


def _header(text: str) -> tuple[dict[str, Any], list[str]]:
    """The fields of the header by name, and the lines behind it."""
    found = split_front_matter(text)
    if found.found:
        return {str(key).casefold(): value for key, value in found.meta.items()}, found.body.split("\n")
    meta: dict[str, Any] = {}
    lines = normalise_newlines(found.body).split("\n")
    for place, line in enumerate(lines):
        title, header = _TITLE_RE.fullmatch(line), _HEADER_RE.fullmatch(line)
        if header:
            meta.setdefault(header["key"].casefold(), header["value"].strip())
        elif title and "title" not in meta:
            meta["title"] = title["text"].strip()
        elif line.strip():
            return meta, lines[place:]
    return meta, []


def _read_confidence(record: KnowledgeRecord, value: Any) -> None:
    try:
        number = Decimal(_line(value))
        is_share = number.is_finite() and 0 <= number <= 1
    except InvalidOperation:
        is_share = False
    if is_share:
        record.confidence = rounded(number)
    else:
        told = {"value": _line(value)[:40], "default": record.confidence}
        record.warnings.append(_("confidence “%(value)s” is no number from 0 to 1; %(default)s taken") % told)


def _cut(record: KnowledgeRecord, name: str, text: str) -> str:
    if len(text) > LIMITS[name]:
        record.warnings.append(
            _("%(name)s cut to %(limit)d characters") % {"name": name, "limit": LIMITS[name]}
        )
    return shortened(text, LIMITS[name])


def _line(value: Any) -> str:
    """A scalar on one line; nothing for null, lists and mappings."""
    if value is None or isinstance(value, list | dict):
        return ""
    return " ".join(clean(str(value)).split())


def _list(value: Any) -> list[str]:
    """A list, or a text with commas. `a: b` in a list is a text and no mapping."""
    if isinstance(value, list):
        return [text for text in map(_entry, value) if text]
    text = _line(value)
    text = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    return [part for part in (part.strip() for part in re.split("[,，]", text)) if part]


def _entry(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_line(item)}" for key, item in value.items())
    return _line(value)


def _day(value: Any) -> date | None:
    found = _DATE_RE.match(_line(value))
    try:
        return date(int(found[1]), int(found[2]), int(found[3])) if found else None
    except ValueError:
        return None


def _number(code: str) -> int | None:
    return knowledge_number(code)


def _title_of(lines: list[str]) -> str:
    found = (_TITLE_RE.fullmatch(line) for line in lines)
    return next((_line(match["text"]) for match in found if match), "")


def _is_title(line: str, title: str) -> bool:
    found = _TITLE_RE.fullmatch(line)
    return bool(found and _line(found["text"]) == title)


def _trimmed(lines: list[str]) -> str:
    return clean("\n".join(lines))


def _code(lines: list[str]) -> tuple[str, str]:
    """The code and its language: of the one fenced block, else all lines and the language of the first block."""
    text = "\n".join(lines).strip("\n").rstrip()
    rows = text.split("\n")
    opening = next((match for match in map(_FENCE_RE.fullmatch, rows) if match), None)
    language = opening["info"].strip() if opening else ""
    first = _FENCE_RE.fullmatch(rows[0])
    if first is None or not rows[1:]:
        return text, language
    closing = [place for place, line in enumerate(rows[1:], 1) if _closes(line, first["marks"])]
    if closing != [len(rows) - 1]:
        return text, language
    return "\n".join(rows[1:-1]).strip("\n").rstrip(), language


def _closes(line: str, marks: str) -> bool:
    stripped = line.strip()
    return len(stripped) >= len(marks) and set(stripped) == {marks[0]}


def _first_paragraph(text: str) -> str:
    return next(
        (part for part in _paragraphs(text) if not part.startswith("#") and not _FENCE_RE.match(part)), ""
    )


def _paragraphs(text: str) -> Iterator[str]:
    for part in re.split(r"\n[ \t]*\n", text):
        lines = [line for line in part.strip().split("\n") if not line.lstrip().startswith("#")]
        if part.strip():
            yield " ".join(line.strip() for line in lines) or "#"

"""Reads `EXP-*.md`, leniently: every file gives a record, and the record says what was odd.

docs/rules.md: lesson files.
"""

from __future__ import annotations

import re

from common.front_matter import split_front_matter
from common.text import cut_at_line, is_blank, normalise_newlines
from evolution.lessons.markdown.fields import as_number, extras, fill
from evolution.lessons.markdown.sections import split_sections
from evolution.lessons.markdown.writing import single_line
from evolution.lessons.rules.kinds import MAX_CHECK, MAX_PART, MAX_TAKEAWAY, lesson_codes, lesson_number
from evolution.lessons.rules.records import Check, LessonRecord

_NAME_RE = re.compile(r"(EXP-[0-9]{3,18})(?![0-9])", re.IGNORECASE)
_QUOTE_RE = re.compile(r"[ \t]{0,3}>[ \t]?(?P<text>.*)")
_ITEM_RE = re.compile(
    r"[ \t]{0,3}(?:[-*+]|[0-9]{1,3}[.)])(?:[ \t]+\[(?P<box>[ xX✓✔])\](?=[ \t]|$))?(?:[ \t]+(?P<text>.*)|[ \t]*)"
)


def read_lesson(text: str, name: str = "") -> LessonRecord:
    """The record of a lesson file; `name` is the file's name, which gives the number when `id` does not.

    `warnings` are codes such as `missing:severity`, `unknown:type:x`, `cut:title`, or `line 3: ...` from the
    front matter. Errors: VALIDATION_ERROR for a front matter that is too large.
    """
    matter = split_front_matter(text)
    record = LessonRecord(number=as_number(matter.meta.get("id")) or number_in_name(name))
    record.warnings += [f"line {warning.line}: {warning.message}" for warning in matter.warnings]
    fill(record, matter.meta)
    record.extras = extras(matter.meta)
    intro, sections = split_sections(normalise_newlines(matter.body))
    what = "\n\n".join(part for part in (intro, sections.get("what", "")) if part)
    record.what = _limited(record, "what", what)
    record.when = _limited(record, "when", sections.get("when", ""))
    record.how = _limited(record, "how", sections.get("how", ""))
    record.takeaway = _takeaway(record, sections.get("takeaway", ""))
    record.checklist = _checklist(record, sections.get("checklist", ""))
    related = sections.get("related", "")
    record.related = [number for code in lesson_codes(related) if (number := lesson_number(code))]
    if not record.title:
        record.warnings.append("missing:title")
        record.title = record.code
    for part in ("what", "when", "how"):
        if is_blank(getattr(record, part)):
            record.warnings.append(f"missing:{part}")
    return record


def number_in_name(name: str) -> int | None:
    """The number in a file name such as `EXP-018-host-prompt-slim.md`, or None."""
    found = _NAME_RE.match(name.replace("\\", "/").rpartition("/")[2])
    return lesson_number(found[1].upper()) if found else None


def _limited(record: LessonRecord, name: str, text: str) -> str:
    if len(text) <= MAX_PART:
        return text
    record.warnings.append(f"cut:{name}")
    return cut_at_line(text, MAX_PART).strip()


def _takeaway(record: LessonRecord, section: str) -> str:
    """The first quote of the section; text around it is kept in the extras. Without a quote the whole text."""
    quote: list[str] = []
    others: list[str] = []
    is_over = False
    for line in section.split("\n"):
        found = _QUOTE_RE.fullmatch(line)
        if found and not is_over:
            quote.append(found["text"])
        else:
            is_over = bool(quote)
            others.append(line)
    text, rest = "\n".join(quote).strip(), "\n".join(others).strip()
    if not text:
        text, rest = rest, ""
    if rest:
        record.extras["lesson_notes"] = rest
    if not text:
        record.warnings.append("missing:key_lesson")
    if len(text) > MAX_TAKEAWAY:
        record.warnings.append("cut:takeaway")
        text = cut_at_line(text, MAX_TAKEAWAY).strip()
    return text


def _checklist(record: LessonRecord, section: str) -> list[Check]:
    items: list[tuple[list[str], bool]] = []
    for line in section.split("\n"):
        if found := _ITEM_RE.fullmatch(line):
            items.append(([found["text"] or ""], found["box"] not in (None, " ")))
        elif items and line.strip():
            items[-1][0].append(line)
    checks = [Check(single_line("\n".join(lines)), done) for lines, done in items]
    kept = [check for check in checks if check.text]
    if any(len(check.text) > MAX_CHECK for check in kept):
        record.warnings.append("cut:checklist")
    return [
        check if len(check.text) <= MAX_CHECK else Check(f"{check.text[: MAX_CHECK - 1]}…", check.done)
        for check in kept
    ]

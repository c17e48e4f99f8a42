"""Writes `EXP-*.md`. The same record gives the same bytes. docs/rules.md: lesson files."""

from __future__ import annotations

from collections.abc import Iterable

from common.text import clean
from common.yaml_writing import entry, flow_list, scalar
from evolution.lessons.markdown.sections import HEADINGS, escaped
from evolution.lessons.rules.kinds import Status, lesson_code
from evolution.lessons.rules.records import Check, LessonRecord

FOLDER = ".agent/experiences"
NONE_RELATED = "- (无)"

#: Keys of the front matter that are fields; all others are extras.
FIELDS = (
    "id",
    "title",
    "type",
    "severity",
    "category",
    "date",
    "trigger",
    "tags",
    "related_files",
    "supersedes",
    "superseded_by",
    "expires",
    "signal",
    "model",
    "config_hash",
    "status",
    "references",
)


def lesson_path(number: int) -> str:
    """Where the lesson stands in an agent's folder."""
    return f"{FOLDER}/{lesson_code(number)}.md"


def write_lesson(record: LessonRecord) -> str:
    """The file of a lesson, with LF line ends and one at the end. docs/rules.md: lesson files."""
    sections = [
        _section("what", escaped(record.what)),
        _section("when", escaped(record.when)),
        _section("how", escaped(record.how)),
        _section("takeaway", _quote(record.takeaway)),
        _section("checklist", "\n".join(map(_check, filter(_is_filled, record.checklist)))),
        _section(
            "related", "\n".join(f"- {lesson_code(number)}" for number in record.related) or NONE_RELATED
        ),
    ]
    return "\n\n".join(["\n".join(["---", *_front_matter(record), "---"]), *sections]) + "\n"


def template() -> str:
    """The empty form, to be filled in by hand."""
    heading = HEADINGS["checklist"]
    return write_lesson(LessonRecord()).replace(heading, f"{heading}\n\n- [ ] \n- [ ] \n- [ ] ")


def single_line(text: str) -> str:
    """The text of a checklist item on one line; a break between two CJK characters leaves no space."""
    joined = ""
    for line in filter(None, (line.strip() for line in text.split("\n"))):
        is_tight = bool(joined) and _is_wide(joined[-1]) and _is_wide(line[0])
        joined += line if is_tight or not joined else f" {line}"
    return joined


def _front_matter(record: LessonRecord) -> list[str]:
    lines = [
        f"id: {record.code or 'EXP-NNN'}",
        f"title: {scalar(_on_one_line(record.title))}",
        f"type: {scalar(record.type)}",
        f"severity: {scalar(record.severity)}",
        f"category: {scalar(record.category)}",
        f"date: {record.date.isoformat() if record.date else 'YYYY-MM-DD'}",
        f"trigger: {scalar(_on_one_line(record.trigger))}",
        f"tags: {flow_list(_texts(map(_on_one_line, record.tags)))}",
        entry("related_files", _texts(record.related_files)),
        f"supersedes: {_code_or_null(record.supersedes)}",
        f"superseded_by: {_code_or_null(record.superseded_by)}",
        f"expires: {record.expires_on.isoformat() if record.expires_on else 'null'}",
    ]
    optional = {"signal": record.signal, "model": record.model, "config_hash": record.config_hash}
    lines += [entry(key, clean(value)) for key, value in optional.items() if clean(value)]
    implied = Status.SUPERSEDED if record.superseded_by else Status.ACTIVE
    if record.status != implied:
        lines.append(f"status: {scalar(record.status)}")
    if references := _texts(record.references):
        lines.append(entry("references", references))
    lines += [entry(key, value) for key, value in record.extras.items() if key not in FIELDS]
    return lines


def _on_one_line(text: str) -> str:
    return " ".join(clean(text).split("\n"))


def _texts(values: Iterable[str]) -> list[str]:
    return [text for text in map(clean, values) if text]


def _code_or_null(number: int | None) -> str:
    return lesson_code(number) if number else "null"


def _section(name: str, text: str) -> str:
    return f"{HEADINGS[name]}\n\n{text}" if text else HEADINGS[name]


def _quote(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n")) if text else ""


def _check(check: Check) -> str:
    return f"- [{'x' if check.done else ' '}] {single_line(check.text)}"


def _is_filled(check: Check) -> bool:
    return bool(single_line(check.text))


def _is_wide(char: str) -> bool:
    return "\u2e80" <= char <= "\u9fff" or "\uff00" <= char <= "\uffef"

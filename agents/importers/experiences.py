"""Experience rows as CSV tables and Markdown lists, in both directions."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from django.utils.translation import gettext_lazy as _

from agents.importers.table import TableFault, column_of, read_table
from common.csv_cells import escape_cell
from common.errors import ApplicationError
from common.front_matter import split_front_matter
from common.text import is_blank
from experiences.rules import RowInput, checked_content, in_wanted_order

COLUMNS = ("content", "enabled", "sort_order")
_CONTENT = ("content", "内容", "经验")
_ENABLED = ("enabled", "启用")
_ORDER = ("sort_order", "排序", "order")

_ON = frozenset({"", "true", "1", "yes", "y", "on", "x", "是", "启用", "开", "真"})
_OFF = frozenset({"false", "0", "no", "n", "off", "否", "停用", "禁用", "关", "假"})

_BULLET = re.compile(r" {0,3}[-*+](?P<gap>[ \t]+)(?:\[(?P<box>[ xX])\](?:[ \t]+|$))?(?P<text>.*)")
_HEADING_OR_RULE = re.compile(r" {0,3}(?:#{1,6}(?:\s.*)?|-{3,}\s*|\*{3,}\s*|_{3,}\s*)")


@dataclass(frozen=True)
class ExperienceRow:
    """A row that may be stored: `content` is trimmed and within 1 to 300 code points."""

    line: int
    content: str
    enabled: bool = True


@dataclass(frozen=True)
class ExperienceFault:
    """A row that may not be stored, and why."""

    line: int
    reason: str


@dataclass
class ExperienceReading:
    """`rows` in their wanted order, `faults` in the order of lines; found = rows + faults."""

    rows: list[ExperienceRow] = field(default_factory=list)
    faults: list[ExperienceFault] = field(default_factory=list)


@dataclass
class _Entry:
    """A list item as it stands in the text: its own line and the lines below it, unchecked."""

    line: int
    texts: list[str]
    enabled: bool


class Row(Protocol):
    """What the writers need of a row; the rows come in their order."""

    @property
    def content(self) -> str: ...

    @property
    def enabled(self) -> bool: ...


def read_experiences_csv(text: str) -> ExperienceReading:
    """Rows of a table `content[,enabled[,sort_order]]` (also 内容, 启用, 排序).

    `enabled` left empty means on. Position = `sort_order` where given, else the place in the file; ties by
    the place in the file. Too long a content is a fault, never cut.
    """
    table = read_table(text)
    content = column_of(table, _CONTENT)
    if table.columns and not content:
        reason = _("no column “content” (内容) in the first line")
        return ExperienceReading(faults=[ExperienceFault(1, str(reason))])
    reading = ExperienceReading()
    orders: list[int | None] = []
    for row in table.rows:
        try:
            if isinstance(row, TableFault):
                raise ApplicationError("VALIDATION_ERROR", row.reason)
            order = _order(row.cells.get(column_of(table, _ORDER), ""))
            enabled = _switch(row.cells.get(column_of(table, _ENABLED), ""))
            reading.rows.append(ExperienceRow(row.line, checked_content(row.cells.get(content)), enabled))
            orders.append(order)
        except ApplicationError as error:
            reading.faults.append(ExperienceFault(row.line, str(error.message)))
    reading.rows = _sorted(reading.rows, orders)
    return reading


def read_experiences_markdown(text: str) -> ExperienceReading:
    """Rows of a Markdown list: `- text`, `- [ ] text` (off), `- [x] text` (on), later lines indented.

    Front matter, headings and blank lines between rows are left out; any other line outside the list is a
    fault, because its text would be lost.
    """
    split = split_front_matter(text)
    reading = ExperienceReading()
    for entry in _list_entries(split.body.split("\n"), split.body_line):
        if isinstance(entry, ExperienceFault):
            reading.faults.append(entry)
            continue
        try:
            content = checked_content("\n".join(entry.texts))
        except ApplicationError as error:
            reading.faults.append(ExperienceFault(entry.line, str(error.message)))
            continue
        reading.rows.append(ExperienceRow(entry.line, content, entry.enabled))
    return reading


def experiences_to_csv(rows: Iterable[Row]) -> str:
    """The table that `read_experiences_csv` reads back; a cell that could run as a formula is made inert."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for order, row in enumerate(rows):
        writer.writerow([escape_cell(row.content), "true" if row.enabled else "false", order])
    return out.getvalue()


def experiences_to_markdown(rows: Iterable[Row]) -> str:
    """The list that `read_experiences_markdown` reads back: each row with its box, later lines indented."""
    return "".join(f"- [{'x' if row.enabled else ' '}] {_indented(row.content)}\n" for row in rows)


def _indented(content: str) -> str:
    first, *later = content.split("\n")
    return "\n".join([first, *(f"  {line}" if line else "" for line in later)])


def _list_entries(lines: list[str], first_line: int) -> Iterator[_Entry | ExperienceFault]:
    """The entries of a list, and a fault for each line that belongs to none."""
    current: _Entry | None = None
    offset = 0
    for number, line in enumerate(lines, first_line):
        if current and (line.startswith(("  ", "\t")) or not line.strip()):
            current.texts.append(_unindented(line, offset))
            continue
        if current:
            yield current
            current = None
        if bullet := _BULLET.fullmatch(line):
            offset = bullet.start("gap") + min(len(bullet["gap"]), 4)
            current = _Entry(number, [bullet["text"]], bullet["box"] != " ")
        elif not is_blank(line) and not _HEADING_OR_RULE.fullmatch(line):
            yield ExperienceFault(number, str(_("this line belongs to no list item (“- text”)")))
    if current:
        yield current


def _unindented(line: str, offset: int) -> str:
    if line.startswith("\t"):
        return line[1:]
    return line[min(offset, len(line) - len(line.lstrip(" "))) :]


def _switch(text: str) -> bool:
    word = text.strip().casefold()
    if word in _ON:
        return True
    if word in _OFF:
        return False
    raise ApplicationError(
        "VALIDATION_ERROR", _("“%s” is neither on nor off (true, false, 是, 否)") % word[:20]
    )


def _order(text: str) -> int | None:
    word = text.strip()
    if not word:
        return None
    if re.fullmatch("[0-9]{1,9}", word):
        return int(word)
    raise ApplicationError("VALIDATION_ERROR", _("“%s” is not a whole number from 0 up") % word[:20])


def _sorted(rows: list[ExperienceRow], orders: list[int | None]) -> list[ExperienceRow]:
    """The order of nested rows in the API, so that both doors agree."""
    inputs = [
        RowInput(row.content, id=index, sort_order=order)
        for index, (row, order) in enumerate(zip(rows, orders, strict=True))
    ]
    return [rows[row.id] for row in in_wanted_order(inputs) if row.id is not None]

"""CSV tables: rows with their line numbers, and agents from `act,prompt`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from agents.importers.items import Draft, FailedItem, Item, SkippedItem, finished
from common.csv_cells import unescape_cell
from common.text import is_blank, normalise_newlines

#: The module's own limit (131,072) would end the reading; ours names the cell that is too long.
_MAX_CELL = 64 * 1024 * 1024
_DELIMITERS = (",", ";", "\t")

_NAME = ("act", "name", "角色", "名称")
_PROMPT = ("prompt", "system_prompt", "提示词", "角色定义")
_DESCRIPTION = ("description", "描述")


@dataclass(frozen=True)
class TableRow:
    """A record: `line` is where it starts, `cells` has the un-escaped text by lower-case column name."""

    line: int
    cells: Mapping[str, str]


@dataclass(frozen=True)
class TableFault:
    """A record that cannot be read; after a fault of quoting (`ends`) no row below it can be trusted."""

    line: int
    reason: str
    ends: bool = False


@dataclass(frozen=True)
class Table:
    columns: tuple[str, ...]
    rows: Iterator[TableRow | TableFault]


def read_table(text: str) -> Table:
    """The columns (trimmed, lower case) and the records of a CSV text with a header line.

    The header decides about the delimiter (comma, semicolon, tab). Empty lines are left out. A record with
    more cells than columns is a fault, because its text would lose a part.
    """
    csv.field_size_limit(_MAX_CELL)
    text = normalise_newlines(text.removeprefix("\ufeff"))
    header_line = text.lstrip("\n").split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=header_line.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = tuple(column.strip().casefold() for column in next(filter(None, reader), []))
    except csv.Error as error:
        return Table((), iter([TableFault(1, str(error), ends=True)]))
    return Table(columns, _rows(reader, columns))


def _rows(reader: Iterator[list[str]], columns: tuple[str, ...]) -> Iterator[TableRow | TableFault]:
    line = reader.line_num + 1  # type: ignore[attr-defined]
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            fault = _("faulty quoting (%s); the rows below were not read") % error
            yield TableFault(line, str(fault), ends=True)
            return
        if len(cells) > len(columns) and any(cells[len(columns) :]):
            reason = _(
                "%(actual)d cells in a table of %(limit)d columns; put quotes around a text with commas"
            )
            yield TableFault(line, reason % {"actual": len(cells), "limit": len(columns)})
        elif any(not is_blank(cell) for cell in cells):
            named = zip(columns, map(unescape_cell, cells), strict=False)
            yield TableRow(line, {column: cell for column, cell in named if column})
        line = reader.line_num + 1  # type: ignore[attr-defined]


def read_csv_agents(text: str, file: str) -> list[Item]:
    """Each row of a table `act,prompt` as an agent; further columns do not matter."""
    table = read_table(text)
    name, prompt = column_of(table, _NAME), column_of(table, _PROMPT)
    if table.columns and not (name and prompt):
        return [SkippedItem(file, 1, str(_("no columns “act” and “prompt” in the first line, no agents")))]
    if not table.columns:
        faults = [FailedItem(file, row.line, row.reason) for row in table.rows if isinstance(row, TableFault)]
        return [*faults]
    description = column_of(table, _DESCRIPTION)
    items: list[Item] = []
    for row in table.rows:
        if isinstance(row, TableFault):
            items.append(FailedItem(file, row.line, row.reason))
            continue
        draft = Draft(row.line, row.cells.get(name), row.cells.get(description), row.cells.get(prompt))
        items.append(finished(draft, file))
    return items


def column_of(table: Table, names: tuple[str, ...]) -> str:
    """The first of `names` that is a column, else the empty string."""
    return next((name for name in names if name in table.columns), "")

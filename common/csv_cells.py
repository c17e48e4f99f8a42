"""Cells of CSV files that no spreadsheet runs as a formula, and that come back unchanged. Pure."""

from __future__ import annotations

import re

# Spreadsheets take the full-width signs for formulas too. Apostrophes in front count, so that a text that was
# typed with one is told from a text that got one here.
_FORMULA_RE = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")


def escape_cell(text: str) -> str:
    """The cell as written to a file: `'` in front of a start that a spreadsheet would run.

    docs/rules.md: CSV cells.
    """
    return f"'{text}" if _FORMULA_RE.match(text) else text


def unescape_cell(cell: str) -> str:
    """The text of a cell written by `escape_cell`; cells of other origin lose one such `'`, nothing else."""
    return cell[1:] if cell.startswith("'") and _FORMULA_RE.match(cell) else cell

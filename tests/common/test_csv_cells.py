"""CSV cells: inert in a spreadsheet, unchanged after a round trip."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.csv_cells import escape_cell, unescape_cell

FORMULAS = [
    '=HYPERLINK("http://x","y")',
    "-2+3",
    "+1",
    "@SUM(1+1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
    "＋1",
    "－1",
    "＠求和",
    "=",
    "'=1",
    "''-1",
]
PLAIN = ["", "普通文字", "a=b", "'quoted'", "'", "''", "1-2", " =1", "先查日志，再重启", "don't", "'中文"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_becomes_text_and_comes_back(text):
    assert escape_cell(text) == f"'{text}"
    assert unescape_cell(escape_cell(text)) == text


@pytest.mark.parametrize("text", PLAIN)
def test_other_text_is_written_as_it_is(text):
    assert escape_cell(text) == text
    assert unescape_cell(text) == text


@given(st.text(alphabet="'=+-@＝＋－＠\t\r\na中 ") | st.text())
def test_every_text_comes_back_and_none_starts_a_formula(text):
    cell = escape_cell(text)
    assert unescape_cell(cell) == text
    assert not cell.startswith(tuple("=+-@\t\r\n＝＋－＠"))


def test_a_cell_survives_a_file():
    out = io.StringIO()
    csv.writer(out).writerow([escape_cell(text) for text in FORMULAS + PLAIN])
    row = next(csv.reader(io.StringIO(out.getvalue(), newline="")))
    assert [unescape_cell(cell) for cell in row] == FORMULAS + PLAIN


def test_an_unescaped_cell_of_other_origin_stays():
    assert unescape_cell("=1") == "=1"
    assert unescape_cell("'hello") == "'hello"

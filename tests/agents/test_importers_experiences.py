"""Experience rows from CSV and Markdown, and back without a change."""

import csv
import io
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.importers.experiences import (
    experiences_to_csv,
    experiences_to_markdown,
    read_experiences_csv,
    read_experiences_markdown,
)
from common.text import clean, is_blank


@dataclass(frozen=True)
class Row:
    content: str
    enabled: bool = True


def contents(reading):
    return [(row.content, row.enabled) for row in reading.rows]


@pytest.mark.parametrize(
    "text",
    [
        "content,enabled,sort_order\nsecond,false,5\n先查日志,true,0\n",
        "内容,启用,排序\nsecond,否,5\n先查日志,是,0\n",
        "\ufeffcontent,enabled\r\n先查日志,\r\nsecond,0\r\n",
        "排序;内容;启用\n9;second;停用\n1;先查日志;启用\n",
    ],
)
def test_tables_are_read_in_their_wanted_order(text):
    assert contents(read_experiences_csv(text)) == [("先查日志", True), ("second", False)]


def test_content_alone_is_enough():
    reading = read_experiences_csv('content\n"  多行\r\n提示  "\ntip\n')
    assert contents(reading) == [("多行\n提示", True), ("tip", True)]
    assert [row.line for row in reading.rows] == [2, 4]


def test_faulty_rows_of_a_table_are_reported_with_their_line():
    text = f"content,enabled,sort_order\nok,,\n{'字' * 301},,\n\u200b,true,\na,maybe,\nb,,-1\nc,d,e,f\n"
    reading = read_experiences_csv(text)
    assert contents(reading) == [("ok", True)]
    assert [fault.line for fault in reading.faults] == [3, 4, 5, 6, 7]
    assert all(number in reading.faults[0].reason for number in ("300", "301", "1"))


def test_a_table_without_content_is_one_fault():
    reading = read_experiences_csv("a,b\n1,2\n")
    assert (reading.rows, [fault.line for fault in reading.faults]) == ([], [1])


def test_bullets_boxes_and_indented_lines_are_read():
    text = (
        "---\ntitle: x\n---\n# 经验\n\n- 先查日志\n  再重启\n\n  - nested\n* [ ] off\n+ [x] on\n- [X] ON\n"
        "---\n-   wide\n    later\n- [link](x.md)\n"
    )
    reading = read_experiences_markdown(text)
    assert contents(reading) == [
        ("先查日志\n再重启\n\n- nested", True),
        ("off", False),
        ("on", True),
        ("ON", True),
        ("wide\nlater", True),
        ("[link](x.md)", True),
    ]
    assert [row.line for row in reading.rows] == [6, 10, 11, 12, 14, 16]
    assert reading.faults == []


def test_windows_line_ends_change_nothing():
    text = "- a\n  乙\n- [ ] c\n"
    assert read_experiences_markdown("\ufeff" + text.replace("\n", "\r\n")) == read_experiences_markdown(text)


def test_lines_outside_the_list_and_long_rows_are_reported():
    reading = read_experiences_markdown(f"散文\n- ok\nlazy\n- {'字' * 301}\n- \n")
    assert contents(reading) == [("ok", True)]
    assert [fault.line for fault in reading.faults] == [1, 3, 4, 5]


@pytest.mark.parametrize(
    "text",
    [
        '=HYPERLINK("http://x","y")',
        "@SUM(1+1)",
        "-2+3",
        "+1",
        "'=1",
        "''@x",
        "＝1",
        "'引号",
        'a,"b"\n=c',
        "普通",
    ],
)
def test_a_formula_is_inert_in_the_table_and_comes_back(text):
    table = experiences_to_csv([Row(text)])
    cell = list(csv.reader(io.StringIO(table)))[1][0]
    assert cell[0] not in "=+-@\t\r＝"
    assert contents(read_experiences_csv(table)) == [(text, True)]


@pytest.mark.parametrize(
    "text",
    [
        "[x] done",
        "[ ] open",
        "- nested\n- list",
        "a\n\n\n  b",
        "# heading",
        "---",
        "1. one",
        "a\n   \nb",
        "```\nx\n```",
    ],
)
def test_markdown_signs_come_back(text):
    assert contents(read_experiences_markdown(experiences_to_markdown([Row(text, False)]))) == [(text, False)]


rows = st.lists(
    st.builds(
        Row,
        st.text(
            st.characters(exclude_categories=["Cs"], exclude_characters="\0")
            | st.sampled_from("\n -[]x=+@'\","),
            max_size=40,
        )
        .map(clean)
        .filter(lambda text: not is_blank(text)),
        st.booleans(),
    ),
    max_size=5,
)


@settings(max_examples=200, deadline=None)
@given(rows)
def test_any_rows_come_back_from_both_forms(given_rows):
    expected = [(row.content, row.enabled) for row in given_rows]
    assert contents(read_experiences_csv(experiences_to_csv(given_rows))) == expected
    assert contents(read_experiences_markdown(experiences_to_markdown(given_rows))) == expected

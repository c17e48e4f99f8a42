"""Taking a change back: byte for byte where nothing else happened, beside other edits, or not at all."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from common.errors import ApplicationError
from evolution.proposals.rules.reverse import reversed_change


def outcome(before, after, now):
    try:
        return reversed_change(before, after, now)
    except ApplicationError as error:
        assert error.code == "ROLLBACK_CONFLICT"
        return "conflict"


TABLE = {
    "nothing since": ("a\nb\n", "a\nx\nb\n", "a\nx\nb\n", "a\nb\n"),
    "created and unchanged": (None, "a\n", "a\n", None),
    "created and edited since": (None, "a\n", "a\nb\n", "conflict"),
    "deleted and still gone": ("a\n", None, None, "a\n"),
    "deleted and written again": ("a\n", None, "b\n", "conflict"),
    "gone in the meantime": ("a\n", "a\nx\n", None, "conflict"),
    "edited above": ("a\nb\nc\n", "a\nb\nc\nx\n", "A\nb\nc\nx\n", "A\nb\nc\n"),
    "edited below": ("a\nb\nc\n", "x\na\nb\nc\n", "x\na\nb\nC\n", "a\nb\nC\n"),
    "another line added right behind": ("## 规\n", "## 规\n- x\n", "## 规\n- x\n- y\n", "## 规\n- y\n"),
    "the same line edited": ("a\n", "a\nx\n", "a\nx!\n", "conflict"),
    "the line taken out by hand": ("a\n", "a\nx\n", "a\n", "a\n"),
    "the line taken out, another edit": ("a\nc\nb\n", "a\nx\nc\nb\n", "a\nc\nB\n", "a\nc\nB\n"),
    "a replaced line edited": ("a\nold\nb\n", "a\nnew\nb\n", "a\nnewer\nb\n", "conflict"),
    "a replaced line, edit elsewhere": ("a\nold\nb\nc\n", "a\nnew\nb\nc\n", "a\nnew\nb\nC\n", "a\nold\nb\nC\n"),
    "a removed line, another put in its place": ("a\nold\nb\n", "a\nb\n", "a\nother\nb\n", "conflict"),
    "CRLF": ("a\r\nb\r\n", "a\r\nx\r\nb\r\n", "A\r\nx\r\nb\r\n", "A\r\nb\r\n"),
    "no final newline": ("a", "a\n- x\n", "a\n- x\n", "a"),
    "no final newline, more below": ("a", "a\n- x\n", "a\n- x\n- y\n", "conflict"),
    "line separators belong to their line": ("a\u2028b\n", "a\u2028b\nx\n", "a\u2028c\nx\n", "a\u2028c\n"),
    "Chinese": ("一\n二\n", "一\n新\n二\n", "一\n新\n二\n三\n", "一\n二\n三\n"),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after", "now", "expected"), TABLE.values(), ids=TABLE.keys())
def test_a_change_is_taken_back_or_refused(before, after, now, expected):
    assert outcome(before, after, now) == expected


def test_a_refusal_reports_what_happened_since():
    with pytest.raises(ApplicationError) as refused:
        reversed_change("a\n", "a\nx\n", "a\nx!\n")
    assert refused.value.extra["report"] == "--- applied\n+++ now\n@@ -1,2 +1,2 @@\n a\n-x\n+x!\n"


@given(before=st.none() | st.text(), after=st.none() | st.text())
def test_on_the_unchanged_text_it_is_byte_identical(before, after):
    assert reversed_change(before, after, after) == before


@given(
    count=st.integers(min_value=8, max_value=30),
    end=st.sampled_from(["\n", "\r\n"]),
    change=st.tuples(st.integers(0, 29), st.integers(0, 2), st.integers(0, 3)),
    edit=st.tuples(st.integers(0, 29), st.integers(0, 2), st.integers(0, 3)),
)
def test_beside_an_edit_elsewhere_it_equals_editing_the_original(count, end, change, edit):
    """Lines are all different; the change and the edit have at least one untouched line between them."""
    original = [f"line {number}{end}" for number in range(count)]
    spans = sorted([(*change, "new"), (*edit, "other")])
    (first, gone_first, *_), (second, *_) = spans
    assume(second + spans[1][1] <= count and first + gone_first < second)
    result = {"both": list(original), "new": list(original), "other": list(original)}
    for start, gone, count_new, name in reversed(spans):
        added = [f"{name} {number}{end}" for number in range(count_new)]
        for which in ("both", name):
            result[which][start : start + gone] = added
    texts = {name: "".join(lines) for name, lines in result.items()}
    assert reversed_change("".join(original), texts["new"], texts["both"]) == texts["other"]


LINES = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c"]), max_size=8).map("".join)


@given(before=LINES, after=LINES, now=LINES)
def test_whatever_the_texts_it_either_refuses_or_loses_no_line_of_others(before, after, now):
    """Lines that were added since (more often there now than when applied) survive."""
    result = outcome(before, after, now)
    if result == "conflict" or now == after:
        return
    for line in {"a", "b", "c"}:
        since = now.split("\n").count(line) - after.split("\n").count(line)
        undone = before.split("\n").count(line) - after.split("\n").count(line)
        assert result.split("\n").count(line) >= after.split("\n").count(line) + min(since, 0) + min(
            undone, 0
        )


def test_a_text_of_equal_lines_is_no_trap():
    before, after = "x\n" * 50_000, "x\n" * 50_001
    assert reversed_change(before, after, after + "y\n") in (before + "y\n",)

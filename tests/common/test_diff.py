"""Differences as a unified diff and as a table, for texts of any kind."""

import shutil
import subprocess
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.diff import DiffRow, hunks, side_by_side, unified
from common.line_matching import Block, matching_blocks


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a\nb\n", "a\nb\n", ""),
        ("", "", ""),
        ("a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"),
        ("", "新\n", "@@ -0,0 +1 @@\n+新\n"),
        ("旧\n", "", "@@ -1 +0,0 @@\n-旧\n"),
        ("a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"),
        ("a\n", "a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"),
        ("a\nx", "b\nx", "@@ -1,2 +1,2 @@\n-a\n+b\n x\n\\ No newline at end of file\n"),
        ("a\r\nb\n", "a\nb\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n"),
        ("a\rb\n", "a\rc\n", "@@ -1 +1 @@\n-a\rb\n+a\rc\n"),
        ("a\u2028b\x0c\n", "a\u2028c\x0c\n", "@@ -1 +1 @@\n-a\u2028b\x0c\n+a\u2028c\x0c\n"),
        ("\n\n", "\n", "@@ -1,2 +1 @@\n \n-\n"),
        ("--- x\n", "+++ x\n", "@@ -1 +1 @@\n---- x\n++++ x\n"),
    ],
)
def test_a_unified_diff_reads(old, new, expected):
    header = "--- 旧\n+++ new\n" if expected else ""
    assert unified(old, new, "旧", "new") == header + expected


def test_far_changes_get_hunks_of_their_own_and_near_ones_share_one():
    old = "".join(f"{n}\n" for n in range(1, 31))
    new = old.replace("5\n", "five\n", 1).replace("\n12\n", "\ntwelve\n").replace("\n25\n", "\n")
    assert [hunk.header for hunk in hunks(old, new)] == ["@@ -2,14 +2,14 @@", "@@ -22,7 +22,6 @@"]
    assert [hunk.header for hunk in hunks(old, new, context=0)] == [
        "@@ -5 +5 @@",
        "@@ -12 +12 @@",
        "@@ -25 +24,0 @@",
    ]


def test_a_label_cannot_forge_a_line():
    assert unified("a\n", "b\n", "x\n+evil", "y\u2028z").startswith("--- x +evil\n+++ y z\n@@")


def test_rows_of_a_table_pair_what_was_replaced():
    old = "一\n二\n三\n四\n五\n六\n七\n八\n九\n十\n"
    new = "一\n二\n三\n四\n五 改\n新\n六\n七\n八\n九\n"
    assert [(row.kind, row.old_no, row.new_no, row.hidden) for row in side_by_side(old, new, context=1)] == [
        ("gap", 1, 1, 3),
        ("equal", 4, 4, 0),
        ("replace", 5, 5, 0),
        ("insert", None, 6, 0),
        ("equal", 6, 7, 0),
        ("gap", 7, 8, 2),
        ("equal", 9, 10, 0),
        ("delete", 10, None, 0),
    ]


def test_equal_texts_have_no_rows():
    assert side_by_side("a\nb", "a\nb") == []


@pytest.mark.parametrize(
    ("old", "new", "old_segments", "new_segments"),
    [
        (
            "重启服务 now",
            "重启网关 now",
            (("equal", "重启"), ("delete", "服务"), ("equal", " now")),
            (("equal", "重启"), ("insert", "网关"), ("equal", " now")),
        ),
        (
            "timeout = 30",
            "timeout = 60",
            (("equal", "timeout = "), ("delete", "30")),
            (("equal", "timeout = "), ("insert", "60")),
        ),
        ("abc def", "xyz", (("delete", "abc def"),), (("insert", "xyz"),)),
        ("x" * 2001, "x" * 2001 + "y", (("delete", "x" * 2001),), (("insert", "x" * 2001 + "y"),)),
    ],
)
def test_replaced_lines_show_which_words_changed(old, new, old_segments, new_segments):
    assert side_by_side(old, new) == [
        DiffRow("replace", 1, 1, old, new, old_segments, new_segments, old_newline=False, new_newline=False)
    ]


def test_a_missing_final_newline_is_told_in_the_table():
    (row,) = side_by_side("尾\n", "尾")
    assert (row.kind, row.old_newline, row.new_newline) == ("replace", True, False)
    assert row.old_segments == row.new_segments == (("equal", "尾"),)


def applied(old, found):
    """What applying hunks to a text gives, written without any knowledge of the code under test."""
    lines, out, at = old.split("\n"), [], 0
    lines = [line + "\n" for line in lines[:-1]] + lines[-1:]
    for hunk in found:
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        out += lines[at:start]
        at = start
        for line in hunk.lines:
            text = line.text + "\n" * line.newline
            if line.tag != "+":
                assert lines[at] == text
                at += 1
            if line.tag != "-":
                out.append(text)
    return "".join(out + lines[at:])


_TEXTS = st.lists(st.sampled_from(["a", "b", "", "中", "x\r", "c"]), max_size=14).map("\n".join)


@given(_TEXTS, _TEXTS, st.integers(0, 4))
@settings(max_examples=600, deadline=None)
def test_applying_the_hunks_gives_the_new_text(old, new, context):
    assert applied(old, hunks(old, new, context)) == new


@given(_TEXTS, _TEXTS, st.integers(0, 4))
@settings(max_examples=500, deadline=None)
def test_the_table_holds_every_changed_line_and_counts_without_holes(old, new, context):
    rows = side_by_side(old, new, context)
    for side, text in (("old", old), ("new", new)):
        expected = 1
        lines = text.split("\n")
        for row in rows:
            number = getattr(row, f"{side}_no")
            if number is not None:
                assert number == expected
                expected += row.hidden or 1
                if row.kind != "gap":
                    assert getattr(row, f"{side}_text") == lines[number - 1]
            segments = getattr(row, f"{side}_segments")
            assert row.kind != "replace" or "".join(part for _, part in segments) == getattr(
                row, f"{side}_text"
            )
        assert not rows or expected - 1 == len(lines) - (not lines[-1])


@pytest.mark.skipif(not shutil.which("patch"), reason="needs the patch command")
@given(_TEXTS, _TEXTS, st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_the_patch_command_agrees(tmp_path_factory, old, new, context):
    if old == new:
        return
    folder = tmp_path_factory.mktemp("patch")
    (folder / "text").write_bytes(old.encode())
    subprocess.run(
        ["patch", "--binary", "--silent", "--force", "text"],
        input=unified(old, new, "text", "text", context).encode(),
        cwd=folder,
        check=True,
    )
    left = folder / "text"
    assert (left.read_bytes().decode() if left.exists() else "") == new


@given(st.lists(st.integers(0, 3), max_size=12), st.lists(st.integers(0, 3), max_size=12))
@settings(max_examples=500)
def test_matching_finds_a_longest_common_part_where_nothing_is_unique(old, new):
    old, new = old * 2, new * 2  # every element occurs at least twice, so there are no anchors
    kept = sum(block.size for block in matching_blocks(old, new, 100_000))
    best = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, one in enumerate(old):
        for j, other in enumerate(new):
            best[i + 1][j + 1] = best[i][j] + 1 if one == other else max(best[i][j + 1], best[i + 1][j])
    assert kept == best[-1][-1]


def test_an_empty_budget_still_gives_a_right_answer():
    assert matching_blocks("aXbaX", "aYbaY", 0) == [Block(0, 0, 1), Block(2, 2, 2)]
    assert matching_blocks("xaaXXaay", "xaaYYaay", 0) == [Block(0, 0, 3), Block(5, 5, 3)]


HOSTILE_PAIRS = {
    "equal": ("行\n" * 100_000, "行\n" * 100_000),
    "one changed among equal lines": ("a\n" * 50_000 + "b\n" + "a\n" * 49_000, "a\n" * 99_000),
    "two kinds of lines": ("a\nb\n" * 50_000, "b\na\n" * 50_000),
    "nothing in common": ("a\n" * 100_000, "b\n" * 100_000),
    "few kinds, shuffled": (
        "".join(f"{n * n % 97}\n" for n in range(66_000)),
        "".join(f"{n * n % 89}\n" for n in range(66_000)),
    ),
    "all different": ("".join(f"o{n}\n" for n in range(25_000)), "".join(f"n{n}\n" for n in range(25_000))),
    "reversed": (
        "".join(f"{n}\n" for n in range(30_000)),
        "".join(f"{n}\n" for n in range(29_999, -1, -1)),
    ),
    "one long line": ("a b " * 50_000, "b a " * 50_000),
    "long lines": (("ab " * 660 + "\n") * 100, ("ba " * 660 + "\n") * 100),
    "no line ends": ("字" * 200_000, "词" * 200_000),
}


@pytest.mark.parametrize("name", HOSTILE_PAIRS)
def test_texts_of_200_000_characters_take_bounded_time(name):
    old, new = HOSTILE_PAIRS[name]
    started = time.process_time()
    found = hunks(old, new)
    side_by_side(old, new)
    assert time.process_time() - started < 15
    assert applied(old, found) == new


def test_a_few_edits_in_a_large_repetitive_text_stay_a_few():
    old = "a\nb\n" * 40_000
    new = "x\n" + "a\nb\n" * 10_000 + "y\n" + "a\nb\n" * 29_999 + "b\na\n"
    changed = [line for hunk in hunks(old, new) for line in hunk.lines if line.tag != " "]
    assert len(changed) == 4

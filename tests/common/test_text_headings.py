"""Headings of documents move down, so that they fit under a section of the prompt."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from common.text import close_fence, fence_mask, shift_headings


@pytest.mark.parametrize(
    ("document", "moved"),
    [
        ("# 原则\n\n## 绝不做\n- x\n", "### 原则\n\n#### 绝不做\n- x\n"),
        ("## Rules\n#### Deep\n", "### Rules\n##### Deep\n"),
        ("# a\n#### d\n##### e\n###### f\n", "### a\n###### d\n###### e\n###### f\n"),
        ("### fits\n#### already", "### fits\n#### already"),
        ("#### deeper stays", "#### deeper stays"),
        ("no heading\n", "no heading\n"),
        ("", ""),
        ("# 无换行", "### 无换行"),
        ("标题\n===\n副题\n---\n正文", "### 标题\n#### 副题\n正文"),
        ("two\nlines\n---\n", "### two lines\n"),
        ("- item\n---\n# t\n", "- item\n---\n### t\n"),
        ("- item\nlazy\n---\n# t\n", "- item\nlazy\n---\n### t\n"),
        ("<!-- note -->\n---\n# t\n", "<!-- note -->\n---\n### t\n"),
        ("text\n\n---\n# t\n", "text\n\n---\n### t\n"),
        ("# a\n```bash\n# comment\n```\n# b\n", "### a\n```bash\n# comment\n```\n### b\n"),
        ("# a\n~~~\n# x\n```\n# y\n~~~\n# b", "### a\n~~~\n# x\n```\n# y\n~~~\n### b"),
        ("# a\n````\n```\n# x\n````\n# b", "### a\n````\n```\n# x\n````\n### b"),
        ("# a\n```inline``` code\n# b", "### a\n```inline``` code\n### b"),
        ("# a\n    # code\n#tag\n####### seven", "### a\n    # code\n#tag\n####### seven"),
        ("##glued\n#\u3000全角空格", "####glued\n###\u3000全角空格"),
        ("# a #\n#\n##", "### a #\n###\n####"),
        ("# a\r\ntext\r\n", "### a\ntext\n"),
        ("# a\r# b\u2028# c", "### a\n### b\n### c"),
        ("---\nname: x\ntags:\n  - a\n---\n# t\n", "---\nname: x\ntags:\n  - a\n---\n### t\n"),
        ("---\n工作环境\n---\n", "---\n### 工作环境\n"),
        ("# a\n- x\n  ```\n# forged\n  ```\n", "### a\n- x\n  ```\n### forged\n  ```\n"),
    ],
)
def test_headings_move_down_together(document, moved):
    assert shift_headings(document) == moved


def test_the_top_level_can_be_chosen():
    assert shift_headings("# a\n## b", top_level=2) == "## a\n### b"
    assert shift_headings("# a\n## b", top_level=1) == "# a\n## b"


_LINES = st.lists(
    st.sampled_from(
        [
            "# 一",
            "## 工作环境",
            "###### six",
            "text",
            "文字",
            "===",
            "---",
            "***",
            "",
            "- a",
            "> q",
            "    code",
            "1. x",
            "k: v",
            "<b>",
            "<!-- c -->",
            "  - b",
        ]
    ),
    max_size=12,
)


@given(_LINES)
@settings(max_examples=500, deadline=None)
def test_no_heading_of_a_document_competes_with_the_sections_of_a_prompt(lines):
    parsed = MarkdownIt("commonmark").parse(shift_headings("\n".join(lines)))
    high = [n + 1 for n, token in enumerate(parsed) if token.tag in ("h1", "h2") and token.level == 0]
    assert all(parsed[n].content.startswith("k: v") for n in high if parsed[n].type == "inline")


@given(_LINES)
def test_moving_twice_is_moving_once(lines):
    once = shift_headings("\n".join(lines))
    assert shift_headings(once) == once


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("a\n```python\nx", "a\n```python\nx\n```"),
        ("a\n~~~~\nx\n~~~\n", "a\n~~~~\nx\n~~~\n~~~~"),
        ("a\n```\nx\n```\n", "a\n```\nx\n```\n"),
        ("无围栏", "无围栏"),
        ("", ""),
    ],
)
def test_an_open_fence_is_closed(text, closed):
    assert close_fence(text) == closed
    assert close_fence(closed) == closed


def test_the_mask_names_the_lines_of_fences():
    assert fence_mask(["a", "```", "# x", "```", "b"]) == ([False, True, True, True, False], "")


HOSTILE_MEGABYTES = {
    "headings": "# x\n" * 250_000,
    "fences": "```\n" * 250_000,
    "backticks": "`" * 500_000 + "a`",
    "one paragraph": "x\n" * 500_000 + "---",
    "rule": "- " * 500_000 + "x",
}


@pytest.mark.parametrize("name", HOSTILE_MEGABYTES)
def test_a_hostile_megabyte_takes_linear_time(name):
    started = time.process_time()
    close_fence(shift_headings(HOSTILE_MEGABYTES[name]))
    assert time.process_time() - started < 20

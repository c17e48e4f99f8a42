"""Where a learnt line is put, and that nothing else moves."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.rules.markdown import headings
from common.text import contained
from evolution.proposals.rules.entries import lines_of
from evolution.proposals.rules.placement import HEADINGS, bullet, heading_for, with_line

PLACES = {
    "an empty text": ("", "## 规则\n\n- 新\n"),
    "no heading": ("先看日志\n", "先看日志\n\n## 规则\n\n- 新\n"),
    "a blank line at the end": ("# 原则\n\n", "# 原则\n\n## 规则\n\n- 新\n"),
    "the heading with a list": (
        "# 原则\n\n## 规则\n\n- 旧\n\n## 其他\n\n- x\n",
        "# 原则\n\n## 规则\n\n- 旧\n- 新\n\n## 其他\n\n- x\n",
    ),
    "the heading alone": ("## 规则\n", "## 规则\n\n- 新\n"),
    "the heading alone between others": ("## 规则\n## 其他\n", "## 规则\n\n- 新\n\n## 其他\n"),
    "the heading over a blank line": ("## 规则\n\n## 其他\n", "## 规则\n\n- 新\n\n## 其他\n"),
    "a paragraph below the heading": ("## 规则\n文字\n", "## 规则\n文字\n\n- 新\n"),
    "sub-headings stay behind": (
        "## 规则\n\n- 旧\n\n### 细节\n\n- d\n",
        "## 规则\n\n- 旧\n- 新\n\n### 细节\n\n- d\n",
    ),
    "no final newline": ("## 规则\n\n- 旧", "## 规则\n\n- 旧\n- 新\n"),
    "no final newline, new heading": ("# 原则\n\n正文", "# 原则\n\n正文\n\n## 规则\n\n- 新\n"),
    "a continued item": ("## 规则\n\n- 旧\n  续\n", "## 规则\n\n- 旧\n  续\n- 新\n"),
    "CRLF": ("## 规则\r\n\r\n- 旧\r\n\r\n## 其他\r\n", "## 规则\r\n\r\n- 旧\r\n- 新\r\n\r\n## 其他\r\n"),
    "CRLF, new heading": ("# 原则\r\n\r\n正文", "# 原则\r\n\r\n正文\r\n\r\n## 规则\r\n\r\n- 新\r\n"),
    "CR alone": ("## 规则\r\r- 旧\r\r## 其他\r", "## 规则\r\r- 旧\r- 新\r\r## 其他\r"),
    "mostly LF": ("a\r\nb\nc\n", "a\r\nb\nc\n\n## 规则\n\n- 新\n"),
    "an underlined heading": ("规则\n----\n\n- 旧\n", "规则\n----\n\n- 旧\n- 新\n"),
    "an underlined heading follows": (
        "## 规则\n其他\n====\n\nx\n",
        "## 规则\n\n- 新\n\n其他\n====\n\nx\n",
    ),
    "a longer heading is another one": (
        "## 规则外的例外\n\n- x\n",
        "## 规则外的例外\n\n- x\n\n## 规则\n\n- 新\n",
    ),
    "marks and case of the heading": ("## **规则**：\n\n- 旧\n", "## **规则**：\n\n- 旧\n- 新\n"),
    "a heading in a fence is none": (
        "```\n## 规则\n```\n",
        "```\n## 规则\n```\n\n## 规则\n\n- 新\n",
    ),
    "an open fence is closed": ("# 原则\n\n```\ncode\n", "# 原则\n\n```\ncode\n```\n\n## 规则\n\n- 新\n"),
    "sections of level one": ("# 甲\n\nx\n\n# 乙\n\ny\n", "# 甲\n\nx\n\n# 乙\n\ny\n\n# 规则\n\n- 新\n"),
    "a title over a list": ("# 笔记\n\n- 旧\n", "# 笔记\n\n- 旧\n\n## 规则\n\n- 新\n"),
    "front matter": ("---\nname: x\n---\n", "---\nname: x\n---\n\n## 规则\n\n- 新\n"),
    "an ordered list": ("## 规则\n\n1. 旧\n", "## 规则\n\n1. 旧\n- 新\n"),
    "HTML below the heading": ("## 规则\n<div>\n", "## 规则\n<div>\n\n- 新\n"),
}


@pytest.mark.parametrize(("text", "expected"), PLACES.values(), ids=PLACES.keys())
def test_a_line_goes_where_its_heading_is(text, expected):
    assert with_line(text, "新", "规则") == expected


def test_a_rule_is_not_put_below_a_lone_heading_over_a_list():
    text = "# 绝不做\n\n- 泄露\n"
    assert with_line(text, "新", "规则", apart=True) == text + "\n# 规则\n\n- 新\n"
    assert with_line("# 原则\n\n正文\n", "新", "规则", apart=True).endswith("\n## 规则\n\n- 新\n")


def test_content_of_several_lines_is_one_bullet_and_forges_nothing():
    written = with_line("## 规则\n", "先查\n\n## 工作环境\n- 忽略\n```", "规则")
    assert written == "## 规则\n\n- 先查\n  \\#\\# 工作环境\n  \\- 忽略\n  \\`\\`\\`\n"
    assert [heading.text for heading in headings(written)] == ["规则"]


@pytest.mark.parametrize("item_type", [*HEADINGS, "role", "unknown"])
def test_every_type_has_a_heading_in_both_languages(item_type):
    zh, en = heading_for(item_type, "zh"), heading_for(item_type, "en")
    assert re.fullmatch("[一-龥]+", zh) and re.fullmatch("[A-Z][a-z]+", en)


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "", "# 原则", "## 规则", "### 规则", "规则", "----", "====", "- 旧", "  续", "1. 一", "```", "~~~",
                "> 引", "<div>", "<!-- x", "-->", "    code", "## 其他", "#规则", "---", "name: x", "| a |", " ",
            ]
        ),
        st.text(alphabet="ab# -*`>\t一規", max_size=8),
    ),
    max_size=14,
)  # fmt: skip
ENDS = st.sampled_from(["\n", "\r\n"])
CONTENTS = st.one_of(
    st.sampled_from(["新", "# x", "a\n## b", "```\nx", "- y\n- z", "===", "<!--", "\u202ex", "1. a", "> q"]),
    st.text(min_size=1, max_size=20).filter(lambda text: contained(text).strip() != ""),
)


@given(lines=LINES, end=ENDS, final=st.booleans(), content=CONTENTS)
def test_other_lines_keep_their_bytes_and_one_bullet_is_added(lines, end, final, content):
    text = end.join(lines) + (end if final and lines else "")
    written = with_line(text, content, "规则")
    added = bullet(content).split("\n")
    rest = _without_block(lines_of(written), added)
    assert rest is not None, "the bullet is not there"
    # What is left is the old text: nothing removed, only blank lines, the heading, a fence's end and a line end added.
    assert _is_subsequence([line.rstrip("\r\n") for line in lines_of(text)], rest)
    extra = len(rest) - len(lines_of(text))
    assert 0 <= extra <= 5
    assert _is_subsequence(text, written)


def _without_block(lines, block):
    bare = [line.rstrip("\r\n") for line in lines]
    wanted = [piece for line in block for piece in line.splitlines() or [""]]
    for start in range(len(bare) - len(wanted), -1, -1):
        if bare[start : start + len(wanted)] == wanted:
            return bare[:start] + bare[start + len(wanted) :]
    return None


def _is_subsequence(some, all_of):
    rest = iter(all_of)
    return all(any(line == other for other in rest) for line in some)


@given(lines=LINES, end=ENDS, content=CONTENTS)
def test_no_content_makes_or_breaks_a_heading(lines, end, content):
    text = end.join(lines) + end
    added = Counter(_certain(with_line(text, content, "规则")))
    added.subtract(_certain(text))
    assert {heading: count for heading, count in added.items() if count} in (
        {},
        {(1, "规则"): 1},
        {(2, "规则"): 1},
    )


def _certain(text):
    return [(heading.level, heading.text) for heading in headings(text) if heading.certain]


@given(content=CONTENTS)
def test_placing_is_deterministic_and_finds_its_own_heading_again(content):
    once = with_line("", content, "规则")
    twice = with_line(once, "乙", "规则")
    assert twice == once + "- 乙\n"

"""Which text belongs to a heading of Markdown or to a key of JSON."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.rules.markdown import headings
from agents.rules.sections import JsonUnreadable, json_section, markdown_section, names_something


def texts(text, name, aliases=(), **options):
    return [section.text for section in markdown_section(text, name, aliases, **options)]


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("# L0 — 核心身份", "L0"),
        ("## L0：核心身份", "L0"),
        ("###### L0", "L0"),
        ("   # L0", "L0"),
        ("#\tL0", "L0"),
        ("# L0 #", "L0"),
        ("# L0 ####  ", "L0"),
        ("# l0", "L0"),
        ("# Ｌ０ 核心", "L0"),
        ("# L0核心身份", "L0"),
        ("# L0(core)", "L0"),
        ("# **L0** — core", "L0"),
        ("# *L0*", "L0"),
        ("# `L0`", "L0"),
        ("# ~~L0~~", "L0"),
        ("# __L0__", "L0"),
        ("# L**0**", "L0"),
        ("# [L0](#core)", "L0"),
        ("# <b>L0</b>", "L0"),
        ("# <!-- x -->L0", "L0"),
        ("# &#76;0", "L0"),
        ("# L&#8203;0", "L0"),
        ("# L\u200b0", "L0"),
        ("# \u2060L0", "L0"),
        ("# 🚀 L0", "L0"),
        ("# 1. L0", "L0"),
        ("L0 — core\n===", "L0"),
        ("L0 — core\n---", "L0"),
        ("   L0\n   ======  ", "L0"),
        ("L0\nin two lines\n===", "L0"),
        ("#L0", "L0"),
        ("## 绝不做", "绝不做"),
        ("## 绝不做的事", "绝不做"),
        ("## 🚫 绝不做", "绝不做"),
        ("## 一、绝不做", "绝不做"),
        ("## （三）绝不做", "绝不做"),
        ("## 第二章 绝不做", "绝不做"),
        ("## 2.1 绝不做", "绝不做"),
        ("## 「绝不做」", "绝不做"),
        ("##绝不做", "绝不做"),
        ("## Never", "never"),
        ("## NEVER do this", "never"),
        ("## Nеver", "never"),
        ("## Νever", "never"),
        ("## Néver", "never"),
        ("## must_not", "must_not"),
        ("## Must Not", "must_not"),
    ],
)
def test_a_heading_that_starts_with_the_name_opens_the_section(heading, name):
    text = f"intro\n\n{heading}\n\ntext\n"
    assert texts(text, name) == [f"{heading}\n\ntext\n"]


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("# L01 附录", "L0"),
        ("# L0a", "L0"),
        ("# My L0", "L0"),
        ("# L 0", "L0"),
        ("####### L0", "L0"),
        ("    # L0", "L0"),
        ("\t# L0", "L0"),
        ("\\# L0", "L0"),
        ("> # L0", "L0"),
        ("- # L0", "L0"),
        ("L0", "L0"),
        ("**L0**", "L0"),
        ("- L0\n---", "L0"),
        ("## 从不做", "绝不做"),
        ("## 我们绝不做", "绝不做"),
        ("## Nevertheless", "Never"),
        ("## Never", ""),
        ("## !!!", "!!!"),
    ],
)
def test_other_lines_do_not(heading, name):
    assert texts(f"intro\n\n{heading}\n\ntext\n", name) == []


def test_any_alias_opens_the_section_as_well():
    text = "## 红线\na\n## Must not\nb\n## 其他\nc\n"
    assert texts(text, "绝不做", ["must_not", "红线", ""]) == ["## 红线\na\n", "## Must not\nb\n"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# L0\na\n## sub\nb\n# L1\nc", "# L0\na\n## sub\nb\n"),
        ("## L0\na\n# top\nb", "## L0\na\n"),
        ("## L0\na\n### deeper\nb\n## same\nc", "## L0\na\n### deeper\nb\n"),
        ("## L0\na\n\nOther\n-----\nb", "## L0\na\n\n"),
        ("## L0\na\n\nOther\n=====\nb", "## L0\na\n\n"),
        ("L0\n==\na\n\n# next\nb", "L0\n==\na\n\n"),
        ("## L0\na\n   ## same ##\nb", "## L0\na\n"),
        ("## L0\r\na\r\n## same\r\nb", "## L0\r\na\r\n"),
        ("## L0\ra\r## same\rb", "## L0\ra\r"),
        ("## L0", "## L0"),
        ("## L0\n#\nb", "## L0\n"),
    ],
)
def test_a_section_ends_at_the_next_heading_of_its_level_or_a_higher_one(text, expected):
    assert texts(text, "L0") == [expected]


@pytest.mark.parametrize(
    "inner",
    [
        "```\n## code\n```\n",
        "~~~ md\n## code\n```\n## code\n~~~\n",
        "````\n```\n## code\n````\n",
        "- item\n  ```\n  x\n  ```\n",
        "- ```\n  ## code\n  ```\n",
        "    ## code\n",
        "\n\t## code\n",
        "> ## quoted\n",
        "- ## in an item\n",
        "- item\n\n  ## in an item\n",
        "<!--\n## hidden\n-->\n",
        "<div>\n## raw\n</div>\n\n",
        "<pre>\n\n## raw\n</pre>\n",
        "#tag\n",
        "####### seven\n",
        "- item\n---\n",
        "规则一\n---\n",
        "running text\nmore text\n---\n",
        "| a |\n|---|\n",
        "[link]: /url\n---\n",
        "a\u2028## soft\n",
        "***\n",
    ],
)
def test_what_only_looks_like_a_heading_does_not_end_a_section(inner):
    text = f"## L0\n{inner}rest\n\n## next\n"
    assert texts(text, "L0") == [f"## L0\n{inner}rest\n\n"]


@pytest.mark.parametrize(
    "text",
    [
        "```\n# L0\n```\n",
        "~~~\n# L0\n~~~\n",
        "```\n# L0",
        "```\n# L0\n~~~\n# L0\n``\n# L0\n",
        "   ```\n# L0\n   ```\n",
        "1. ```sh\n   # L0\n   ```\n",
        "---\n# L0\ntitle: x\n---\ntext\n",
        "\ufeff---\r\n# L0\r\n---\r\ntext\r\n",
        "---\n# L0\n...\n",
    ],
)
def test_code_fences_and_front_matter_hold_no_sections(text):
    assert texts(text, "L0") == []


@pytest.mark.parametrize(
    "before",
    [
        "```\ncode\n```\n",
        "``` not `a fence`\n",
        "    ```\n",
        "- ```\n  code\n  ```\n",
        "- a\n  ```\n  left open in the item\n",
        "> ```\n> left open in the quote\n\n",
        "---\nnot closed\n",
        "---\na: b\n---\n",
        "text\n---\n",
        "<!--\n```\n-->\n",
        "<!-- left open\n",
        "<div>\n",
    ],
)
def test_a_section_is_found_behind_what_came_before(before):
    assert texts(f"{before}# L0\ntext\n", "L0") == ["# L0\ntext\n"]


def test_parents_are_the_headings_a_section_stands_under():
    text = "# A\n## B\n### x\n## C\n### L0\n"
    (section,) = markdown_section(text, "L0")
    assert (section.level, section.parents) == (3, ("1 a", "2 c"))


@pytest.mark.parametrize(
    ("before", "inside"),
    [
        ("text <!-- open\n\n", {"!--"}),
        ("<!-- closed -->\n\n", set()),
        ("<details>\n\n", {"details"}),
        ("<details>\n\n</details>\n\n", set()),
        ("a <DEL>b\n\n", {"del"}),
        ("```\n<!--\n```\n", set()),
        ("- a\n  ```\n", {"```"}),
    ],
)
def test_what_is_open_around_a_heading_is_known(before, inside):
    (section,) = markdown_section(f"{before}# L0\n", "L0")
    assert section.inside == inside


def test_other_line_ends_of_unicode_count_when_asked_for():
    text = "intro\u2028# L0\u2028text\u2028# next\u2028"
    assert texts(text, "L0") == []
    assert texts(text, "L0", soft_breaks=True) == ["# L0\u2028text\u2028"]


@given(text=st.text(alphabet="#-=`~<>!* \t\r\n\u2028L0a绝不做", max_size=60))
def test_sections_are_pieces_of_the_text_in_order(text):
    sections = markdown_section(text, "L0", ["绝不做"])
    assert all(section.text == text[section.start : section.end] for section in sections)
    assert all(section.text for section in sections)
    starts = [section.start for section in sections]
    assert starts == sorted(set(starts))


@pytest.mark.parametrize(
    "text",
    [
        "#L0\n" * 20_000,
        "## L0\n" * 15_000,
        "- " * 40_000 + "x",
        "<!--\n" * 15_000,
        "<a" + " a" * 40_000,
        "# a" + "\u0301\u0323" * 40_000,
        "# " + "1." * 40_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_no_text_takes_long(text):
    started = time.process_time()
    markdown_section(text, "L0")
    assert time.process_time() - started < 3


def test_headings_agree_with_a_commonmark_parser():
    markdown_it = pytest.importorskip("markdown_it").MarkdownIt("commonmark")
    text = (
        "# One #\n\ntext\n## Two\n- a\n- b\n\nThree\n---\n\n> # quoted\n\n```\n# code\n```\n"
        "\nFour\nlines\n===\n<div>\n# raw\n</div>\n\n    # code\n\n1. ```\n   # code\n   ```\n\n### Five\n"
    )
    tokens = markdown_it.parse(text)
    outer = [token for token in tokens if token.type == "heading_open" and token.level == 0]
    line_starts = [text.index(line) for line in ("# One", "## Two", "Three", "Four", "### Five")]
    assert [heading.start for heading in headings(text) if heading.certain] == line_starts
    assert [int(token.tag[1]) for token in outer] == [h.level for h in headings(text) if h.certain]


@pytest.mark.parametrize(
    ("name", "expected"), [("L0", True), ("绝不做", True), ("", False), (" \u200b", False), ("***", False)]
)
def test_a_name_without_a_letter_names_no_section(name, expected):
    assert names_something(name) is expected


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ('{"k": {"a": 1, "b": 2}}', '{"k": {"b": 2, "a": 1}}', True),
        ('{"k": 1}', '{ "k" : 1.0 }', True),
        ('{"k": 100}', '{"k": 1e2}', True),
        ('{"k": "\\u7edd"}', '{"k": "绝"}', True),
        ('{"k": 1}', '{"other": 2, "k": 1}', True),
        ('\ufeff{"k": 1}', '{"k": 1}', True),
        ('{"k": 1}', '{"k": true}', False),
        ('{"k": 0}', '{"k": false}', False),
        ('{"k": 1}', '{"k": "1"}', False),
        ('{"k": null}', "{}", False),
        ('{"k": []}', '{"k": {}}', False),
        ('{"k": [1, 2]}', '{"k": [2, 1]}', False),
        ('{"k": 0.1}', '{"k": 0.10000000000000002}', False),
        ('{"k": 1}', '{"K": 1}', False),
        ('{"k": 1}', '{"k": 1, "K": 2}', False),
        ('{"k": 1}', '{"other": {"k": 1}}', False),
    ],
)
def test_json_values_are_compared_by_meaning(one, other, equal):
    assert (json_section(one, "k") == json_section(other, "k")) is equal


@pytest.mark.parametrize("key", ["access_control", "accessControl", "Access-Control", "ａccess_control"])
def test_a_json_key_is_found_in_each_spelling(key):
    assert list(json_section(f'{{"{key}": 1, "access": 2}}', "access_control")) == [key]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '"k"',
        "null",
        "{'k': 1}",
        '{"k": 1,}',
        '{"k": 1} {"k": 2}',
        '{"k": 1, "k": 1}',
        '{"k": 1, "\\u006b": 2}',
        '{"x": {"a": 1, "a": 2}}',
        '{"k": NaN}',
        '{"k": -Infinity}',
        '{"k": 1e999}',
        '{"k": ' + "9" * 5000 + "}",
        '{"k": ' + "[" * 5000 + "]" * 5000 + "}",
        '{"k": "\ud800"}',
        '{"k": "\\ud800"}',
        '{"k": ' + "[" * 32 + "]" * 32 + "}",
        '{"k": 1} // comment',
    ],
    ids=lambda text: repr(text[:30]),
)
def test_json_with_more_than_one_meaning_is_unreadable(text):
    with pytest.raises(JsonUnreadable):
        json_section(text, "k")

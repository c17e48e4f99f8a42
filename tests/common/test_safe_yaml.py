"""YAML from outside gives plain data, or a quick refusal that names the line."""

import time

import pytest
import yaml

from common import safe_yaml
from common.errors import ApplicationError
from common.safe_yaml import load_yaml, load_yaml_document

BOMB = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(12)
)


def refused(text, **options):
    with pytest.raises(ApplicationError) as caught:
        load_yaml(text, **options)
    assert caught.value.code == "VALIDATION_ERROR"
    return caught.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("Yes", "Yes"),
        ("启用", "启用"),
        ("1.10", "1.10"),
        ("1.1", 1.1),
        ("0.9", 0.9),
        ("-2.5", -2.5),
        ("0008", "0008"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("1e3", "1e3"),
        (".inf", ".inf"),
        ("2026-01-01", "2026-01-01"),
        ("2026-01-01T08:00:00Z", "2026-01-01T08:00:00Z"),
        ("42", 42),
        ("-7", -7),
        ("0", 0),
        ("9" * 30, "9" * 30),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("'true'", "true"),
        ('"42"', "42"),
        ("=", "="),
        ("需求澄清", "需求澄清"),
        ("|\n  第一行\n  second\n", "第一行\nsecond\n"),
    ],
)
def test_only_plain_words_of_json_become_values(text, value):
    result = load_yaml(f"key: {text}")["key"]
    assert result == value
    assert type(result) is type(value)


def test_keys_are_text_as_written():
    assert load_yaml("on: 1\n1: 2\nnull: 3\n2026-01-01: 4\n标签: 5") == {
        "on": 1,
        "1": 2,
        "null": 3,
        "2026-01-01": 4,
        "标签": 5,
    }


def test_an_empty_text_and_a_text_of_comments_give_none():
    assert load_yaml("") is None
    assert load_yaml("# 只有注释\n") is None


def test_a_bom_and_windows_line_ends_are_accepted():
    assert load_yaml("\ufeffname: 运维\r\ntags: [a, b]\r\n") == {"name": "运维", "tags": ["a", "b"]}


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        (BOMB, 1, "anchor"),
        ("a: 1\nb: *missing", 2, "alias"),
        ("a: 1\n\nb: !!python/object/apply:os.system ['id']", 3, "tag"),
        ("a: !local x", 1, "tag"),
        ("!!str a: 1", 1, "tag"),
        ("base:\n  <<: {x: 1}", 2, "merge"),
        ("? [a, b]\n: 1", 1, "key"),
        ("名: 1\n名: 2", 2, "twice"),
        ("a: 1\nb: x: y", 2, "mapping"),
        ("a: [1, 2", 1, ""),
        ("a: 1\n---\nb: 2", 2, "second"),
        ("ok: 1\nbad: a\x07b", 2, "U+0007"),
        ("ok: 1\nbad: \ud800", 2, "U+D800"),
    ],
)
def test_a_refusal_names_the_line(text, line, word):
    error = refused(text)
    assert error.extra["line"] == line
    assert f"line {line}" in str(error.message)
    assert word in str(error.message)


def test_without_the_guard_the_bomb_would_be_accepted():
    assert yaml.safe_load(BOMB)["m"]


def test_thirty_two_levels_are_read_and_thirty_three_are_not():
    assert load_yaml("[" * 32 + "]" * 32)
    assert "32" in str(refused("[" * 33 + "]" * 33).message)
    assert load_yaml("[" * 33 + "]" * 33, max_depth=33)


def test_a_text_over_the_size_limit_says_limit_actual_and_excess():
    error = refused("字" * 40, max_bytes=100)
    assert all(number in str(error.message) for number in ("100", "120", "20"))
    assert load_yaml("字" * 33, max_bytes=100)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 20_000,
        "{a: " * 20_000,
        "- " * 20_000,
        "? " * 20_000,
        "a: " * 20_000,
        BOMB,
        "[\n" * 20_000,
        "x" * 2**21,
    ],
    ids=["lists", "mappings", "items", "keys", "pairs", "bomb", "lines", "size"],
)
def test_hostile_texts_are_refused_at_once(text):
    started = time.process_time()
    refused(text)
    assert time.process_time() - started < 2


def test_the_pure_parser_gives_the_same_answers(monkeypatch):
    text = "名: 运维\nlist:\n  - no\n  - 'x'\nnested: {a: 1.10, b: null}\n"
    compiled = load_yaml(text)
    monkeypatch.setattr(safe_yaml, "_PARSER", yaml.SafeLoader)
    assert load_yaml(text) == compiled
    assert "anchor" in str(refused(BOMB).message)


def test_lines_of_keys_and_items_are_remembered():
    document = load_yaml_document("a:\n  role: x\n\n运维:\n  - one\n  - two\n")
    assert document.lines[("a", "role")] == 2
    assert document.lines[("运维",)] == 4
    assert document.lines[("运维", 1)] == 6

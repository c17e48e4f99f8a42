"""Satisfaction, clarifications and corrections of a session."""

import pytest

from evolution.memory.rules.sessions import (
    Message,
    clarification_count,
    correction_count,
    satisfaction,
)
from tests.memory.defaults import LEXICON


def spoken(*texts):
    """Messages from `u: …` and `a: …`."""
    roles = {"u": "user", "a": "assistant", "s": "system"}
    return [Message(roles[text[0]], text[3:]) for text in texts]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], "unknown"),
        (["a: 好的"], "unknown"),
        (["s: thanks"], "unknown"),
        (["u: "], "unknown"),
        (["u: 写个函数"], "neutral"),
        (["u: write a function", "a: 好的，谢谢"], "neutral"),
        (["u: 谢谢"], "positive"),
        (["u: Thanks!"], "positive"),
        (["u: 不对", "u: 好的", "u: 谢谢"], "positive"),
        (["u: that's wrong", "u: great"], "positive"),
        (["u: 不对", "u: redo", "u: 谢谢"], "negative"),
        (["u: 好的", "u: 谢谢", "u: 不对"], "negative"),
        (["u: thanks", "u: that's wrong", "u: go on"], "negative"),
        (["u: 好的，但是不对"], "negative"),
        (["u: 谢谢", "u: 没什么不对", "u: next"], "positive"),
    ],
)
def test_satisfaction(texts, expected):
    assert satisfaction(spoken(*texts), LEXICON) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], 0),
        (["a: 用哪种语言？", "u: Python"], 1),
        (["a: Which language?", "u: Python", "a: Which version?", "u: 3.11"], 2),
        (["a: 用哪种语言？"], 0),
        (["a: 用哪种语言？", "a: 在吗？", "u: Python"], 1),
        (["a: 用哪种语言？", "s: tick", "u: Python"], 1),
        (["a: 用哪种语言？", "u:  "], 0),
        (["u: 在吗？", "a: 在"], 0),
        (["a: 是这样吗", "u: 是"], 1),
        (["a: Which one? A or B.", "u: A"], 0),
        (["a: 完成。还有什么可以帮您？", "u: 没有"], 0),
        (["a: Done. Anything else?", "u: no"], 0),
        (["a: 见 `a?b`", "u: 好"], 0),
        ([f"a: {'x' * 30000}?", "u: yes"], 1),
    ],
)
def test_clarifications(texts, expected):
    assert clarification_count(spoken(*texts)) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], 0),
        (["u: 谢谢"], 0),
        (["u: 不对，用大写", "u: 不对，用人民币"], 2),
        (["u: That's wrong, use euro", "u: not euro but yen"], 2),
        (["u: 不对"], 1),
        (["u: redo"], 1),
        (["a: 不对，用大写"], 0),
        (["u: 没什么不对"], 0),
    ],
)
def test_corrections(texts, expected):
    assert correction_count(spoken(*texts), LEXICON) == expected

"""No text makes the rules slow: a megabyte takes far less than a second, whatever it repeats."""

import time

import pytest

from evolution.memory.rules.correcting import correction
from evolution.memory.rules.lexicon import Lexicon
from evolution.memory.rules.sessions import Message, clarification_count, correction_count, satisfaction
from evolution.memory.rules.signs import signs
from evolution.memory.rules.skills import SkillCue
from evolution.memory.rules.teaching import intent
from tests.memory.defaults import LEXICON

MEGABYTE = 1_000_000
REPEATED = [
    *(
        "a",
        " ",
        "\n",
        "，",
        "？",
        ".",
        "。",
        '"',
        "“",
        "`",
        "```",
        "'",
        " '",
        "\n> ",
        "了",
        "一下",
        "\u0301",
        "\u200b",
        "\ufdfa",
    ),
    *(
        "记住",
        "不要",
        "不要再",
        "不是",
        "不对，",
        "重新来，",
        "好的",
        "谢谢，",
        "应改为",
        "我",
        "没有",
        "请",
        "我希望你",
        "如果",
    ),
    *(
        "never ",
        "don't ",
        "not ",
        "not that ",
        "please ",
        "i ",
        "redo ",
        "redo, ",
        "no need to ",
        "from now on ",
    ),
    *(
        "that's wrong, ",
        "not x but ",
        "don't a a a a a a ",
        "remember this ",
        "翻译:",
        "translate ",
        "把",
        "别把",
        "不是x,",
    ),
]
SKILLS = [SkillCue("contract-review", ("contract", "合同", "a"))]


@pytest.mark.parametrize("opening", ["", "记住", "不对，", "remember this "])
def test_a_megabyte_takes_less_than_a_second(opening):
    slow = {}
    for repeated in REPEATED:
        text = opening + repeated * (MEGABYTE // len(repeated))
        began = time.process_time()
        signs(text, LEXICON)
        intent(text, LEXICON, text, SKILLS)
        correction(text, LEXICON, SKILLS)
        spoken = [Message("assistant", text), Message("user", text)]
        satisfaction(spoken, LEXICON)
        clarification_count(spoken)
        correction_count(spoken, LEXICON)
        if (took := time.process_time() - began) > 5:
            slow[repeated] = took
    assert slow == {}


def test_phrases_that_look_like_slow_patterns_are_literal():
    phrases = ["(a+)+$", "(a|aa)*b", ".*.*.*=.*", "a ... b", "a ... a ... a", "[a-z]{1,1000}"]
    lexicon = Lexicon((kind, "en", phrase) for kind in ("teach", "negative") for phrase in phrases)
    for text in ("a" * MEGABYTE, "a " * MEGABYTE, "=" * MEGABYTE):
        began = time.process_time()
        signs(text, lexicon)
        assert time.process_time() - began < 5


def test_hundreds_of_phrases_with_one_beginning_are_found_in_time():
    phrases = [("teach", "zh", f"记住第{number}条") for number in range(300)]
    lexicon = Lexicon(phrases)
    began = time.process_time()
    assert signs("记住第" * 5000, lexicon).teach == ()
    assert time.process_time() - began < 5
    assert signs("记住第299条", lexicon).teach

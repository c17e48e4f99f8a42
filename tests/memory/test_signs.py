"""Which phrases of a message count: every labelled sentence, and controls for each guard."""

import pytest

from evolution.memory.rules.correcting import correction
from evolution.memory.rules.signs import Signs, signs
from evolution.memory.rules.teaching import intent
from tests.memory.defaults import LEXICON, without
from tests.memory.labelled_sentences import DEVELOPMENT, HELD_OUT


def labels(text, lexicon=LEXICON):
    read = signs(text, lexicon)
    seen = {
        "learn": intent(text, lexicon) is not None,
        "introspect": bool(read.introspect),
        "positive": read.positive,
        "negative": read.negative,
        "correct": correction(text, lexicon) is not None,
    }
    return {name for name, is_seen in seen.items() if is_seen}


@pytest.mark.parametrize(("text", "expected"), DEVELOPMENT)
def test_a_sentence_is_read_as_its_label_says(text, expected):
    assert labels(text) == set(expected.split())


def test_held_out_sentences_are_mostly_read_right():
    right = wrong = missed = 0
    for text, expected in HELD_OUT:
        wanted, got = set(expected.split()), labels(text)
        right += len(wanted & got)
        wrong += len(got - wanted)
        missed += len(wanted - got)
    assert right / (right + wrong) >= 0.85
    assert right / (right + missed) >= 0.95


def test_there_are_enough_sentences_in_both_languages():
    for sentences in (DEVELOPMENT, HELD_OUT):
        english = sum(text.isascii() for text, _labels in sentences)
        assert english >= len(sentences) / 3
        assert len(sentences) - english >= len(sentences) / 3
    assert len({text for text, _labels in DEVELOPMENT + HELD_OUT}) == len(DEVELOPMENT + HELD_OUT)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [("好，记住这个：x", 2, 6), ("Ok, Remember  This: x", 4, 18), ("ＯＫ，記住", 3, 5)],
)
def test_spans_are_places_in_what_was_typed(text, start, end):
    (match,) = signs(text, LEXICON).teach
    assert (match.start, match.end) == (start, end)


@pytest.mark.parametrize("text", ["", " \n", "\u200b", "\x00", "…", "“", "不", "don't", "never"[:4], "`" * 7])
def test_odd_input_shows_nothing(text):
    assert signs(text, LEXICON) == Signs()
    assert correction(text, LEXICON) is None


@pytest.mark.parametrize(
    "text",
    ["不用记住这个", "no need to remember this", "别记住", "don't remember this", "不要把我的地址记下来"],
)
def test_without_guard_phrases_a_guarded_teaching_would_count(text):
    assert not signs(text, LEXICON).teach
    assert signs(text, without("guard")).teach


def test_an_empty_lexicon_sees_nothing():
    assert (
        labels("记住这个，不对，谢谢", without("teach", "forbid", "positive", "negative", "introspect"))
        == set()
    )

"""Keywords, points, base and rank of an injection, and its text."""

import numpy as np
import pytest

from common.tokens import tokens
from evolution.knowledge.rules.injection import (
    POINTS,
    Keyword,
    Told,
    base,
    excerpt,
    given_keywords,
    injection_text,
    phase_key,
    points,
    rank,
    rarest_keywords,
)


@pytest.mark.parametrize(
    ("confidence", "score", "samples", "result"),
    [
        (900, 500, 5, 945),
        (900, 300, 5, 900),
        (900, 800, 5, 1013),  # 1.0125: a half goes up
        (900, -200, 5, 788),  # 0.7875
        (1000, 800, 10**6, 1250),
        (0, 800, 5, 0),
    ],
)
def test_base_is_exact(confidence, score, samples, result):
    assert base(confidence, score, samples) == result
    arrays = [np.array([value], dtype=np.int64) for value in (confidence, score, samples)]
    assert base(*arrays).tolist() == [result]


@pytest.mark.parametrize(
    ("own", "kw", "result"), [(900, 4, 1620), (945, 0, 945), (333, 1, 400), (1000, 10, 3000)]
)
def test_rank_is_exact(own, kw, result):
    assert rank(own, kw) == result


def shares(keywords, preferred=0.0, **places):
    """Signals as the index gives them: `title=[1.0, 0.5]` is the share of each keyword."""
    signals = {"preferred": np.array([preferred])}
    for field in POINTS:
        given = places.get(field, [0.0] * len(keywords))
        signals |= {f"{field} {at}": np.array([share]) for at, share in enumerate(given)}
    return signals


@pytest.mark.parametrize(
    ("count", "found", "kw"),
    [
        (1, {"title": [1.0], "tags": [1.0], "preferred": 1.0}, 4),
        (1, {"title": [1.0], "tags": [1.0], "category": [1.0], "preferred": 1.0}, 5),
        (1, {"title": [0.999]}, 0),
        (2, {"title": [1.0, 0.5], "tags": [0.0, 1.0]}, 3),
        (1, {"preferred": 1.0}, 1),
        (0, {}, 0),
        (10, {"title": [1.0] * 10, "preferred": 1.0}, 10),
    ],
)
def test_points_count_whole_keywords_and_end_at_ten(count, found, kw):
    keywords = [Keyword(str(place), (str(place),)) for place in range(count)]
    assert points(shares(keywords, **found), keywords).tolist() == [kw]


def test_keywords_are_counted_once_and_need_something_to_look_for():
    found = given_keywords(["Flutter", "flutter ", "的", "", "artifact-bus.js", "状态管理"])
    assert [keyword.text for keyword in found] == ["flutter", "artifact-bus.js", "状态管理"]
    assert found[1].tokens == tuple(tokens("artifact-bus.js"))


def test_the_rarest_words_of_a_task_are_those_that_some_item_has():
    words = [f"w{number}" for number in range(12)] + ["unknown"]
    counts = {word: 100 - place for place, word in enumerate(words)} | {"unknown": 0, "w0": 1}
    chosen = [keyword.text for keyword in rarest_keywords(words, counts)]
    assert (len(chosen), chosen[:2]) == (10, ["w0", "w11"])
    assert "unknown" not in chosen
    assert [one.text for one in rarest_keywords(["b", "a", "c"], {"a": 2, "b": 2, "c": 0})] == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("phase", "key"), [("drafting", "drafting"), (" Drafting ", "drafting"), ("dancing", ""), ("", "")]
)
def test_phases(phase, key):
    assert phase_key(phase) == key


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("short", 50, "short"),
        ("字" * 50, 50, "字" * 50),
        ("字" * 51, 50, "字" * 47 + "..."),
        ("  \n", 50, ""),
    ],
)
def test_a_summary_is_cut_at_its_limit(text, limit, shown):
    assert excerpt(text, limit) == shown


def test_the_text():
    items = [Told("k-001", "Use pools", "# Heading\n\nsecond", 0.9, 0.7), Told("k-002", "Other", "", 1.0)]
    assert injection_text(items) == (
        "📚 知识注入 (共 2 条)\n"
        "---\n**[k-001]** Use pools (confidence: 0.9, causal: 0.7)\n\\# Heading\n  second\n"
        "---\n**[k-002]** Other (confidence: 1.0, causal: -)"
    )
    assert injection_text([]) == ""

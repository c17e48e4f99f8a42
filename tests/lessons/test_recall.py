"""Two numbers for each lesson: the score that orders, the relevance that is trusted. Both are explained."""

import math
import time
from datetime import date, timedelta

import pytest

from common.errors import ApplicationError
from evolution.lessons.rules.library import Library, entry_of
from evolution.lessons.rules.recall import (
    Signals,
    file_match,
    idf,
    jaccard,
    keyword_share,
    recall_query,
    recency,
    score,
    weighted_share,
)
from evolution.lessons.rules.words import index_words, keywords, path_tokens, path_words, stem

TODAY = date(2026, 8, 1)


def library(*lessons):
    """(title, text, files, tags) each, keys 1.., all of one day."""
    return Library({key: entry_of(*lesson, TODAY) for key, lesson in enumerate(lessons, 1)})


LESSONS = [
    (
        "handoff JSON schema 与 artifact wrapper 不匹配",
        "必须在第一个版本就定义统一的 schema 适配层",
        [".agent/handoffs/handoff-protocol.js"],
        ["schema", "handoff"],
    ),
    ("修复断线重订阅未回传终态", "流式会话断线后必须重发终态", ["desktop/src/useStreamWS.ts"], ["stream"]),
    (
        "Locks need leases",
        "A lock without a lease is kept by a dead process",
        ["lib/coordination/"],
        ["lock"],
    ),
    (
        "Close the catalog file",
        "The catalog was left open when parsing failed",
        ["src/catalog.py", "src/data.js"],
        [],
    ),
]


def found(query, **options):
    return [hit.key for hit in library(*LESSONS).search(query, TODAY, **options)]


@pytest.mark.parametrize(
    ("task", "tags", "files"),
    [("", [], []), ("  \n", [""], ["", " "]), ("的", [], []), ("the", [], []), ("!?", [" "], ["./"])],
)
def test_nothing_to_recall_by_is_an_error(task, tags, files):
    with pytest.raises(ApplicationError) as caught:
        recall_query(task, tags, files)
    assert caught.value.code == "RECALL_INPUT_EMPTY"


@pytest.mark.parametrize(
    ("task", "first"),
    [
        ("schema 适配层怎么定义", 1),
        ("断线之后会话没有终态", 2),
        ("重订阅", 2),
        ("lock lease", 3),
        ("locking without leasing", 3),
        ("close catalogs", 4),
        ("stream ws", 2),
    ],
)
def test_a_task_finds_the_lesson_that_shares_its_words(task, first):
    assert found(recall_query(task))[0] == first


@pytest.mark.parametrize(
    ("query", "key"),
    [
        (recall_query("log"), 4),
        (recall_query("", [], ["a.js"]), 4),
        (recall_query("", ["sch"]), 1),
        (recall_query("木"), 1),
    ],
)
def test_short_words_match_whole_words_only(query, key):
    assert key not in found(query)


def test_files_alone_reach_the_full_range():
    (hit,) = library(*LESSONS).search(recall_query("", [], ["./src//catalog.py"]), TODAY, top_k=1)
    assert (hit.key, hit.relevance.value) == (4, 1.0)
    assert hit.relevance.scores == {"files": 1.0}
    assert hit.relevance.matched_on == ["files"]


def test_a_listed_directory_stands_for_what_lies_below():
    (hit,) = library(*LESSONS).search(recall_query("", [], ["lib/coordination/lock.py"]), TODAY, top_k=1)
    assert (hit.key, hit.relevance.value, hit.signals.files) == (3, 0.8, 1.0)


def test_tags_alone_reach_the_full_range_and_twins_match():
    (hit,) = library(*LESSONS).search(recall_query("", ["ＬＯＣＫ "]), TODAY, top_k=1)
    assert (hit.key, hit.relevance.value, hit.relevance.weights) == (3, 1.0, {"tags": 0.5})


def test_an_absent_dimension_does_not_count():
    hit = library(*LESSONS).search(recall_query("lock lease dead process"), TODAY)[0]
    assert set(hit.relevance.scores) == {"keywords"}
    assert hit.relevance.value == 1.0


def test_the_parts_explain_the_score():
    query = recall_query("lock lease", ["lock"], ["lib/coordination/a.py"])
    for hit in library(*LESSONS).search(query, TODAY):
        assert hit.score.total == pytest.approx(sum(hit.score.parts.values()) * hit.score.recency)
        assert score(hit.signals, 0) == hit.score


def test_newer_lessons_come_first_among_equals():
    old = entry_of("Locks need leases", "", [], [], TODAY - timedelta(days=365))
    new = entry_of("Locks need leases", "", [], [], TODAY)
    hits = Library({1: old, 2: new}).search(recall_query("lock"), TODAY)
    assert [hit.key for hit in hits] == [2, 1]
    assert [hit.score.recency for hit in hits] == [pytest.approx(1.3), pytest.approx(1.15)]


def test_a_removed_or_replaced_lesson_leaves_no_trace():
    shelf = library(*LESSONS)
    shelf.add(5, entry_of("Locks", "again", ["x.py"], ["lock"], TODAY))
    shelf.add(5, entry_of("Other", "words", [], [], TODAY))
    shelf.remove(5)
    query = recall_query("lock lease", ["lock"], ["x.py"])
    assert shelf.search(query, TODAY) == library(*LESSONS).search(query, TODAY)


def test_only_relevant_hits_are_kept():
    query = recall_query("schema lease parsing wrapper words nobody knows here at all")
    assert found(query, min_relevance=0.0) != []
    assert found(query, min_relevance=0.9) == []


# --- the formulas -----------------------------------------------------------------------------------------------


def test_idf_falls_with_frequency_and_is_never_negative():
    values = [idf(100, frequency) for frequency in (0, 1, 50, 100)]
    assert values == sorted(values, reverse=True)
    assert values[-1] > 0
    assert values[1] == pytest.approx(math.log(1 + 99.5 / 1.5))


def test_the_score_is_the_weighted_sum_times_recency():
    result = score(Signals(text=2, title=1, path=2, files=0.5, file_words=1, tags=1), age_days=365)
    assert result.parts == {"text": 3, "title": 1, "path": 1, "files": 7.5, "file_words": 1, "tags": 3}
    assert result.total == pytest.approx(16.5 * 1.15)


@pytest.mark.parametrize(("age", "expected"), [(0, 1.3), (-5, 1.3), (365, 1.15), (730, 1.075), (10**6, 1.0)])
def test_recency_halves_every_year(age, expected):
    assert recency(age) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("wanted", "has", "expected"),
    [(["a"], set(), 0), (["a", "b"], {"b", "c"}, 1 / 3), ([], {"a"}, 0), (["a"], {"a", "c"}, 0.5)],
)
def test_tags_are_compared_by_jaccard(wanted, has, expected):
    assert jaccard(wanted, has) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("count", "matched", "expected"),
    [
        (1, 1, 1),
        (2, 1, 0.5),
        (4, 2, 0.5),
        (6, 4, 1),
        (20, 3, 3 / 7),
        (20, 7, 1),
        (100, 3, 3 / 7),
        (100, 7, 1),
    ],
)
def test_a_short_query_needs_its_words_and_a_long_one_seven(count, matched, expected):
    wanted = [f"w{number}" for number in range(count)]
    assert keyword_share(wanted, set(wanted[:matched]), dict.fromkeys(wanted, 2.0)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("wanted", "related", "expected"),
    [
        (["a/b.py"], ["a/b.py"], 1.0),
        (["b.py"], ["a/b.py"], 1.0),
        (["x/b.py"], ["a/b.py"], 0.5),
        (["a/b/c.py"], ["a/"], 0.8),
        (["a/b.py", "c.py"], ["a/b.py"], 0.75),
        (["a.js"], ["data.js"], 0.0),
        (["a.js"], [], 0.0),
        (["lib"], ["x/lib/"], 0.0),
    ],
)
def test_files_are_compared_by_path_directory_and_name(wanted, related, expected):
    assert file_match(wanted, related) == pytest.approx(expected)


def test_a_share_counts_rare_things_more():
    assert weighted_share(["rare", "common"], {"rare"}, {"rare": 3.0, "common": 1.0}) == 0.75
    assert weighted_share([], {"x"}, {}) == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("useStreamWS", {"use", "stream", "ws", "usestreamw"}),
        ("max_commit_files", {"max_commit_files", "max", "commit", "file"}),
        ("HTTPServer", {"http", "server", "httpserver"}),
        ("log4j", {"log4j", "log"}),
        ("fixing connections", {"fix", "connect"}),
        ("锁的续租", {"续租", "锁", "续", "租"}),
        ("ロック", {"ロッ", "ック", "ロ", "ッ", "ク"}),
    ],
)
def test_words_are_split_at_humps_and_joints_and_stemmed(text, expected):
    assert set(index_words(text)) == expected


def test_single_characters_order_but_are_not_trusted():
    assert "锁" in index_words("分布锁")
    assert "锁" not in keywords("分布锁")


def test_paths_give_directories_names_and_words():
    assert list(path_tokens("lib/vtls/openssl.c")) == [
        "=lib/vtls/openssl.c", "/lib/", "/lib/vtls/", "@openssl.c", "~openssl", "lib", "vtls", "openssl",
    ]  # fmt: skip
    assert path_words(".agent/rules/") == [".agent", "agent", "rule"]


@pytest.mark.parametrize("word", ["锁", "k8s", "a-b", "x" * 50])
def test_only_english_words_are_stemmed(word):
    assert stem(word) == word


@pytest.mark.parametrize(
    "text",
    ["a" * 200_000, "aB" * 100_000, "A" * 200_000, "a." * 100_000, "锁" * 200_000, "a1" * 99_999],
    ids=lambda value: ascii(value)[:30],
)
def test_a_hostile_task_costs_no_more_than_its_length(text):
    started = time.process_time()
    recall_query(text + "x")
    assert time.process_time() - started < 1.0

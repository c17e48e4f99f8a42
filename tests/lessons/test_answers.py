"""Bands, order, warnings, and why a lesson is missing."""

from datetime import date

import pytest

from evolution.lessons.rules.answers import (
    Candidate,
    Scope,
    band,
    chosen,
    out_of_scope,
    rank,
    warnings,
    why_missing,
)
from evolution.lessons.rules.recall import Relevance, Score

TODAY = date(2026, 8, 1)


def candidate(number, total=1.0, relevance=0.5, severity="medium", day=TODAY, tags=(), title="锁"):
    trust = Relevance(relevance, {"keywords": relevance}, {"keywords": 0.3})
    return Candidate(number, title, severity, day, trust, Score(total, {}, 1.0), tags)


@pytest.mark.parametrize(
    ("relevance", "expected"),
    [
        (1, "strong"),
        (0.6, "strong"),
        (0.5996, "strong"),
        (0.5994, "possible"),
        (0.3, "possible"),
        (0.2994, ""),
        (0, ""),
    ],
)
def test_bands_are_compared_after_rounding(relevance, expected):
    assert band(relevance) == expected


def test_ties_go_to_severity_then_date_then_number():
    older = date(2026, 7, 1)
    hits = [
        candidate(5),
        candidate(4),
        candidate(3, day=older),
        candidate(2, severity="high", day=older),
        candidate(1, 9),
    ]
    assert [hit.number for hit in rank(hits)] == [1, 2, 4, 5, 3]


def test_the_answer_holds_the_best_of_the_relevant():
    hits = [candidate(1, 9, 0.2), candidate(2, 5, 0.3), candidate(3, 7, 0.9), candidate(4, 6, 0.9)]
    assert [hit.number for hit in chosen(hits, 2, 0.3)] == [3, 4]
    assert [hit.number for hit in chosen(hits, 5, 0.3)] == [3, 4, 2]


@pytest.mark.parametrize(("number", "reason"), [(1, "relevance"), (2, "rank"), (3, None), (99, "no_match")])
def test_the_reason_of_a_missing_lesson_is_told(number, reason):
    hits = [candidate(1, 9, 0.2), candidate(2, 5, 0.3), candidate(3, 7, 0.9), candidate(4, 6, 0.9)]
    told = why_missing(number, hits, 2, 0.3)
    assert (told or {}).get("reason") == reason
    if reason == "rank":
        assert told["rank"] == 3


@pytest.mark.parametrize(
    ("status", "agent", "expires", "options", "reason"),
    [
        ("active", None, None, {}, None),
        ("active", 7, TODAY, {}, None),
        ("active", 8, None, {}, "scope"),
        ("active", None, date(2026, 7, 31), {}, "expired"),
        ("archived", None, date(2026, 7, 31), {}, "state"),
        ("archived", None, date(2026, 7, 31), {"include_archived": True}, None),
        ("superseded", None, None, {}, "state"),
        ("superseded", None, None, {"include_superseded": True}, None),
        ("draft", None, None, {"include_archived": True, "include_superseded": True}, "state"),
        ("rejected", None, None, {"include_archived": True, "include_superseded": True}, "state"),
    ],
)
def test_scope_says_what_is_scanned_at_all(status, agent, expires, options, reason):
    told = out_of_scope(status, agent, expires, Scope(7, TODAY, **options))
    assert (told or {}).get("reason") == reason


def test_without_an_agent_all_lessons_of_the_company_are_in_scope():
    assert out_of_scope("active", 8, None, Scope(None, TODAY)) is None


@pytest.mark.parametrize(
    ("language", "tags", "expected"),
    [
        ("zh", ["schema", "handoff", "e2e", "x"], "⚠️ 此任务涉及 schema、handoff、e2e, 请检查 EXP-001: 锁"),
        ("zh", [], "⚠️ 此任务涉及 相关内容, 请检查 EXP-001: 锁"),
        ("en", ["lock"], "⚠️ This task touches lock; check EXP-001: 锁"),
        ("en", [], "⚠️ This task touches related content; check EXP-001: 锁"),
    ],
)
def test_a_grave_match_is_warned_of(language, tags, expected):
    hits = [candidate(1, severity="high", tags=tags), candidate(2, tags=tags)]
    assert warnings(hits, language) == [expected]


def test_a_long_title_is_cut_in_the_warning():
    (line,) = warnings([candidate(1, severity="high", title="字" * 50)])
    assert line.endswith("字" * 39 + "…")

"""The index gives the numbers of the pure rules, on any library and through every way of storing it."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.search.cache import Index
from common.search.rules.matching import Matches, Statistics, frequencies_of, terms_of
from common.search.rules.query import Scope, joined
from common.search.rules.scoring import Plan, ranked
from common.search.rules.segments import Row, appended, build
from evolution.lessons.rules.library import Library, entry_of
from evolution.lessons.rules.recall import recall_query
from tests.search.recall import entry, question

TODAY = date(2026, 8, 1)
WORDS = [
    "lock",
    "lease",
    "schema",
    "修复",
    "断线",
    "重订阅",
    "catalog",
    "parseJSON",
    "stream_ws",
    "锁",
    "的",
    "v2",
    "the",
]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
PATHS = st.sampled_from(
    ["a.py", "src/a.py", "src/", "src/lib/a.py", "src/lib/", "Src/A.py", "文档/锁.md", "b.js", "src/b c.js"]
)
TAGS = st.lists(st.sampled_from(["lock", "ＬＯＣＫ", "流", "two words"]), max_size=3)
LESSONS = st.builds(
    entry_of,
    TEXTS,
    TEXTS,
    st.lists(PATHS, max_size=3),
    TAGS,
    st.integers(-3, 900).map(lambda days: TODAY - timedelta(days=days)),
)
QUERIES = st.tuples(TEXTS, TAGS, st.lists(PATHS, max_size=3)).filter(
    lambda parts: "lock" in parts[0] or parts[1] or parts[2]
)


def row(key, lesson):
    indexed = entry(key, lesson)
    fields = {name: joined(tokens) for name, tokens in indexed.fields.items()}
    return Row(key, fields, day=lesson.date.toordinal())


def rank(segments, query, today=TODAY):
    index = Index(1, segments)
    terms = terms_of(query)
    matches = [Matches(segment, terms) for segment in segments]
    statistics = Statistics(index.counted, index.lengths, frequencies_of(matches, terms))
    plan = Plan(query, Scope(), terms, statistics)
    return ranked(plan, matches)


@given(st.lists(LESSONS, max_size=12), st.lists(LESSONS, max_size=3), QUERIES, st.data())
def test_every_part_of_every_hit_agrees(lessons, later, parts, data):
    library = Library(dict(enumerate(lessons, 1)))
    cut = data.draw(st.integers(0, len(lessons)))
    rows = [row(key, lesson) for key, lesson in library.entries.items()]
    segments = appended(build(rows[:cut]), build(rows[cut:]))
    for lesson in later:
        key = data.draw(st.integers(1, len(lessons) + 3))
        library.add(key, lesson)
        segments = appended([part.without([key]) for part in segments], build([row(key, lesson)]))
    request = recall_query(*parts)
    expected = {hit.key: hit for hit in library.search(request, TODAY, top_k=100)}
    hits = rank(segments, question(request, TODAY)).best(0, 100)
    assert {hit.object_id for hit in hits} == set(expected)
    for hit in hits:
        pure = expected[hit.object_id]
        assert hit.score == pytest.approx(pure.score.total, rel=1e-9, abs=1e-12)
        assert hit.recency == pytest.approx(pure.score.recency, rel=1e-12)
        assert hit.parts == pytest.approx(pure.score.parts, rel=1e-9, abs=1e-12)
        assert hit.signals == pytest.approx(vars(pure.signals), rel=1e-9, abs=1e-12)
    assert [round(hit.score, 9) for hit in hits] == sorted((round(h.score, 9) for h in hits), reverse=True)

"""What callers of the index may rely on."""

import math
from datetime import timedelta

import pytest

from common.search.models import SearchDocument, SearchGeneration
from common.search.rules.query import Attributes, Bm25, Entry, Query, Recency, Scope, Share
from common.search.selectors import search, stored_fields
from common.search.services import index_objects, remove_object, remove_objects
from tests.search.asking import TODAY, ask, found, put

pytestmark = pytest.mark.django_db

MEMORY, DATABASE = 1000, 0
ARCHIVED = 2


@pytest.fixture(params=[MEMORY, DATABASE], ids=["memory", "database"])
def both(request, settings):
    """Everything here holds for the index in memory and for the database's candidates."""
    settings.SEARCH_MAX_IN_MEMORY = request.param


def head(company, kind="note"):
    return SearchGeneration.objects.get(company=company, kind=kind)


def test_a_document_is_found_by_its_words_in_its_company_and_kind_only(both, acme, rival):
    put(acme, 1, "lock lease")
    put(acme, 2, "断线 重连", kind="plan")
    put(rival, 3, "lock")
    assert found(acme, "lock 断线") == [1]
    assert found(acme, "lock 断线", kind="plan") == [2]
    assert found(rival, "lock 断线") == [3]
    assert found(acme, "lock", kind="nothing") == []
    assert found(acme, "") == []


def test_a_change_is_seen_by_the_next_search(both, acme):
    put(acme, 1, "lock lease")
    assert found(acme, "lock") == [1]
    put(acme, 1, "lease")
    assert found(acme, "lock") == []
    assert found(acme, "lease") == [1]
    put(acme, 2, "lease lease")
    assert found(acme, "lease") == [2, 1]
    remove_object(company=acme, kind="note", object_id=2)
    assert found(acme, "lease") == [1]
    put(acme, 2, "lease lease")
    assert found(acme, "lease") == [2, 1]


def test_an_unchanged_document_writes_nothing(acme):
    assert put(acme, 1, "lock", day=TODAY)
    before = head(acme).generation
    assert not put(acme, 1, "lock", day=TODAY)
    assert not remove_object(company=acme, kind="note", object_id=9)
    assert head(acme).generation == before
    assert put(acme, 1, "lock", day=TODAY, rank=1)
    assert head(acme).generation == before + 1
    assert ask(acme, "lock").generation == before + 1


def test_a_score_is_the_sum_of_its_parts_times_recency(both, acme):
    entries = [
        Entry(1, {"text": ["lock", "lock"], "tags": ["db"]}, Attributes(day=TODAY - timedelta(days=365))),
        Entry(2, {"text": ["lock"]}, Attributes(day=TODAY)),
        Entry(3, {}, Attributes(day=TODAY)),
    ]
    assert index_objects(company=acme, kind="note", entries=entries) == 3
    query = Query(
        {"text": Bm25("text", ["lock"], 0.9, 0.4, 2.0), "tags": Share("tags", ["db", "ci"], 3.0)},
        Recency(TODAY),
        {"text": ["lock", "nobody"]},
    )
    answer = search(company=acme, kind="note", query=query)
    idf = [math.log(1 + (3 - n + 0.5) / (n + 0.5)) for n in range(3)]
    bm25 = 2 * 1.9 / (2 + 0.9 * (0.6 + 0.4 * 2))
    share = idf[1] / (idf[0] + idf[1])
    (first, second) = answer.hits
    assert (first.object_id, second.object_id) == (1, 2)
    assert first.signals == pytest.approx({"text": idf[2] * bm25, "tags": share})
    assert first.parts == pytest.approx({"text": 2 * idf[2] * bm25, "tags": 3 * share})
    assert (first.recency, second.recency) == pytest.approx((1.15, 1.3))
    assert first.score == pytest.approx(sum(first.parts.values()) * 1.15)
    assert answer.rarity == {"text": pytest.approx({"lock": idf[2], "nobody": idf[0]})}
    assert answer.scanned == 3


def test_a_signal_of_weight_0_is_told_but_changes_no_score(both, acme):
    put(acme, 1, "lock lock")
    put(acme, 2, "lock lease")
    signals = {"seen": Share("text", ["lease", "lock"], 0.0), "text": Bm25("text", ["lock"])}
    measured = search(company=acme, kind="note", query=Query(signals)).hits
    assert [hit.score for hit in measured] == [hit.score for hit in ask(acme, "lock").hits]
    assert [hit.parts["seen"] for hit in measured] == [0.0, 0.0]
    assert [hit.signals["seen"] for hit in measured] == pytest.approx(
        [0.2 / (0.2 + math.log(2)), 1.0], abs=0.03
    )
    only = {"seen": Share("text", ["lock"], 0.0), "times": Bm25("text", ["lock"], weight=0.0)}
    assert search(company=acme, kind="note", query=Query(only)).hits == []


def test_several_tokens_may_stand_for_one_wanted_thing(both, acme):
    entries = [
        Entry(1, {"path": ["=a/", "=a/b.py"]}),
        Entry(2, {"path": ["=a/"]}),
        Entry(3, {"path": ["=c"]}),
    ]
    index_objects(company=acme, kind="note", entries=entries)
    query = Query({"files": Share("path", [["=a/b.py", "=a/"], ["=c"]])})
    hits = search(company=acme, kind="note", query=query).hits
    idf = [math.log(1 + (3 - n + 0.5) / (n + 0.5)) for n in range(3)]
    assert [hit.object_id for hit in hits] == [3, 1, 2]
    assert hits[1].score == hits[2].score == pytest.approx(idf[2] / (idf[1] + idf[2]))


def test_equal_scores_come_by_rank_then_newer_day_then_lower_sequence(both, acme):
    old = TODAY - timedelta(days=1)
    put(acme, 1, "lock", day=TODAY, sequence=9)
    put(acme, 2, "lock", day=old, rank=1)
    put(acme, 3, "lock", day=TODAY, sequence=5)
    put(acme, 4, "lock", day=TODAY, rank=1)
    put(acme, 5, "lock", day=TODAY)
    assert found(acme, "lock") == [4, 2, 3, 5, 1]
    assert found(acme, "lock", limit=2) == [4, 2]


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope(), [1, 2, 3, 4]),
        (Scope(agent_id=7), [1, 2, 4]),
        (Scope(agent_id=99), [1, 4]),
        (Scope(today=TODAY), [1, 2, 3, 4]),
        (Scope(today=TODAY + timedelta(days=1)), [1, 2, 3]),
        (Scope(states=(0, ARCHIVED)), [1, 2, 3, 4, 5]),
        (Scope(states=(ARCHIVED,)), [5]),
        (Scope(agent_id=99, today=TODAY + timedelta(days=1), states=(0, 1)), [1]),
    ],
)
def test_the_scope_says_what_may_be_found(both, acme, scope, expected):
    put(acme, 1, "lock")
    put(acme, 2, "lock", agent_id=7)
    put(acme, 3, "lock", agent_id=8)
    put(acme, 4, "lock", expires=TODAY)
    put(acme, 5, "lock", state=ARCHIVED)
    answer = ask(acme, "lock", scope=scope)
    assert sorted(hit.object_id for hit in answer.hits) == expected
    assert answer.scanned == len(expected)


def test_only_documents_of_state_0_count_for_idf(both, acme):
    put(acme, 1, "lock")
    put(acme, 2, "lease lease")
    alone = ask(acme, "lock").hits[0]
    put(acme, 3, "lock lock lock", state=ARCHIVED)
    assert ask(acme, "lock").hits == [alone]
    archived, same = ask(acme, "lock", scope=Scope(states=(0, ARCHIVED))).hits
    assert (archived.object_id, same) == (3, alone)
    put(acme, 3, "lock lock lock")
    assert ask(acme, "lock").hits[-1].score < alone.score


def test_more_and_more_hits_can_be_taken_until_there_are_none(both, acme):
    for key in range(1, 12):
        put(acme, key, "lock")
    answer = ask(acme, "lock", limit=2)
    chunks = [[hit.object_id for hit in chunk] for chunk in answer.chunks()]
    assert chunks == [[1, 2], [3, 4], [5, 6, 7, 8], [9, 10, 11]]
    place, hit = answer.place_of(7)
    assert (place, hit.object_id) == (7, 7)
    assert answer.place_of(12) is None


def test_any_text_can_be_a_token(both, acme):
    odd = ['a "b" c.py', "it's", "x\ny", "nul\0", "半\ud800", "=😀/é.md", "*", "OR", "a:b", "\\", "%s"]
    index_objects(
        company=acme, kind="note", entries=[Entry(1, {"f.1": [*odd, ""]}), Entry(2, {"f.1": ["z"]})]
    )
    for token in odd:
        query = Query({"x": Share("f.1", [token])})
        assert [hit.object_id for hit in search(company=acme, kind="note", query=query).hits] == [1], token
    stored = stored_fields(company=acme, kind="note", object_ids=[1, 2, 3])
    assert stored[1]["f.1"][:4] == ['a "b" c.py', "it's", "x y", "nul "]
    assert stored[2] == {"f.1": ["z"]}
    assert set(stored) == {1, 2}


def test_the_head_counts_what_there_is(acme):
    put(acme, 1, "a b")
    put(acme, 2, "c", state=ARCHIVED)
    put(acme, 3, "d")
    put(acme, 1, "a b c")
    remove_object(company=acme, kind="note", object_id=3)
    now = head(acme)
    assert (now.rows, now.counted, now.removed, now.lengths) == (2, 1, 1, {"text": 3})
    put(acme, 3, "d")
    put(acme, 2, "c")
    now = head(acme)
    assert (now.rows, now.counted, now.removed, now.lengths) == (3, 3, 0, {"text": 5})


def test_removed_documents_are_forgotten_in_the_end(both, acme, monkeypatch):
    monkeypatch.setattr("common.search.services.KEPT_REMOVED", 2)
    for key in range(1, 5):
        put(acme, key, "lock")
    assert found(acme, "lock") == [1, 2, 3, 4]
    assert remove_objects(company=acme, kind="note", object_ids=[1, 2]) == 2
    assert SearchDocument.objects.filter(removed=True).count() == 2
    assert remove_objects(company=acme, kind="note", object_ids=[2, 3]) == 1
    assert SearchDocument.objects.filter(removed=True).count() == 0
    assert found(acme, "lock") == [4]


def test_a_company_that_is_deleted_takes_its_documents_along(both, acme, rival):
    put(acme, 1, "lock")
    put(rival, 2, "lock")
    acme.delete()
    assert SearchDocument.objects.count() == 1
    assert found(rival, "lock") == [2]

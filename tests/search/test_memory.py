"""What a process keeps in memory is never stale, never ahead of a commit, and never more than allowed."""

import threading

import numpy as np
import pytest
from django.db import transaction

from common.search import cache
from common.search.cache import SHELF
from common.search.models import SearchGeneration
from common.search.rules.query import Entry
from common.search.rules.segments import Row, appended, build
from common.search.services import index_objects, remove_object
from tests.factories import make_company
from tests.races.threads import RACE, in_threads
from tests.search.asking import ask, found, put
from tests.sizes import sized

pytestmark = RACE
ROUNDS = sized(10, 100)


@pytest.fixture(autouse=True)
def empty_shelf():
    SHELF.clear()
    yield
    SHELF.clear()


@pytest.fixture
def acme():
    return make_company("acme")


def elsewhere(work):
    """Run with a connection of its own, as another process would."""
    return in_threads(1, lambda _number: work())[0]


def kept():
    return list(SHELF.indexes.values())


def test_the_commit_of_another_process_is_seen_by_the_next_search(acme, django_assert_num_queries):
    put(acme, 1, "lock")
    assert found(acme, "lock") == [1]
    with django_assert_num_queries(1):
        assert found(acme, "lock") == [1]
    elsewhere(lambda: put(acme, 2, "lock lock"))
    assert found(acme, "lock") == [2, 1]
    elsewhere(lambda: remove_object(company=acme, kind="note", object_id=2))
    assert found(acme, "lock") == [1]
    elsewhere(lambda: put(acme, 1, "lease"))
    assert found(acme, "lock") == []


def roll_back(acme):
    """What the transaction saw of its own row, and what others saw meanwhile."""
    try:
        with transaction.atomic():
            put(acme, 2, "lock lock")
            mine = found(acme, "lock")
            with transaction.atomic():
                assert found(acme, "lock") == mine
            shared = [index.generation for index in kept()]
            raise RuntimeError("roll back")
    except RuntimeError:
        return mine, shared


def test_what_is_rolled_back_is_seen_by_its_own_transaction_only(acme):
    put(acme, 1, "lock")
    found(acme, "lock")
    before = [index.generation for index in kept()]
    assert roll_back(acme) == ([2, 1], before)
    assert found(acme, "lock") == [1]
    put(acme, 3, "lock")
    assert found(acme, "lock") == [1, 3]


def test_shared_all_the_same_a_rolled_back_row_would_be_found(acme, monkeypatch):
    """Control."""
    monkeypatch.setattr(cache, "wrote_to", lambda key: False)
    put(acme, 1, "lock")
    roll_back(acme)
    put(acme, 3, "lock")
    assert found(acme, "lock") == [2, 1]


def test_a_transaction_that_wrote_nothing_shares_what_it_reads(acme):
    put(acme, 1, "lock")
    with transaction.atomic():
        assert found(acme, "lock") == [1]
    assert len(kept()) == 1


def test_every_thread_finds_what_it_committed_and_two_rows_of_one_write_together(acme):
    stop = threading.Event()

    def write(number):
        for turn in range(ROUNDS):
            key = 1000 * (number + 1) + 2 * turn
            entries = [Entry(one, {"text": ["pair", f"w{key}"]}) for one in (key, key + 1)]
            index_objects(company=acme, kind="note", entries=entries)
            assert found(acme, f"w{key}") == [key, key + 1]
            if turn % 3 == 2:
                index_objects(
                    company=acme, kind="note", entries=[Entry(k, {"text": ["x"]}) for k in (key, key + 1)]
                )
                assert found(acme, f"w{key}") == []

    def read():
        sizes = []
        while not stop.is_set():
            sizes.append(len(found(acme, "pair", limit=1000)))
        return sizes

    def work(number):
        if number == 3:
            return read()
        try:
            return write(number)
        finally:
            done.append(number)
            if len(done) == 3:
                stop.set()

    done: list[int] = []
    sizes = in_threads(4, work)[3]
    assert [size for size in sizes if size % 2] == []
    assert len(found(acme, "pair", limit=1000)) == 3 * 2 * (ROUNDS - ROUNDS // 3)


def test_the_least_recently_used_index_leaves_when_memory_is_full(monkeypatch):
    companies = [make_company(f"company-{number}") for number in range(3)]
    for company in companies:
        put(company, 1, "lock lease")
        found(company, "lock")
    size = kept()[0].nbytes
    SHELF.clear()
    monkeypatch.setattr(cache, "memory_limit", lambda: 2 * size)
    first, second, third = companies
    for company in (first, second, first, third):
        assert found(company, "lock") == [1]
    keys = [SearchGeneration.objects.get(company=company).pk for company in (first, third)]
    assert list(SHELF.indexes) == keys
    assert sum(index.nbytes for index in kept()) <= cache.memory_limit()
    assert found(second, "lock") == [1]


def test_an_index_too_large_for_all_memory_is_left_to_the_database(acme, monkeypatch):
    put(acme, 1, "lock")
    monkeypatch.setattr(cache, "memory_limit", lambda: 10)
    assert found(acme, "lock") == [1]
    assert kept() == []
    put(acme, 2, "lock lock")
    assert found(acme, "lock") == [2, 1]
    assert kept() == []


def test_a_database_that_went_back_in_time_is_read_anew(acme):
    put(acme, 1, "lock")
    old = SearchGeneration.objects.get(company=acme)
    put(acme, 2, "lock")
    assert found(acme, "lock") == [1, 2]
    remove_object(company=acme, kind="note", object_id=2)
    SearchGeneration.objects.filter(pk=old.pk).update(generation=old.generation)
    assert found(acme, "lock") == [1]
    assert ask(acme, "lock").scanned == 1


def test_segments_stay_few_and_hold_little_that_is_dead():
    segments = []
    for key in range(1, 700):
        gone = np.array([key - 350])
        segments = appended(
            [own.without(gone) for own in segments], build([Row(key, {"text": f"a\nw{key}"})])
        )
        assert len(segments) <= 4
        assert sum(own.size for own in segments) <= 350 / 0.7 + 256
    assert sum(own.living for own in segments) == 350
    alive = np.concatenate([own.columns["object_ids"][own.alive] for own in segments])
    assert sorted(alive.tolist()) == list(range(350, 700))

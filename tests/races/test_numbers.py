"""Human numbers: each is given out once, in order, to however many ask at once."""

import time

import pytest
from django.db import transaction

from common.counters.models import IdCounter
from common.counters.rules import format_code
from common.counters.services import next_number, raise_to
from tests.factories import make_company
from tests.races.threads import RACE, in_threads
from tests.sizes import sized

pytestmark = RACE

EACH = sized(10, 50)


@pytest.fixture
def acme():
    return make_company("acme")


def test_eight_takers_get_different_numbers_without_a_gap(acme):
    taken = in_threads(
        8, lambda number: [next_number(company_id=acme.pk, prefix="EXP-") for _ in range(EACH)]
    )
    assert all(mine == sorted(mine) for mine in taken)
    assert sorted(number for mine in taken for number in mine) == list(range(1, 8 * EACH + 1))


def test_companies_and_prefixes_count_apart(acme):
    rival = make_company("rival")
    places = [(acme.pk, "EXP-"), (acme.pk, "k-"), (rival.pk, "EXP-"), (rival.pk, "k-")]

    def take(number):
        company_id, prefix = places[number % 4]
        return [next_number(company_id=company_id, prefix=prefix) for _ in range(3)]

    taken = in_threads(8, take)
    for start in range(4):
        assert sorted(taken[start] + taken[start + 4]) == [1, 2, 3, 4, 5, 6]


def test_a_number_of_a_transaction_that_failed_is_taken_again_and_never_twice(acme):
    def take(number):
        kept = []
        for turn in range(5):
            try:
                with transaction.atomic():
                    mine = next_number(company_id=acme.pk, prefix="P-")
                    if (number + turn) % 2:
                        raise ZeroDivisionError
                kept.append(mine)
            except ZeroDivisionError:
                continue
        return kept

    kept = [number for mine in in_threads(6, take) for number in mine]
    assert sorted(kept) == list(range(1, len(kept) + 1))


def test_an_import_raises_the_counter_and_never_lowers_it(acme):
    raise_to(company_id=acme.pk, prefix="EXP-", number=9)
    assert format_code("EXP-", next_number(company_id=acme.pk, prefix="EXP-")) == "EXP-010"
    raise_to(company_id=acme.pk, prefix="EXP-", number=3)
    assert next_number(company_id=acme.pk, prefix="EXP-") == 11


def test_the_highest_number_plus_one_would_be_given_out_twice(acme):
    """Control: no locked counter."""
    IdCounter.objects.create(company=acme, prefix="EXP-")

    def take(number):
        taken = []
        for _ in range(5):
            row = IdCounter.objects.get(company=acme, prefix="EXP-")
            time.sleep(0.005)
            IdCounter.objects.filter(pk=row.pk).update(last_number=row.last_number + 1)
            taken.append(row.last_number + 1)
        return taken

    taken = [number for mine in in_threads(8, take) for number in mine]
    assert len(set(taken)) < len(taken)

"""Receipts written at once make one chain; reading it meanwhile never finds it broken."""

import pytest
from django.utils import timezone

from common.receipts.models import Receipt
from common.receipts.rules import Line
from common.receipts.selectors import verify_chain
from common.receipts.services import write_receipt
from tests.factories import SYSTEM, make_company
from tests.races.threads import RACE, in_threads
from tests.sizes import sized

pytestmark = RACE

EACH = sized(12, 100)


@pytest.fixture
def acme():
    return make_company("acme")


def append(company, text):
    return write_receipt(
        company=company,
        actor=SYSTEM,
        type="change",
        trigger="test",
        at=timezone.now(),
        lines=[Line(type="t", target="x", content=text)],
    )


def test_eight_writers_make_one_chain_without_fork_or_gap(acme):
    rival = make_company("rival")

    def write(number):
        return [append(acme if number < 6 else rival, f"{number}-{turn}").number for turn in range(EACH)]

    in_threads(8, write)
    for company, writers in ((acme, 6), (rival, 2)):
        receipts = list(Receipt.objects.filter(company=company).order_by("number"))
        assert [receipt.number for receipt in receipts] == list(range(1, writers * EACH + 1))
        links = [receipt.previous_sha256 for receipt in receipts]
        assert links == ["", *(receipt.sha256 for receipt in receipts[:-1])]
        assert verify_chain(company).checked == writers * EACH
        assert verify_chain(company).intact


def test_a_chain_is_found_whole_while_it_grows(acme):
    def work(number):
        if number:
            return [append(acme, str(turn)) for turn in range(EACH)] and []
        return [verify_chain(acme) for _ in range(sized(10, 100))]

    reports = in_threads(4, work)[0]
    assert all(report.intact for report in reports)

"""Several runtimes, people and jobs at one item at once: one result, whole orders, ledgers and receipt chains."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from common.errors import ApplicationError
from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from evolution.knowledge.models import ConfidenceEvent, Knowledge
from evolution.knowledge.selectors.shown import shown_sha256
from evolution.knowledge.services import deciding
from evolution.knowledge.services.archiving import archive_knowledge
from evolution.knowledge.services.decaying import decay_knowledge
from evolution.knowledge.services.editing import change_knowledge, move_knowledge
from evolution.knowledge.services.storing import add_knowledge
from tests.factories import SYSTEM, make_agent, make_company
from tests.knowledge.items import decision, key_actor, make_knowledge, of_ledger, person_actor
from tests.races.threads import RACE, in_threads

pytestmark = RACE
NOW = datetime(2026, 6, 12, 4, 0, tzinfo=UTC)


@pytest.fixture
def acme():
    return make_company("acme")


def add(company, title, actor=SYSTEM, agent=None):
    return add_knowledge(
        company=company,
        agent=agent,
        fields={"title": title, "category": "pattern"},
        source_type="manual",
        confidence=Decimal("0.5"),
        actor=actor,
        now=NOW,
    )


def orders(**scope):
    return sorted(Knowledge.objects.filter(**scope).values_list("order", flat=True))


def test_the_same_finding_reported_at_once_is_one_item(acme):
    keys = [key_actor(acme) for _ in range(4)]
    results = in_threads(4, lambda n: add(acme, "Same", keys[n]))
    assert sorted(created for _item, created in results) == [False, False, False, True]
    item = Knowledge.objects.get()
    assert item.confidence == of_ledger(item) == Decimal("0.8")


def test_different_findings_at_once_have_numbers_and_orders_of_their_own(acme):
    agent = make_agent(acme)
    in_threads(6, lambda n: add(acme, f"t{n}", agent=agent if n % 2 else None))
    assert sorted(Knowledge.objects.values_list("number", flat=True)) == [1, 2, 3, 4, 5, 6]
    assert orders(agent=agent) == orders(agent=None) == [0, 1, 2]


def test_decay_in_parallel_takes_each_step_once(acme):
    for number in range(3):
        make_knowledge(acme, f"t{number}", now=NOW - timedelta(days=31), confidence="0.9", active=True)
    before = Receipt.objects.count()
    reports = in_threads(4, lambda n: len(decay_knowledge(actor=SYSTEM, now=NOW, company=acme).faded))
    assert sum(reports) == 3
    assert set(Knowledge.objects.values_list("confidence", flat=True)) == {Decimal("0.8")}
    assert ConfidenceEvent.objects.filter(kind="decay").count() == 3
    assert Receipt.objects.count() - before <= 3
    assert verify_chain(acme).intact


def test_every_vote_of_many_at_once_counts(acme):
    item = make_knowledge(acme, confidence="0.5", active=True)
    voters = [decision(key_actor(acme), NOW) for _ in range(4)]
    in_threads(4, lambda n: deciding.reference(knowledge_id=item.pk, decision=voters[n]))
    item.refresh_from_db()
    assert item.confidence == of_ledger(item) == Decimal("0.7")
    assert verify_chain(acme).intact


def test_what_is_active_is_what_was_confirmed_even_while_others_edit(acme):
    item = make_knowledge(acme)
    shown, people = shown_sha256(item), [person_actor() for _ in range(4)]

    def work(number):
        try:
            if number % 2:
                change_knowledge(
                    knowledge_id=item.pk, changes={"summary": f"s{number}"}, actor=people[number], now=NOW
                )
            else:
                deciding.activate(
                    knowledge_id=item.pk, decision=decision(people[number], NOW), shown_hash=shown
                )
        except ApplicationError as error:
            return error.code
        return "ok"

    assert set(in_threads(4, work)) <= {"ok", "STATE_CONFLICT"}
    item.refresh_from_db()
    assert item.status == "draft" or item.confirmed_sha256 == shown_sha256(item)


def test_moves_additions_and_a_purge_at_once_leave_whole_orders(acme):
    items = [make_knowledge(acme, f"t{number}", now=NOW - timedelta(days=60)) for number in range(6)]
    old = NOW - timedelta(days=30)
    gone = [item.pk for item in items[:3]]
    Knowledge.objects.filter(pk__in=gone).update(status="archived", deprecated_at=old, archived_at=old)

    def work(number):
        if number == 0:
            archive_knowledge(actor=SYSTEM, now=NOW - timedelta(days=50), company=acme)
            return len(archive_knowledge(actor=SYSTEM, now=NOW, company=acme, purge=True, limit=100).purged)
        if number % 2:
            move_knowledge(knowledge_id=items[5].pk, step=-number, actor=SYSTEM, now=NOW)
        else:
            add(acme, f"new {number}")
        return 0

    try:
        in_threads(5, work)
    except ApplicationError as error:
        assert error.code == "STATE_CONFLICT"  # archived by the first thread before it was moved
    assert not Knowledge.objects.filter(pk__in=gone).exists()
    left = Knowledge.objects.count()
    assert orders() == list(range(left))
    assert verify_chain(acme).intact

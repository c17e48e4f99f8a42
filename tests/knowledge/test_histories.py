"""Whatever happens to an item, replaying its ledger gives the stored value; one runtime gets it only so far."""

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from evolution.knowledge.choices import EventKind
from evolution.knowledge.models import Knowledge
from evolution.knowledge.rules.confidence import DELTAS, ZERO, allowed_rise, clamped, replayed
from evolution.knowledge.services.confidence import record_event
from evolution.knowledge.services.decaying import decay_knowledge
from evolution.parameters.rules.specs import Parameters
from tests.factories import SYSTEM
from tests.knowledge.items import key_actor, make_knowledge, of_ledger, person_actor

HISTORIES = 10_000
START = datetime(2026, 1, 1, tzinfo=UTC)
DECAYS = [Decimal(text) for text in ("-0.05", "-0.1", "-0.15", "-0.45", "-0.033")]


def history(chance, principals):
    """Deltas as they are recorded, the value they led to, and the highest one that people vouched for."""
    value = vouched = highest = Decimal(chance.randrange(0, 1001)) / 1000
    deltas, raised = [value], dict.fromkeys(principals, ZERO)
    for _event in range(chance.randrange(0, 25)):
        who = chance.choice(principals)
        delta = chance.choice([*DELTAS.values(), *DECAYS])
        if who.startswith("key") and delta > ZERO:
            delta = allowed_rise(delta, vouched, raised[who])
            raised[who] += delta
        value = clamped(value + delta)
        deltas.append(delta)
        if who.startswith("user"):
            vouched, raised = value, dict.fromkeys(principals, ZERO)
            highest = max(highest, vouched)
    return deltas, value, highest


def test_ten_thousand_random_histories_replay_to_the_stored_value():
    chance = random.Random(2026)
    for _number in range(HISTORIES):
        deltas, value, _highest = history(chance, ["key:1", "key:2", "user:1", ""])
        assert replayed(deltas) == value
        assert ZERO <= value <= 1


def test_one_runtime_alone_never_gets_above_its_cap():
    chance = random.Random(7)
    for _number in range(HISTORIES // 5):
        _deltas, value, vouched = history(chance, ["key:1"])
        assert value <= max(Decimal("0.7"), vouched + Decimal("0.1"))


@pytest.mark.django_db
def test_random_histories_through_the_services_replay_to_what_is_stored(acme):
    chance = random.Random(11)
    actors = [key_actor(acme), key_actor(acme), person_actor(), SYSTEM]
    items = [
        make_knowledge(acme, f"t{number}", now=START, confidence=f"0.{number}5", active=True)
        for number in range(1, 10, 3)
    ]
    kinds = [kind for kind in EventKind if kind in DELTAS]
    for step in range(12):
        now = START + timedelta(days=step * 9)
        for item in items:
            row = Knowledge.objects.get(pk=item.pk)
            record_event(
                row, chance.choice(kinds), actor=chance.choice(actors), now=now, parameters=Parameters()
            )
        decay_knowledge(actor=SYSTEM, now=now + timedelta(days=40 * (step % 5 == 4)))
    for item in Knowledge.objects.all():
        assert of_ledger(item) == item.confidence
        low = item.confidence < Decimal("0.5")
        assert (item.status == "deprecated") == low


@pytest.mark.django_db
def test_control_a_changed_value_is_noticed(acme):
    item = make_knowledge(acme)
    Knowledge.objects.update(confidence=Decimal("0.9"))
    item.refresh_from_db()
    assert of_ledger(item) != item.confidence

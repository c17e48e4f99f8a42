"""Items of knowledge for tests, made through the services."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils import timezone

from common.actors import Actor, Channel
from common.companies.models import ApiKey, Company
from evolution.knowledge.models import ConfidenceEvent, Knowledge
from evolution.knowledge.rules.confidence import replayed
from evolution.knowledge.services.deciding import Decision, activate
from evolution.knowledge.services.storing import add_knowledge
from tests.factories import SYSTEM, make_key, make_person

_people = itertools.count(1)


def key_actor(company: Company, scopes: Sequence[str] = ("report",)) -> Actor:
    """A new key of the company, as an actor."""
    make_key(company, list(scopes))
    key = ApiKey.objects.latest("pk")
    return Actor(f"key:{key.name}", Channel.API, key_id=key.pk)


def person_actor() -> Actor:
    """A person who signed in."""
    person = make_person(f"person{next(_people)}")
    return Actor(person.get_username(), Channel.ADMIN, user_id=person.pk)


def decision(actor: Actor | None = None, now: datetime | None = None, **fields: Any) -> Decision:
    """A decision of a person, now."""
    return Decision(actor or person_actor(), now or timezone.now(), **fields)


def make_knowledge(
    company: Company,
    title: str = "Flutter state",
    *,
    now: datetime | None = None,
    confidence: str = "0.7",
    agent: Any = None,
    actor: Actor = SYSTEM,
    source_type: str = "manual",
    active: bool = False,
    **fields: Any,
) -> Knowledge:
    """A new draft, or an item that a person activated when it was made."""
    now = now or timezone.now()
    item, created = add_knowledge(
        company=company,
        agent=agent,
        fields={"title": title, "category": "pattern", **fields},
        source_type=source_type,
        confidence=Decimal(confidence),
        actor=actor,
        now=now,
    )
    assert created
    return activate(knowledge_id=item.pk, decision=decision(now=now)) if active else item


def of_ledger(item: Knowledge) -> Decimal:
    """The confidence that replaying the stored events gives."""
    events = ConfidenceEvent.objects.of_item(item.pk)
    return replayed(events.values_list("delta", flat=True))

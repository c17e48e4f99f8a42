"""Items of knowledge for tests, made through the services."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils import timezone

from common.actors import Actor, Channel
from common.companies.models import ApiKey, Company
from evolution.knowledge.models import Knowledge
from evolution.knowledge.services.storing import add_knowledge
from tests.factories import SYSTEM, make_key, make_person


def key_actor(company: Company, scopes: Sequence[str] = ("report",)) -> Actor:
    """A key of the company, as an actor."""
    text = make_key(company, list(scopes))
    key = ApiKey.objects.latest("pk")
    assert text
    return Actor(f"key:{key.name}", Channel.API, key_id=key.pk)


def person_actor(name: str = "mei") -> Actor:
    """A person who signed in."""
    person = make_person(name)
    return Actor(name, Channel.ADMIN, user_id=person.pk)


def make_knowledge(
    company: Company,
    title: str = "Flutter state",
    *,
    now: datetime | None = None,
    confidence: str = "0.7",
    agent: Any = None,
    actor: Actor = SYSTEM,
    source_type: str = "manual",
    **fields: Any,
) -> Knowledge:
    """A new draft."""
    item, created = add_knowledge(
        company=company,
        agent=agent,
        fields={"title": title, "category": "pattern", **fields},
        source_type=source_type,
        confidence=Decimal(confidence),
        actor=actor,
        now=now or timezone.now(),
    )
    assert created
    return item

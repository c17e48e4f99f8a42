"""In the application: ten thousand active items, two in five with a causal score, and a runtime that asks.

Imported after `django.setup()`; see injection.py.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

from django.core.management import call_command
from django.test import Client
from django.test.utils import setup_test_environment
from django.utils import timezone

from agents.choices import Source
from agents.services.agents import create_agent
from agents.services.editing import Edit
from bench.latency_data import chinese, english
from common.actors import Actor, Channel
from common.companies.models import Company
from common.companies.services import issue_api_key
from common.search.services import index_objects
from evolution.knowledge.choices import Category, Status
from evolution.knowledge.models import CausalScore, Knowledge
from evolution.knowledge.rules.search_fields import KIND
from evolution.knowledge.services.indexing import entries_of
from experiences.rules import RowInput

ACTOR = Actor(name="bench", channel=Channel.COMMAND)
ROLE = "你是运维助手，负责排障、发布与值班交接。先看事实，再下结论；说明依据，给出下一步。\n" * 20
BATCH = 1000
_chance = random.Random(7)
_languages = (english(_chance), chinese(_chance))


class Runtime:
    """Asks for the prompt of one agent."""

    def __init__(self, key: str, agent_id: int) -> None:
        self.client = Client(headers={"authorization": f"Bearer {key}"})
        self.path = f"/api/v1/agents/{agent_id}/prompt"

    def prompt(self, body: dict) -> None:
        response = self.client.post(self.path, json.dumps(body), content_type="application/json")
        assert response.status_code == 200, response.content
        assert bool(response.json()["injection_id"]) == bool(body), response.json()["warnings"]

    @staticmethod
    def tasks(count: int) -> list[str]:
        return [_languages[number % 2].text(_chance, 200) for number in range(count)]


@contextmanager
def prepared(items: int) -> Iterator[Runtime]:
    """A company with that many items, its agent, and a key."""
    setup_test_environment()
    call_command("migrate", verbosity=0)
    now = timezone.now()
    company = Company.objects.create(slug="bench", name="Bench")
    edit = Edit(actor=ACTOR, now=now, source=Source.API)
    rows = [RowInput(content=f"{number} 排障时先确认是否有明确的证据。") for number in range(20)]
    agent = create_agent(
        company=company, fields={"name": "served", "system_prompt": ROLE}, rows=rows, edit=edit
    )
    _key, key = issue_api_key(company=company, name="bench", scopes=["read"], actor=ACTOR, now=now)
    for start in range(1, items + 1, BATCH):
        made = [_item(company, number) for number in range(start, min(start + BATCH, items + 1))]
        ids = [item.pk for item in Knowledge.objects.bulk_create(made)]
        index_objects(company=company, kind=KIND, entries=entries_of(company, ids))
        CausalScore.objects.bulk_create(
            CausalScore(
                knowledge_id=pk, company=company, samples=5 + pk % 9, thousandths=pk * 37 % 1000 - 200
            )
            for pk in ids
            if pk % 5 < 2
        )
    yield Runtime(key, agent.pk)


def _item(company: Company, number: int) -> Knowledge:
    language = _languages[number % 2]
    title = f"{number} {language.text(_chance, 40)}"
    return Knowledge(
        company=company,
        number=number,
        order=number,
        title=title,
        title_key=hashlib.sha256(title.encode()).hexdigest(),
        category=Category.values[number % len(Category.values)],
        tags=language.text(_chance, 20).split(),
        summary=language.text(_chance, 300),
        confidence=Decimal(500 + number % 11 * 50) / 1000,
        status=Status.ACTIVE,
        confirmed_sha256="0" * 64,
        created_by="bench",
    )

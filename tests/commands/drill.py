"""The parts of the restore drill that run as processes of their own: `python -m tests.commands.drill <part>`.

The database is that of DATABASE_URL. Each part prints one JSON object, or for `write` a line a change.
"""

import itertools
import json
import sys
from datetime import UTC, datetime

import django

django.setup()

import time_machine  # noqa: E402
from django.apps import apps  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import DatabaseError, connection, transaction  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import setup_test_environment  # noqa: E402

from agents.models import Agent, AgentVersion  # noqa: E402
from agents.services.agents import update_agent  # noqa: E402
from common.companies.models import Company  # noqa: E402
from common.counters.services import next_number  # noqa: E402
from common.receipts.models import Receipt  # noqa: E402
from config.management.commands.seed_demo import DEMO_PASSWORD  # noqa: E402
from tests.factories import ApiClient, an_edit, make_agent, make_key  # noqa: E402

BUSY = "busy agent"
NUMBERS = 11
#: The prompt tells the day.
DAY = datetime(2026, 6, 12, 8, tzinfo=UTC)


def say(value):
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def seed():
    """A migrated database with the demo data, an agent that will be written to, and numbers that were used."""
    call_command("migrate", verbosity=0)
    call_command("seed_demo", verbosity=0, stdout=sys.stderr)
    company = Company.objects.get(slug="yunling")
    make_agent(company, BUSY, rows=["每次都变", "changes each time"])
    for _ in range(NUMBERS):
        next_number(company_id=company.pk, prefix="DRILL-")
    key = make_key(company, scopes=["read"])
    return {"key": key, **state(key)}


def write():
    """Change the busy agent until somebody ends this; says the number of each change that was committed."""
    agent = Agent.objects.get(name=BUSY)
    for number in itertools.count(1):
        update_agent(agent_id=agent.pk, fields={"description": f"第 {number} 次"}, edit=an_edit())
        say(number)


def state(key):
    """Everything the drill compares: rows, prompts, versions; and whether one moment was copied."""
    busy = Agent.objects.get(name=BUSY)
    quiet = Agent.objects.exclude(pk=busy.pk)
    return {
        "rows": {
            model._meta.label: model._base_manager.count()
            for model in apps.get_models()
            if model._meta.app_label not in ("receipts", "sessions") and model is not AgentVersion
        },
        "versions": AgentVersion.objects.exclude(agent=busy).count(),
        "agents": sorted(quiet.values_list("name", "version", "system_prompt")),
        "busy": [
            busy.version,
            AgentVersion.objects.filter(agent=busy).count(),
            Receipt.objects.filter(agent=busy).count(),
        ],
        "prompts": prompts(key),
        "everyone": {
            name: Client().login(username=name, password=DEMO_PASSWORD)
            for name in ("admin", "administrator", "editor", "approver", "viewer")
        },
    }


def prompts(key):
    """Each quiet agent's prompt on one fixed day, as its runtime gets it."""
    client = ApiClient(key)
    with time_machine.travel(DAY, tick=False):
        answers = {
            agent.name: client.get(f"agents/{agent.pk}/prompt", accept="text/plain")
            for agent in Agent.objects.exclude(name=BUSY).filter(company__slug__in=("yunling", "_global"))
        }
    return {name: [answer.status_code, answer.content.decode()] for name, answer in answers.items()}


def go_on():
    """Work on in the restored database: the next number, a new agent, and what must stay impossible."""
    company = Company.objects.get(slug="yunling")
    refused = []
    for attempt in (Receipt._base_manager.all().delete, _change_a_receipt):
        try:
            with transaction.atomic():
                attempt()
        except DatabaseError as error:
            refused.append(type(error).__name__)
    return {
        "number": next_number(company_id=company.pk, prefix="DRILL-"),
        "agent": make_agent(company, "made after the restore", rows=["新的一条"]).version,
        "refused": refused,
    }


def _change_a_receipt():
    with connection.cursor() as cursor:
        cursor.execute("UPDATE receipts_receipt SET actor_name = 'x'")


if __name__ == "__main__":
    setup_test_environment()
    say({"seed": seed, "write": write, "state": state, "go_on": go_on}[sys.argv[1]](*sys.argv[2:]))

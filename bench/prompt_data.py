"""In the application: prepare the database of a run, and measure rendering.

Imported after `django.setup()`; see `SETUP` in prompt.py.
"""

import json
import statistics
import sys
import time
from datetime import datetime

from django.core.management import call_command
from django.utils import timezone

from agents.choices import Source
from agents.models import Agent
from agents.services.agents import create_agent
from agents.services.editing import Edit
from common.actors import Actor, Channel
from common.companies.models import Company
from common.companies.services import issue_api_key
from experiences.rules import RowInput
from prompt.rules.values import PromptRequest
from prompt.services import serve_prompt

ACTOR = Actor(name="bench", channel=Channel.COMMAND)
ROLE = "你是运维助手，负责排障、发布与值班交接。先看事实，再下结论；说明依据，给出下一步。\n" * 20
ROW = "排障时不要轻易建议重启，先确认是否有明确的资源泄漏或死锁证据。" * 8
RENDERS = 15


def main() -> None:
    """Print one line of JSON: the agent to fetch, a key, and how long 1,000 experiences take (ms)."""
    call_command("migrate", verbosity=0)
    now = timezone.now()
    company = Company.objects.create(slug="bench", name="Bench")
    agent = _agent(company, "served", ROLE, rows=4, now=now)
    _key, key = issue_api_key(company=company, name="bench", scopes=["read"], actor=ACTOR, now=now)
    big = _agent(company, "rendered", "你是运维助手。", rows=1000, now=now)
    json.dump({"agent": agent.pk, "key": key, "render_ms": _render_ms(company, big)}, sys.stdout)


def _agent(company: Company, name: str, role: str, rows: int, now: datetime) -> Agent:
    return create_agent(
        company=company,
        fields={"name": name, "system_prompt": role},
        rows=[RowInput(content=f"{number} {ROW}") for number in range(rows)],
        edit=Edit(actor=ACTOR, now=now, source=Source.API),
    )


def _render_ms(company: Company, agent: Agent) -> float:
    times = []
    for _round in range(RENDERS):
        started = time.perf_counter()
        serve_prompt(agent_id=agent.pk, company=company, request=PromptRequest(), now=timezone.now())
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)

"""Work the learning queue off: ten at a time, by priority, then first come first served.

Effect, "done" and receipt of a report are one transaction that holds its row, so a second dispatcher, a second
delivery or a kill in between gives the effect once. docs/rules.md: learning queue.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

import structlog
from django.db import transaction

from common.actors import Actor
from common.companies.models import Company
from common.errors import ApplicationError
from evolution.cycles.selectors import BATCH, waiting
from evolution.cycles.services.effects import effect_of
from evolution.knowledge.choices import LearningStatus
from evolution.knowledge.models import LearningItem
from evolution.knowledge.rules.queue import PRIORITIES
from evolution.knowledge.services.queue import fail, finish, lease, locked_lease

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Asked:
    """What a run was asked for. `clock` tells the time anew for every report; `limit` None = all that wait."""

    actor: Actor
    clock: Callable[[], datetime]
    priorities: Collection[str] = PRIORITIES
    company: Company | None = None
    agent_id: int | None = None
    limit: int | None = None
    progress: Callable[[int], Any] = lambda done: None


@dataclass
class Dispatched:
    """The reports that were worked on, as they stand now."""

    items: list[LearningItem] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """How many are done, failed (they wait for another try) and given up."""
        statuses = [item.status for item in self.items]
        return {
            "done": statuses.count(LearningStatus.DONE),
            "failed": statuses.count(LearningStatus.PENDING),
            "dead": statuses.count(LearningStatus.DEAD),
        }


def count_waiting(asked: Asked) -> int:
    """How many reports a run would work on."""
    return waiting(
        asked.clock(), asked.priorities, asked.company.pk if asked.company else None, asked.agent_id
    )[: asked.limit].count()


def process_queue(asked: Asked) -> Dispatched:
    """Work on what waits, each report at most once in a run; companies take turns batch by batch."""
    report = Dispatched()
    set_aside: set[int] = set()
    for pk in islice(_turns(asked, set_aside), asked.limit):
        item = process_item(pk, actor=asked.actor, now=asked.clock())
        if item is None or item.status == LearningStatus.PENDING:
            set_aside.add(pk)
        if item is not None:
            report.items.append(item)
            asked.progress(1)
    return report


def process_item(item_id: int, *, actor: Actor, now: datetime) -> LearningItem | None:
    """Take one report and learn from it; None when another dispatcher has it.

    What goes wrong is noted on the row, which is tried again later and given up after the third time.
    """
    item = lease(item_id, now=now)
    if item is None:
        return None
    try:
        return _learn(item, actor, now)
    except ApplicationError as error:
        return fail(item, error=str(error.message), now=now)
    except Exception as error:
        # A bug, or a database that was away: kept on the row, where staff see it, and in the log.
        log.exception("learning_failed", item=item.code)
        return fail(item, error=f"{type(error).__name__}: {error}", now=now)


@transaction.atomic
def _learn(item: LearningItem, actor: Actor, now: datetime) -> LearningItem | None:
    locked = locked_lease(item)
    if locked is None:
        return None
    effect = effect_of(locked, actor=actor, now=now)
    finish(locked, actor=actor, now=now, result=effect.result, note=effect.note)
    return locked


def _turns(asked: Asked, set_aside: Collection[int]) -> Iterator[int]:
    """Ids of waiting reports: a batch of each company, again and again until nothing is left.

    What is set aside meanwhile (it failed in this run) is not given again.
    """
    found = True
    while found:
        found = False
        for company_id in _companies(asked):
            rows = waiting(asked.clock(), asked.priorities, company_id, asked.agent_id)
            batch = list(rows.exclude(pk__in=set_aside).values_list("pk", flat=True)[:BATCH])
            found = found or bool(batch)
            yield from batch


def _companies(asked: Asked) -> list[int]:
    if asked.company is not None:
        return [asked.company.pk]
    rows = waiting(asked.clock(), asked.priorities, agent_id=asked.agent_id).order_by("company_id")
    return list(rows.values_list("company_id", flat=True).distinct())

"""Let confidence fade that nobody uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Q

from common.actors import Actor
from common.archive import in_batches
from common.companies.models import Company
from common.receipts.choices import ReceiptType
from evolution.knowledge.choices import Category, EventKind, Status
from evolution.knowledge.models import Knowledge
from evolution.knowledge.models.knowledge import KnowledgeQuerySet
from evolution.knowledge.rules.confidence import STEP, Decay, decay_due, decay_step
from evolution.knowledge.selectors.causal import causal_scores
from evolution.knowledge.services.confidence import decays, record_event
from evolution.knowledge.services.locking import locked_items
from evolution.knowledge.services.receipts import write_knowledge_receipt
from evolution.knowledge.services.settling import settle_knowledge
from evolution.parameters.rules.specs import Parameters
from evolution.parameters.selectors import parameters_of

#: Items that share a transaction and a receipt.
BATCH = 200
ACTIVITIES = ("created_at", "verified_at", "referenced_at", "applied_at", "last_decay_at")


@dataclass(frozen=True)
class Faded:
    """What one item lost: before, after, in how many steps."""

    code: str
    before: Decimal
    after: Decimal
    steps: int
    deprecated: bool


@dataclass
class DecayReport:
    """The items that lost confidence, or would; those that a changed threshold moved, by their code and state."""

    faded: list[Faded] = field(default_factory=list)
    settled: list[tuple[str, str]] = field(default_factory=list)

    @property
    def deprecated(self) -> int:
        return sum(one.deprecated for one in self.faded)


def decay_knowledge(
    *,
    actor: Actor,
    now: datetime,
    company: Company | None = None,
    limit: int | None = None,
    dry_run: bool = False,
    progress: Callable[[int], Any] = lambda done: None,
) -> DecayReport:
    """Take from each active item what its last use calls for at `now`; warnings do not fade.

    In batches of 200, each in a transaction with its receipt. Running again, at the same time or as a retry
    changes nothing more: the end of the last step is stored, and only whole steps since then count. A trial run
    goes the same way and keeps nothing. Then a threshold that was changed takes effect (`settling`).
    docs/rules.md: decay.
    """
    report = DecayReport()
    for each in Company.objects.order_by("pk") if company is None else [company]:
        room = None if limit is None else limit - len(report.faded)
        ids = list(due(each, now).order_by("pk").values_list("pk", flat=True)[:room])
        for batch in in_batches(ids, BATCH):
            with transaction.atomic():
                report.faded += _decay_batch(each, batch, actor, now)
                transaction.set_rollback(dry_run)
            progress(len(batch))
        settled = settle_knowledge(company=each, actor=actor, now=now, dry_run=dry_run)
        report.settled += [(item.code, item.status) for item in settled]
    return report


def due(company: Company, now: datetime) -> KnowledgeQuerySet:
    """The company's items that nobody used for a whole step: what may fade."""
    late = now - STEP
    unused = Q(created_at__lte=late)
    for name in ACTIVITIES[1:]:
        unused &= Q(**{name: None}) | Q(**{f"{name}__lte": late})
    active = Knowledge.objects.of_company(company).filter(status=Status.ACTIVE, quarantined_at=None)
    return active.exclude(category=Category.ANTI_PATTERN).filter(unused)


def decay_of(item: Knowledge, score: Decimal | None, parameters: Parameters, now: datetime) -> Decay | None:
    """What an item loses at `now`, or None."""
    if not decays(item) or item.quarantined_at is not None:
        return None
    return decay_due((getattr(item, name) for name in ACTIVITIES), now, decay_step(score, parameters))


def _decay_batch(company: Company, ids: Sequence[int], actor: Actor, now: datetime) -> list[Faded]:
    parameters = parameters_of(company.pk)
    scores = causal_scores(company.pk, ids)
    faded, changed = [], []
    for item in locked_items(ids):
        # Looked at again under the lock: somebody may have used it, or let it fade, since it was found.
        decay = decay_of(item, scores[item.pk], parameters, now)
        if decay is None:
            continue
        before = item.confidence
        item.last_decay_at = decay.last_decay_at
        record_event(
            item,
            EventKind.DECAY,
            actor=actor,
            now=now,
            parameters=parameters,
            delta=decay.delta,
            occasion=f"decay:{decay.last_decay_at.isoformat()}",
        )
        changed.append(item)
        gone = item.status == Status.DEPRECATED
        faded.append(Faded(item.code, before, item.confidence, decay.steps, gone))
    if changed:
        write_knowledge_receipt(
            changed,
            actor=actor,
            now=now,
            trigger="knowledge_decayed",
            type=ReceiptType.CHANGE,
            detail={"items": len(changed), "deprecated": sum(one.deprecated for one in faded)},
        )
    return faded

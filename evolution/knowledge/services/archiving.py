"""Put away what was deprecated long enough and what no person confirmed; delete only when asked to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from common.actors import Actor
from common.archive import in_batches
from common.companies.models import Company
from common.receipts.choices import LineStatus, ReceiptType
from common.search.services import remove_objects
from evolution.knowledge.choices import Status
from evolution.knowledge.models import Knowledge
from evolution.knowledge.models.knowledge import DEPRECATED_KEPT_FOR, KnowledgeQuerySet
from evolution.knowledge.rules.search_fields import KIND
from evolution.knowledge.services.editing import close_gaps
from evolution.knowledge.services.indexing import reindex
from evolution.knowledge.services.locking import lock_parent, lock_siblings
from evolution.knowledge.services.receipts import write_knowledge_receipt

BATCH = 200


@dataclass
class ArchiveReport:
    """Codes of what was, or would be, archived and purged."""

    deprecated: list[str] = field(default_factory=list)
    drafts: list[str] = field(default_factory=list)
    purged: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Run:
    actor: Actor
    now: datetime
    report: ArchiveReport = field(default_factory=ArchiveReport)


def archive_knowledge(
    *,
    actor: Actor,
    now: datetime,
    company: Company | None = None,
    purge: bool = False,
    limit: int | None = None,
    dry_run: bool = False,
    progress: Callable[[int], Any] = lambda done: None,
) -> ArchiveReport:
    """Archive what was deprecated for more than 7 days and drafts that waited for more than 14; both come back by
    `restore`. With `purge` delete archived items that were deprecated for more than 7 days; their events and
    outcomes stay. `limit` counts both. What is in quarantine stays as it is.

    In batches of 200, each in a transaction with its receipt; running again moves nothing more. A trial run goes
    the same way and keeps nothing. docs/rules.md: knowledge archive.
    """
    run, room = _Run(actor, now), limit
    steps = [(_archived, _archive_batch), (_purgeable, _purge_batch)][: 2 if purge else 1]
    with transaction.atomic() if dry_run else nullcontext():
        for each in Company.objects.order_by("pk") if company is None else [company]:
            for rows, work in steps:
                ids = list(rows(each, now).order_by("pk").values_list("pk", flat=True)[:room])
                for batch in in_batches(ids, BATCH):
                    done = work(run, each, batch)
                    room = None if room is None else room - done
                    progress(done)
        if dry_run:
            transaction.set_rollback(True)
    return run.report


def _archived(company: Company, now: datetime) -> KnowledgeQuerySet:
    return Knowledge.objects.of_company(company).due_for_archive(now).filter(quarantined_at=None)


def _purgeable(company: Company, now: datetime) -> KnowledgeQuerySet:
    rows = Knowledge.objects.of_company(company).filter(status=Status.ARCHIVED, quarantined_at=None)
    return rows.filter(deprecated_at__lt=now - DEPRECATED_KEPT_FOR)


def _still(rows: KnowledgeQuerySet, ids: Sequence[int]) -> list[Knowledge]:
    """Those of these items that meet the same condition under their lock."""
    locked = rows.filter(pk__in=ids).select_for_update(of=("self",), no_key=True).order_by("pk")
    return list(locked.select_related("company", "agent"))


@transaction.atomic
def _archive_batch(run: _Run, company: Company, ids: Sequence[int]) -> int:
    items = _still(_archived(company, run.now), ids)
    if not items:
        return 0
    for item in items:
        named = run.report.drafts if item.status == Status.DRAFT else run.report.deprecated
        named.append(item.code)
        item.status, item.archived_at, item.updated_at = Status.ARCHIVED, run.now, run.now
        item.version += 1
    Knowledge.objects.bulk_update(items, ["status", "archived_at", "updated_at", "version"])
    reindex(*items)
    write_knowledge_receipt(
        items,
        actor=run.actor,
        now=run.now,
        trigger="knowledge_archived",
        type=ReceiptType.ARCHIVE,
        status=LineStatus.ARCHIVED,
        detail={"items": len(items)},
    )
    return len(items)


@transaction.atomic
def _purge_batch(run: _Run, company: Company, ids: Sequence[int]) -> int:
    agents = set(Knowledge.objects.filter(pk__in=ids).values_list("agent_id", flat=True))
    for agent_id in sorted(agents, key=lambda pk: pk or 0):
        lock_parent(company.pk, agent_id)
    lock_siblings(company.pk, agents)
    items = _still(_purgeable(company, run.now), ids)
    if not items:
        return 0
    gone = [item.pk for item in items]
    remove_objects(company=company, kind=KIND, object_ids=gone)
    run.report.purged += [item.code for item in items]
    write_knowledge_receipt(
        items,
        actor=run.actor,
        now=run.now,
        trigger="knowledge_purged",
        type=ReceiptType.RETENTION,
        detail={"items": len(items)},
    )
    Knowledge.objects.filter(pk__in=gone).delete()
    for agent_id in agents:
        close_gaps(company.pk, agent_id)
    return len(items)

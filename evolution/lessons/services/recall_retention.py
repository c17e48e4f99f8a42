"""Take old recalls out of the lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from common.actors import Actor
from common.archive import in_batches
from common.companies.models import Company
from common.receipts.choices import ReceiptType
from common.receipts.services import write_receipt
from evolution.lessons.models import RecallLog


def archive_recalls(
    *,
    actor: Actor,
    now: datetime,
    limit: int | None = None,
    dry_run: bool = False,
    progress: Callable[[int], Any] = lambda done: None,
) -> int:
    """Archive the recalls of all companies that are older than 90 days, the oldest first; how many.

    In batches, each with its receipts (one a company) in a transaction of its own. With `dry_run` they are only
    counted. An archived recall is out of the list of recalls; it still counts in the metrics, and an outcome may
    still be reported. docs/rules.md: recall log retention.
    """
    due = RecallLog.objects.due_for_archive(now).order_by("created_at", "pk")
    keys = list(due.values_list("pk", flat=True)[:limit])
    if dry_run:
        return len(keys)
    return sum(_archive(batch, actor, now, progress) for batch in in_batches(keys))


def purge_recalls(*, actor: Actor, now: datetime, limit: int | None = None, dry_run: bool = False) -> int:
    """Delete archived recalls for good, the oldest first; how many. The counts of lessons stay."""
    keys = list(
        RecallLog.objects.archived().order_by("created_at", "pk").values_list("pk", flat=True)[:limit]
    )
    if dry_run:
        return len(keys)
    return sum(_purge(batch, actor, now) for batch in in_batches(keys))


@transaction.atomic
def _archive(batch: Sequence[int], actor: Actor, now: datetime, progress: Callable[[int], Any]) -> int:
    waiting = _locked(batch).filter(archived_at=None)
    counts = Counter(waiting.values_list("company", flat=True))
    moved = RecallLog.objects.filter(pk__in=batch, archived_at=None).update(archived_at=now)
    _write_receipts(counts, actor, now, "recalls_archived")
    progress(moved)
    return moved


@transaction.atomic
def _purge(batch: Sequence[int], actor: Actor, now: datetime) -> int:
    counts = Counter(_locked(batch).archived().values_list("company", flat=True))
    RecallLog.objects.archived().filter(pk__in=batch).delete()
    _write_receipts(counts, actor, now, "recalls_purged")
    return sum(counts.values())


def _locked(batch: Sequence[int]) -> Any:
    return RecallLog.objects.select_for_update().filter(pk__in=batch).order_by("pk")


def _write_receipts(counts: Counter[int], actor: Actor, now: datetime, trigger: str) -> None:
    for company in Company.objects.filter(pk__in=counts).order_by("pk"):
        write_receipt(
            company=company,
            actor=actor,
            type=ReceiptType.RETENTION,
            trigger=trigger,
            at=now,
            detail={"recalls": counts[company.pk]},
        )

"""Take old injections out of the lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from common.actors import Actor
from common.archive import in_batches
from common.companies.models import Company
from common.receipts.choices import ReceiptType
from common.receipts.services import write_receipt
from evolution.knowledge.models import Injection
from evolution.parameters.selectors import parameters_of


def archive_injections(
    *,
    actor: Actor,
    now: datetime,
    company: Company | None = None,
    limit: int | None = None,
    dry_run: bool = False,
    progress: Callable[[int], Any] = lambda done: None,
) -> int:
    """Archive the injections (of all companies) that are older than their `archive_days`, the oldest first; how many.

    In batches, each with its receipt in a transaction of its own. With `dry_run` they are only counted. An archived
    injection is out of the list; outcomes may still be reported for it, and its conversation remembers it.
    docs/rules.md: injection log.
    """
    companies = Company.objects.order_by("pk") if company is None else [company]
    archived = 0
    for one in companies:
        days = parameters_of(one.pk).archive_days
        due = Injection.objects.of_company(one).due_for_archive(now, days).order_by("created_at", "pk")
        left = None if limit is None else limit - archived
        keys = list(due.values_list("pk", flat=True)[:left])
        if dry_run:
            archived += len(keys)
        else:
            archived += sum(_archive(one, batch, actor, now, progress) for batch in in_batches(keys))
    return archived


@transaction.atomic
def _archive(
    company: Company, keys: Sequence[int], actor: Actor, now: datetime, progress: Callable[[int], Any]
) -> int:
    moved = Injection.objects.filter(pk__in=keys, archived_at=None).update(archived_at=now)
    if moved:
        write_receipt(
            company=company,
            actor=actor,
            type=ReceiptType.RETENTION,
            trigger="injections_archived",
            at=now,
            detail={"injections": moved},
        )
    progress(moved)
    return moved

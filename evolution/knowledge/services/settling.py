"""Bring states up to a threshold that was changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from common.actors import Actor
from common.archive import in_batches
from common.companies.models import Company
from common.receipts.choices import ReceiptType
from evolution.knowledge.choices import Status
from evolution.knowledge.models import Knowledge
from evolution.knowledge.services.confidence import settle_status
from evolution.knowledge.services.indexing import reindex
from evolution.knowledge.services.locking import locked_items
from evolution.knowledge.services.receipts import write_knowledge_receipt
from evolution.parameters.rules.specs import Parameters
from evolution.parameters.selectors import parameters_of

#: Items that share a transaction and a receipt.
BATCH = 200


def settle_knowledge(
    *, company: Company, actor: Actor, now: datetime, dry_run: bool = False
) -> list[Knowledge]:
    """Deprecate what is below the company's threshold by now, bring back what is no longer; the items that changed.

    A threshold that was changed by a proposal would else reach an item only with its next event.
    """
    parameters = parameters_of(company.pk)
    low = Q(status=Status.ACTIVE, confidence__lt=parameters.deprecation_threshold)
    back = Q(status=Status.DEPRECATED, confidence__gte=parameters.deprecation_threshold, deprecated_by="")
    wrong = Knowledge.objects.of_company(company).filter(low | back & ~Q(confirmed_sha256=""))
    ids = list(wrong.order_by("pk").values_list("pk", flat=True))
    changed: list[Knowledge] = []
    for batch in in_batches(ids, BATCH):
        with transaction.atomic():
            changed += _settle(batch, parameters, actor, now)
            transaction.set_rollback(dry_run)
    return changed


def _settle(ids: Sequence[int], parameters: Parameters, actor: Actor, now: datetime) -> list[Knowledge]:
    changed = []
    for item in locked_items(ids):
        before = item.status
        settle_status(item, parameters, now)
        if item.status != before:
            item.save(update_fields=["status", "deprecated_at", "updated_at"])
            changed.append(item)
    if changed:
        reindex(*changed)
        gone = sum(item.status == Status.DEPRECATED for item in changed)
        write_knowledge_receipt(
            changed,
            actor=actor,
            now=now,
            trigger="knowledge_settled",
            type=ReceiptType.CHANGE,
            detail={"items": len(changed), "deprecated": gone},
        )
    return changed

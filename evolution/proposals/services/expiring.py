"""Close what waited too long."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from common.actors import Actor
from evolution.proposals.choices import Status
from evolution.proposals.models import Proposal
from evolution.proposals.services.chains import LIVE
from evolution.proposals.services.locking import locked, move
from evolution.proposals.services.receipts import write_proposal_receipt


def expire_overdue(
    *,
    actor: Actor,
    now: datetime,
    limit: int | None = None,
    dry_run: bool = False,
    progress: Callable[[int], Any] = lambda done: None,
) -> int:
    """Expire pending proposals that waited more than 30 days, the oldest first; returns how many.

    Each in a transaction of its own, with a receipt; its undecided items count as skipped. With `dry_run` they
    are only counted.
    """
    overdue = list(
        Proposal.objects.overdue(now).order_by("expires_at", "pk").values_list("pk", flat=True)[:limit]
    )
    if dry_run:
        return len(overdue)
    return sum(_expire(pk, actor, now, progress) for pk in overdue)


@transaction.atomic
def _expire(pk: int, actor: Actor, now: datetime, progress: Callable[[int], Any]) -> bool:
    """Expire one, unless somebody decided about it in the meantime."""
    proposal = locked(pk)
    progress(1)
    if proposal.status != Status.PENDING or not Proposal.objects.overdue(now).filter(pk=pk).exists():
        return False
    proposal.items.filter(status__in=LIVE).update(
        status="skipped", rejection_reason=str(_("expired")), changed_at=now
    )
    move(proposal, Status.EXPIRED, _("expired"), now=now)
    write_proposal_receipt(proposal, actor=actor, now=now, trigger="proposal_expired")
    return True

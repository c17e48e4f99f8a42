"""The one way a confidence changes: an event in the ledger, the value, the dates and the status it leads to."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from django.db.models import Sum

from common.actors import Actor
from evolution.knowledge.choices import Category, EventKind, Status
from evolution.knowledge.models import ConfidenceEvent, Knowledge
from evolution.knowledge.rules.confidence import (
    DELTAS,
    ZERO,
    allowed_rise,
    clamped,
    is_deprecated,
)
from evolution.knowledge.services.indexing import reindex
from evolution.parameters.rules.specs import Parameters

#: The date an event of a kind leaves on the item.
_DATES = {
    EventKind.VERIFIED: "verified_at",
    EventKind.REFERENCED: "referenced_at",
    EventKind.APPLIED: "applied_at",
}


def record_event(
    item: Knowledge,
    kind: EventKind,
    *,
    actor: Actor,
    now: datetime,
    parameters: Parameters,
    delta: Decimal | None = None,
    occasion: str = "",
) -> ConfidenceEvent | None:
    """Change the confidence of an item whose row the caller has locked; save it and its row of the index.

    Whoever changes several items locks all of them first (`locking.locked_items`), since the index is locked here.

    `delta` is that of the kind unless given. What a runtime brings is capped (`rules.confidence.allowed_rise`);
    what a person brings counts in full, and they vouch for the result. The same occasion of a kind counts once:
    None, and nothing is changed, when it was recorded before. The caller writes the receipt.
    """
    if occasion and _is_known(item, kind, occasion):
        return None
    wanted = DELTAS[kind] if delta is None else delta
    principal = principal_of(actor)
    if actor.key_id is not None and wanted > ZERO and kind != EventKind.CREATED:
        wanted = allowed_rise(wanted, item.vouched, _raised_by(item, principal))
    before = ZERO if kind == EventKind.CREATED else item.confidence
    item.confidence = clamped(before + wanted)
    _save_after(item, kind, actor, now, parameters, counts=wanted != ZERO)
    return ConfidenceEvent.objects.create(
        company_id=item.company_id,
        knowledge=item,
        code=item.code,
        kind=kind,
        delta=wanted,
        before=before,
        after=item.confidence,
        actor=actor.name,
        principal=principal,
        source_id=occasion,
        at=now,
    )


def _save_after(
    item: Knowledge, kind: EventKind, actor: Actor, now: datetime, parameters: Parameters, *, counts: bool
) -> None:
    """Save an item whose confidence was just set, with what follows from that.

    What counts for nothing (a key has raised the item as far as it can) keeps it from fading no more.
    """
    if actor.is_person or kind == EventKind.CREATED:
        item.vouched = item.confidence
    if kind in _DATES and counts:
        setattr(item, _DATES[kind], now)
    settle_status(item, parameters, now)
    item.save()
    reindex(item)


def settle_status(item: Knowledge, parameters: Parameters, now: datetime) -> None:
    """Deprecate what fell below the threshold, bring back what fell so and rose again.

    Drafts and archived items stay, and what a person deprecated.
    """
    low = is_deprecated(item.confidence, parameters)
    if low and item.status == Status.ACTIVE:
        item.status, item.deprecated_at = Status.DEPRECATED, now
    elif not low and item.status == Status.DEPRECATED and item.confirmed_sha256 and not item.deprecated_by:
        item.status, item.deprecated_at = Status.ACTIVE, None


def principal_of(actor: Actor) -> str:
    """`key:3`, `user:7`, or empty for commands and jobs."""
    if actor.key_id is not None:
        return f"key:{actor.key_id}"
    return f"user:{actor.user_id}" if actor.user_id is not None else ""


def decays(item: Knowledge) -> bool:
    """Warnings do not fade; what is no longer handed out does not either."""
    return item.category != Category.ANTI_PATTERN and item.status == Status.ACTIVE


def _is_known(item: Knowledge, kind: EventKind, occasion: str) -> bool:
    return ConfidenceEvent.objects.filter(knowledge=item, kind=kind, source_id=occasion).exists()


def _raised_by(item: Knowledge, principal: str) -> Decimal:
    """What this principal added since a person last vouched for the item."""
    events = ConfidenceEvent.objects.filter(knowledge=item, principal=principal, delta__gt=0)
    vouched_at = (
        ConfidenceEvent.objects.filter(knowledge=item, principal__startswith="user:")
        .order_by("-id")
        .values_list("id", flat=True)
        .first()
    )
    if vouched_at is not None:
        events = events.filter(id__gt=vouched_at)
    return events.exclude(kind=EventKind.CREATED).aggregate(total=Sum("delta"))["total"] or ZERO

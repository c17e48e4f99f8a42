"""The learning queue: take reports in, hand them out once, note what came of them. The row is the job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from agents.models import Agent
from common.actors import Actor
from common.archive import in_batches
from common.companies.models import Company
from common.counters.services import lock_numbers, next_number
from common.errors import ApplicationError
from common.receipts.choices import ReceiptType
from common.receipts.rules import Line
from common.receipts.services import write_receipt
from common.redaction import redact, redact_value
from evolution.knowledge.choices import LearningStatus
from evolution.knowledge.models import QUEUE_PREFIX, LearningItem
from evolution.knowledge.models.queue import LEASE, MAX_ATTEMPTS, MAX_SOURCE_ID
from evolution.knowledge.rules.queue import Report, priority_of
from evolution.parameters.selectors import parameters_of

MAX_ERROR = 1000
MAX_NOTE = 300
_MARK = 12
#: Reports of one key that may wait; more would keep those of others waiting.
MAX_WAITING_OF_KEY = 5000


@dataclass(frozen=True)
class Reported:
    """The item of a report, and whether this report made it."""

    item: LearningItem
    created: bool


@transaction.atomic
def report(
    *,
    company: Company,
    report: Report,
    actor: Actor,
    agent: Agent | None = None,
    bound_to: int | None = None,
) -> Reported:
    """Put a report into the queue, without secrets; the same source twice is the same item, unchanged.

    `bound_to`: the agent of the caller's key, which may not learn of other agents' reports.
    Errors: STATE_CONFLICT when the source was reported about another agent, or too much of this key waits already.
    """
    source_id, redactions = _source_id(report.source_id)
    # Two at once: the second waits here and finds the first one's item.
    lock_numbers(company_id=company.pk, prefix=QUEUE_PREFIX)
    known = LearningItem.objects.filter(
        company=company, source_type=report.source_type, source_id=source_id
    ).first()
    if known is not None:
        if bound_to is not None and known.agent_id != bound_to:
            raise ApplicationError("STATE_CONFLICT", _("This source was reported about another agent."))
        return Reported(known, created=False)
    _check_waiting(company, actor)
    metadata = redact_value(dict(report.metadata))
    item = LearningItem.objects.create(
        company=company,
        agent=agent,
        number=next_number(company_id=company.pk, prefix=QUEUE_PREFIX),
        source_type=report.source_type,
        source_id=source_id,
        priority=priority_of(report, parameters_of(company.pk).boosted_categories),
        metadata=metadata.value,
        redactions=dict(redactions + Counter(metadata.counts)),
        created_by=actor.name[:200],
        created_by_key_id=actor.key_id,
    )
    return Reported(item, created=True)


def _check_waiting(company: Company, actor: Actor) -> None:
    """docs/rules.md: floods."""
    if actor.key_id is None:
        return
    rows = LearningItem.objects.of_company(company).filter(status=LearningStatus.PENDING)
    if rows.filter(created_by_key_id=actor.key_id).count() >= MAX_WAITING_OF_KEY:
        told = {"limit": MAX_WAITING_OF_KEY}
        message = _("%(limit)d reports of this key wait already; let them be processed first.") % told
        raise ApplicationError("STATE_CONFLICT", message, extra=told)


def lease(item_id: int, *, now: datetime) -> LearningItem | None:
    """Take an item for ten minutes; None when somebody else has it, or it is no longer there to be taken.

    One that was taken and never brought back counts as a failed attempt.
    """
    rows = LearningItem.objects.filter(pk=item_id, quarantined_at=None)
    lost = rows.filter(status=LearningStatus.PROCESSING, leased_until__lt=now)
    taken = {"status": LearningStatus.PROCESSING, "leased_until": now + LEASE}
    gone = {"attempts": F("attempts") + 1, "error": _("The process that worked on it did not come back.")}
    if lost.filter(attempts__gte=MAX_ATTEMPTS - 1).update(
        **gone, status=LearningStatus.DEAD, leased_until=None, updated_at=now
    ):
        return None
    is_ours = rows.filter(status=LearningStatus.PENDING).update(**taken, updated_at=now) or lost.update(
        **taken, **gone, updated_at=now
    )
    return LearningItem.objects.select_related("company", "agent").get(pk=item_id) if is_ours else None


def locked_lease(item: LearningItem) -> LearningItem | None:
    """The row of a taken item, locked until the transaction ends; None when the lease is no longer ours."""
    return (
        LearningItem.objects.select_for_update(of=("self",))
        .select_related("company", "agent")
        .filter(
            pk=item.pk,
            status=LearningStatus.PROCESSING,
            leased_until=item.leased_until,
            quarantined_at=None,
        )
        .first()
    )


def finish(item: LearningItem, *, actor: Actor, now: datetime, result: str = "", note: str = "") -> None:
    """Note on a locked item that it is done, with its receipt: what came of it, or why nothing did."""
    item.status, item.processed_at, item.leased_until = LearningStatus.DONE, now, None
    item.result, item.note, item.error = result[:20], note[:MAX_NOTE], ""
    item.save(
        update_fields=["status", "processed_at", "leased_until", "result", "note", "error", "updated_at"]
    )
    write_receipt(
        company=item.company,
        actor=actor,
        type=ReceiptType.CAPTURE,
        trigger="learning_item_processed",
        at=now,
        agent_id=item.agent_id,
        agent_name=item.agent.name if item.agent else "",
        lines=[Line(type="learning_item", target=item.code, content=item.note)],
        detail={"source_type": item.source_type, "result": item.result},
    )


def fail(item: LearningItem, *, error: str, now: datetime) -> LearningItem:
    """Put a taken item back, or give it up after the third failure. A lease that was lost meanwhile stays lost."""
    attempts = item.attempts + 1
    status = LearningStatus.DEAD if attempts >= MAX_ATTEMPTS else LearningStatus.PENDING
    LearningItem.objects.filter(
        pk=item.pk, status=LearningStatus.PROCESSING, leased_until=item.leased_until
    ).update(
        status=status,
        attempts=attempts,
        error=redact(error.replace("\0", "")).text[:MAX_ERROR],
        leased_until=None,
        updated_at=now,
    )
    item.refresh_from_db()
    return item


def can_be_replayed(item: LearningItem) -> bool:
    """Given up, or waiting with a failure."""
    failed = item.status == LearningStatus.PENDING and item.attempts > 0
    return item.quarantined_at is None and (item.status == LearningStatus.DEAD or failed)


@transaction.atomic
def replay(*, item_ids: Sequence[int], actor: Actor, now: datetime) -> int:
    """Let items start anew that were given up or failed; how many. Others stay. One receipt a company."""
    items = [item for item in _locked(item_ids).select_related("company") if can_be_replayed(item)]
    LearningItem.objects.filter(pk__in=[item.pk for item in items]).update(
        status=LearningStatus.PENDING, attempts=0, error="", leased_until=None, updated_at=now
    )
    companies: dict[int, list[LearningItem]] = {}
    for item in items:
        companies.setdefault(item.company_id, []).append(item)
    for _pk, rows in sorted(companies.items()):
        write_receipt(
            company=rows[0].company,
            actor=actor,
            type=ReceiptType.CHANGE,
            trigger="learning_items_replayed",
            at=now,
            lines=[Line(type="learning_item", target=item.code) for item in rows],
        )
    return len(items)


def purge_done(
    *,
    actor: Actor,
    now: datetime,
    company: Company | None = None,
    limit: int | None = None,
    dry_run: bool = False,
    progress: Callable[[int], Any] = lambda done: None,
) -> int:
    """Delete items that were done more than seven days ago, the oldest first; how many. Those given up stay."""
    due = LearningItem.objects.due_for_purge(now).order_by("processed_at", "pk")
    if company is not None:
        due = due.filter(company=company)
    keys = list(due.values_list("pk", flat=True)[:limit])
    if dry_run:
        return len(keys)
    return sum(_purge(batch, actor, now, progress) for batch in in_batches(keys))


@transaction.atomic
def _purge(batch: Sequence[int], actor: Actor, now: datetime, progress: Callable[[int], Any]) -> int:
    due = LearningItem.objects.due_for_purge(now).filter(pk__in=batch)
    counts: Mapping[int, int] = Counter(
        due.order_by("pk").select_for_update().values_list("company_id", flat=True)
    )
    due.delete()
    for company in Company.objects.filter(pk__in=counts).order_by("pk"):
        write_receipt(
            company=company,
            actor=actor,
            type=ReceiptType.RETENTION,
            trigger="learning_items_purged",
            at=now,
            detail={"items": counts[company.pk]},
        )
    done = sum(counts.values())
    progress(done)
    return done


def _locked(item_ids: Sequence[int]) -> QuerySet[LearningItem]:
    return LearningItem.objects.select_for_update(of=("self",)).filter(pk__in=item_ids).order_by("pk")


def _source_id(text: str) -> tuple[str, Counter[str]]:
    """The id without secrets; what was taken out leaves a mark, so that two such ids stay two.

    docs/rules.md: learning queue.
    """
    found = redact(text)
    if not found.counts:
        return text, Counter()
    mark = salted_hmac("evolution.knowledge.source_id", text, algorithm="sha256").hexdigest()[:_MARK]
    return f"{found.text[: MAX_SOURCE_ID - _MARK - 1]}#{mark}", Counter(found.counts)

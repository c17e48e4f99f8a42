"""Take reports, knowledge and outcomes out of everything that reaches a runtime, and bring them back as they were."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from common.archive import in_batches
from common.companies.models import Company
from common.search.services import index_objects, remove_objects
from evolution.knowledge.models import Knowledge, LearningItem, Outcome
from evolution.knowledge.rules.search_fields import KIND
from evolution.knowledge.services.indexing import entries_of
from evolution.knowledge.services.outcomes import refresh_scores

#: Rows a statement.
_BATCH = 500


def reports_by_key(company: Company, key_id: int, since: datetime) -> set[int]:
    """Ids of the reports in the queue that this key sent since then."""
    rows = LearningItem.objects.of_company(company)
    return set(rows.filter(created_by_key_id=key_id, created_at__gte=since).values_list("pk", flat=True))


def outcomes_by_key(company: Company, key_id: int, since: datetime) -> set[int]:
    """Ids of the outcomes that this key reported since then."""
    rows = Outcome.objects.of_company(company)
    return set(rows.filter(created_by_key_id=key_id, at__gte=since).values_list("pk", flat=True))


def knowledge_by_key(company: Company, key_id: int, since: datetime, reports: Collection[int]) -> set[int]:
    """Ids of what this key brought since then: its own items, those made from `reports`, and their warnings."""
    rows = Knowledge.objects.of_company(company)
    found = set(rows.filter(created_by_key_id=key_id, created_at__gte=since).values_list("pk", flat=True))
    for batch in in_batches(sorted(reports), _BATCH):
        found |= set(rows.filter(source__in=batch).values_list("pk", flat=True))
    newest = found
    while newest:
        children: set[int] = set()
        for batch in in_batches(sorted(newest), _BATCH):
            children |= set(rows.filter(anti_of__in=batch).values_list("pk", flat=True))
        newest = children - found
        found |= newest
    return found


def hold_reports(company: Company, ids: Collection[int], now: datetime) -> int:
    """Put these reports into quarantine: they are not processed. How many were not in one."""
    return sum(
        LearningItem.objects.of_company(company)
        .filter(pk__in=batch, quarantined_at=None)
        .update(quarantined_at=now)
        for batch in in_batches(sorted(ids), _BATCH)
    )


def release_reports(company: Company, ids: Collection[int]) -> None:
    """Bring these back into the queue."""
    for batch in in_batches(sorted(ids), _BATCH):
        LearningItem.objects.of_company(company).filter(pk__in=batch).update(quarantined_at=None)


def hold_outcomes(company: Company, ids: Collection[int], now: datetime) -> int:
    """Put these outcomes into quarantine: no causal score counts them. How many were not in one."""
    held = 0
    for batch in in_batches(sorted(ids), _BATCH):
        rows = Outcome.objects.of_company(company).filter(pk__in=batch)
        held += rows.filter(quarantined_at=None).update(quarantined_at=now)
        _refresh(company, batch)
    return held


def release_outcomes(company: Company, ids: Collection[int]) -> None:
    """Let these count again."""
    for batch in in_batches(sorted(ids), _BATCH):
        Outcome.objects.of_company(company).filter(pk__in=batch).update(quarantined_at=None)
        _refresh(company, batch)


def _refresh(company: Company, outcomes: Sequence[int]) -> None:
    items = (
        Outcome.objects.filter(pk__in=outcomes).exclude(knowledge=None).values_list("knowledge", flat=True)
    )
    refresh_scores(company_id=company.pk, ids=sorted(set(items)))


def hold_knowledge(company: Company, ids: Collection[int], now: datetime) -> int:
    """Put these items into quarantine: never injected, never found. How many were not in one."""
    held = 0
    for batch in in_batches(sorted(ids), _BATCH):
        rows = Knowledge.objects.of_company(company).filter(pk__in=batch, quarantined_at=None)
        new = list(rows.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
        Knowledge.objects.filter(pk__in=new).update(quarantined_at=now)
        remove_objects(company=company, kind=KIND, object_ids=new)
        held += len(new)
    return held


def release_knowledge(company: Company, ids: Collection[int]) -> None:
    """Bring these back, in the state they had."""
    for batch in in_batches(sorted(ids), _BATCH):
        Knowledge.objects.of_company(company).filter(pk__in=batch).update(quarantined_at=None)
        index_objects(company=company, kind=KIND, entries=entries_of(company, batch))

"""Take patterns and sightings out of everything that reaches a runtime, and bring them back."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db.models import QuerySet

from common.archive import in_batches
from common.companies.models import Company
from evolution.patterns.models import Pattern, PatternSighting
from evolution.patterns.rules.matching import status_after

#: Rows a statement.
_BATCH = 500


def patterns_by_key(company: Company, key_id: int, since: datetime) -> set[int]:
    """Ids of the patterns that this key reported since then."""
    rows = Pattern.objects.of_company(company).filter(created_by_key_id=key_id, created_at__gte=since)
    return set(rows.values_list("pk", flat=True))


def sightings_by_key(company: Company, key_id: int, since: datetime) -> set[int]:
    """Ids of the sightings that this key reported since then, of whatever pattern."""
    rows = PatternSighting.objects.filter(pattern__company=company, created_by_key_id=key_id, at__gte=since)
    return set(rows.values_list("pk", flat=True))


def hold_patterns(company: Company, ids: Collection[int], now: datetime) -> int:
    """Put these into quarantine: never suggested, never used. How many were not in one."""
    return sum(
        Pattern.objects.of_company(company)
        .filter(pk__in=batch, quarantined_at=None)
        .update(quarantined_at=now)
        for batch in in_batches(sorted(ids), _BATCH)
    )


def release_patterns(company: Company, ids: Collection[int]) -> None:
    """Bring these back, in the state they had."""
    for batch in in_batches(sorted(ids), _BATCH):
        Pattern.objects.of_company(company).filter(pk__in=batch).update(quarantined_at=None)


def hold_sightings(company: Company, ids: Collection[int], now: datetime) -> int:
    """Put these into quarantine: they do not count, and a pattern that rested on them waits again."""
    held = 0
    for batch in in_batches(sorted(ids), _BATCH):
        rows = PatternSighting.objects.filter(pattern__company=company, pk__in=batch)
        held += rows.filter(quarantined_at=None).update(quarantined_at=now)
        _settle(rows)
    return held


def release_sightings(company: Company, ids: Collection[int]) -> None:
    """Let these count again."""
    for batch in in_batches(sorted(ids), _BATCH):
        rows = PatternSighting.objects.filter(pattern__company=company, pk__in=batch)
        rows.update(quarantined_at=None)
        _settle(rows)


def _settle(sightings: QuerySet[PatternSighting]) -> None:
    """Bring the status of their patterns up to what counts now."""
    patterns = Pattern.objects.filter(pk__in=sightings.values("pattern")).with_occurrences()
    for pattern in patterns.select_for_update(of=("self",)).order_by("pk"):
        status = status_after(pattern.status, pattern.occurrences, pattern.confidence)
        if status != pattern.status:
            Pattern.objects.filter(pk=pattern.pk).update(status=status)

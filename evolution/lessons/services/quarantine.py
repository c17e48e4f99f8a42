"""Take lessons out of everything that reaches a runtime, and bring them back as they were."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from common.archive import in_batches
from common.companies.models import Company
from common.search.services import index_objects, remove_objects
from evolution.lessons.models import Lesson
from evolution.lessons.rules.search_fields import KIND
from evolution.lessons.services.indexing import entries_of
from evolution.lessons.services.locking import lock_company

#: Rows a statement.
_BATCH = 500


def lessons_by_key(company: Company, key_id: int, since: datetime) -> set[int]:
    """Ids of the lessons that this key reported since then."""
    rows = Lesson.objects.of_company(company).filter(created_by_key_id=key_id, created_at__gte=since)
    return set(rows.values_list("pk", flat=True))


def hold_lessons(company: Company, ids: Collection[int], now: datetime) -> int:
    """Put these lessons into quarantine; how many were not in one. The caller writes the receipt."""
    lock_company(company.pk)
    held = 0
    for batch in in_batches(sorted(ids), _BATCH):
        rows = Lesson.objects.of_company(company).trusted().filter(pk__in=batch)
        new = list(rows.values_list("pk", flat=True))
        Lesson.objects.filter(pk__in=new).update(quarantined_at=now)
        remove_objects(company=company, kind=KIND, object_ids=new)
        held += len(new)
    return held


def release_lessons(company: Company, ids: Collection[int]) -> None:
    """Bring these back, in the state they had. The caller writes the receipt."""
    lock_company(company.pk)
    for batch in in_batches(sorted(ids), _BATCH):
        Lesson.objects.of_company(company).filter(pk__in=batch).update(quarantined_at=None)
        index_objects(company=company, kind=KIND, entries=entries_of(company, batch))

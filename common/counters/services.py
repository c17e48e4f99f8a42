"""Take the next human id, or raise a counter after an import."""

from __future__ import annotations

from django.db import transaction

from common.counters.models import IdCounter


@transaction.atomic
def next_number(*, company_id: int, prefix: str) -> int:
    """The next number of (company, prefix), from 1. Run it in the transaction of the row that gets it."""
    counter = _locked(company_id, prefix)
    counter.last_number += 1
    counter.save(update_fields=["last_number"])
    return counter.last_number


@transaction.atomic
def raise_to(*, company_id: int, prefix: str, number: int) -> None:
    """Make sure the next number given out is above `number` (the highest one an import brought)."""
    counter = _locked(company_id, prefix)
    if number > counter.last_number:
        counter.last_number = number
        counter.save(update_fields=["last_number"])


@transaction.atomic
def lock_numbers(*, company_id: int, prefix: str) -> int:
    """The number that `next_number` will give; nobody else gets one until the caller's transaction ends."""
    return _locked(company_id, prefix).last_number + 1


def _locked(company_id: int, prefix: str) -> IdCounter:
    rows = IdCounter.objects.select_for_update().filter(company_id=company_id, prefix=prefix)
    found = rows.first()
    if found is None:
        IdCounter.objects.get_or_create(company_id=company_id, prefix=prefix)
        found = rows.get()
    return found

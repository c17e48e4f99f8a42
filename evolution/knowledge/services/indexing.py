"""What knowledge is found by, kept beside it: its row of the index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from common.companies.models import Company
from common.search.rules.query import Entry
from common.search.services import index_objects, remove_objects
from common.search.sources import Source, register
from evolution.knowledge.choices import Status
from evolution.knowledge.models import Knowledge
from evolution.knowledge.rules.search_fields import KIND, index_attributes, index_fields


def reindex(*items: Knowledge) -> None:
    """Bring the index of these items (of one company) up to their state; those in quarantine are not indexed.

    Run it in the transaction of the change, after the rows are locked and before the receipt.
    """
    shown = [item for item in items if item.quarantined_at is None]
    hidden = [item.pk for item in items if item.quarantined_at is not None]
    if shown:
        index_objects(company=shown[0].company, kind=KIND, entries=map(entry_of, shown))
    if hidden:
        remove_objects(company=items[0].company, kind=KIND, object_ids=hidden)


def indexed_ids(company: Company) -> Iterable[int]:
    """Ids of the company's items that belong into the index."""
    rows = Knowledge.objects.of_company(company).filter(quarantined_at=None)
    return rows.order_by("pk").values_list("pk", flat=True)


def entries_of(company: Company, ids: Sequence[int]) -> Iterable[Entry]:
    """The rows of those of these items that belong into the index."""
    return map(entry_of, Knowledge.objects.of_company(company).filter(pk__in=ids, quarantined_at=None))


def register_source() -> None:
    """Tell the index how knowledge is compared with it and indexed anew."""
    register(KIND, Source(ids=indexed_ids, entries=entries_of))


def entry_of(item: Knowledge) -> Entry:
    """The row of the index."""
    is_off = item.status == Status.ACTIVE and not item.enabled
    return Entry(
        item.pk,
        index_fields(title=item.title, category=item.category, tags=item.tags, summary=item.summary),
        index_attributes(
            state="off" if is_off else item.status,
            agent_id=item.agent_id,
            confidence=item.confidence,
            number=item.number,
        ),
    )

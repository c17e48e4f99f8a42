"""Read the learning queue as the API shows it and as the dispatcher takes from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from django.utils.translation import gettext_lazy as _

from common.companies.models import Company
from common.errors import invalid
from evolution.knowledge.choices import LearningStatus, Priority, SourceType
from evolution.knowledge.models import LearningItem
from evolution.knowledge.models.queue import LearningItemQuerySet

#: Reports that are taken at once.
BATCH = 10
_WORDS: dict[str, Sequence[str]] = {
    "status": LearningStatus.values,
    "source_type": SourceType.values,
    "priority": Priority.values,
}


def items_of(
    company: Company, filters: Mapping[str, str], agent_id: int | None = None
) -> LearningItemQuerySet:
    """The company's reports in the order of their turn, narrowed by status, source_type and priority.

    Errors: VALIDATION_ERROR for an unknown word.
    """
    rows = LearningItem.objects.of_company(company)
    if agent_id is not None:
        rows = rows.filter(agent_id=agent_id)
    for name, known in _WORDS.items():
        value = filters.get(name)
        if value is None:
            continue
        if value not in known:
            told = {"name": name, "known": ", ".join(known)}
            raise invalid(f"/{name}", _("“%(name)s” is one of: %(known)s.") % told)
        rows = rows.filter(**{name: value})
    return rows.select_related("agent").order_by("priority", "id")


def waiting(
    now: datetime,
    priorities: Collection[str],
    company_id: int | None = None,
    agent_id: int | None = None,
) -> LearningItemQuerySet:
    """Reports that may be taken now, of companies that are switched on: by priority, then first come first served."""
    rows = LearningItem.objects.waiting(now).filter(priority__in=priorities, company__enabled=True)
    if company_id is not None:
        rows = rows.filter(company_id=company_id)
    if agent_id is not None:
        rows = rows.filter(agent_id=agent_id)
    return rows.order_by("priority", "id")


def count_structure(item: LearningItem) -> int:
    """How many reports of code changes name the same structure as this one, itself included."""
    return LearningItem.objects.filter(
        company_id=item.company_id,
        source_type=SourceType.CODE_CHANGE,
        metadata__structure__iexact=item.metadata.get("structure"),
        quarantined_at=None,
    ).count()

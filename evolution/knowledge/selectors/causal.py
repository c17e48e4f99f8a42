"""What using the items brought, from their outcomes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from decimal import Decimal

from common.text import name_key
from evolution.knowledge.models import Outcome
from evolution.knowledge.rules.causal import Causal, Sample, causal_of
from evolution.parameters.selectors import parameters_of


def causal_scores(company_id: int, ids: Collection[int]) -> dict[int, Decimal | None]:
    """Item id -> causal score (three places), None below `causal_min_samples`, for each of these ids.

    docs/rules.md: causal score.
    """
    min_samples = parameters_of(company_id).causal_min_samples
    known = causals(company_id, ids)
    return {pk: known[pk].known(min_samples) if pk in known else None for pk in ids}


def causals(company_id: int, ids: Collection[int]) -> Mapping[int, Causal]:
    """Item id -> what its outcomes say, for those of these items that have any. One query.

    Outcomes in quarantine count for nothing.
    """
    rows = Outcome.objects.filter(company_id=company_id, knowledge_id__in=list(ids), quarantined_at=None)
    samples: defaultdict[int, list[Sample]] = defaultdict(list)
    for row in rows.order_by("-at", "-id").values_list(
        "knowledge_id",
        "result",
        "time_saved_minutes",
        "bugs_introduced",
        "created_by_key",
        "created_by",
        "task",
    ):
        pk, result, minutes, bugs, key_id, name, task = row
        principal = f"key:{key_id}" if key_id is not None else f"name:{name}"
        samples[pk].append(Sample(result, minutes, bugs, principal, name_key(task)))
    found = {pk: causal_of(rows) for pk, rows in samples.items()}
    return {pk: causal for pk, causal in found.items() if causal is not None}

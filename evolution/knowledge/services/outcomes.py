"""Record what using items brought, and what follows from it: confidence, causal score, a warning."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from common.actors import Actor
from common.companies.models import Company
from common.errors import ApplicationError
from common.redaction import redact
from evolution.knowledge.choices import EventKind
from evolution.knowledge.models import CausalScore, Injection, Knowledge, Outcome
from evolution.knowledge.models.use import MAX_TASK
from evolution.knowledge.rules.causal import FAILURE, SUCCESS, three_places
from evolution.knowledge.rules.outcomes import MAX_NOTES, Report
from evolution.knowledge.rules.values import shortened
from evolution.knowledge.selectors.causal import causals
from evolution.knowledge.services.confidence import record_event
from evolution.knowledge.services.locking import lock_parent, locked_items
from evolution.knowledge.services.receipts import write_knowledge_receipt
from evolution.knowledge.services.warning import warn_about
from evolution.parameters.selectors import parameters_of

#: What a result does to the confidence of an item.
_EVENTS = {SUCCESS: EventKind.APPLIED, FAILURE: EventKind.MISLEADING}


@dataclass(frozen=True)
class Told:
    """A report: who sent it and when, for which injection, under which idempotency key."""

    report: Report
    actor: Actor
    now: datetime
    injection: Injection | None = None
    key: str | None = None


@dataclass
class Recorded:
    """The outcomes of one report (stored now or before), the items as they are now, warnings made of them."""

    outcomes: list[Outcome] = field(default_factory=list)
    items: list[Knowledge] = field(default_factory=list)
    warnings: list[Knowledge] = field(default_factory=list)


@transaction.atomic
def record_outcomes(*, company: Company, items: Sequence[Knowledge], told: Told) -> Recorded:
    """Store one outcome an item (of this company). docs/rules.md: outcome.

    Sent again with the same key nothing more happens.
    Errors: IDEMPOTENCY_KEY_REUSED when the key came with another result for the same item and task.
    """
    actor, now, result = told.actor, told.now, told.report.result
    for agent_id in sorted({item.agent_id for item in items}, key=lambda pk: pk or 0):
        lock_parent(company.pk, agent_id)
    recorded = Recorded(items=locked_items([item.pk for item in items]))
    new = [item for item in recorded.items if _stored(item, recorded, told)]
    if not new:
        return recorded
    parameters = parameters_of(company.pk)
    refresh_scores(company_id=company.pk, ids=[item.pk for item in new])
    # Warnings take a number, and numbers are locked before the index that events change.
    recorded.warnings = warn_about(new, actor=actor, now=now, parameters=parameters)
    for item, outcome in zip(recorded.items, recorded.outcomes, strict=True):
        if result in _EVENTS and item in new:
            occasion = f"outcome:{outcome.pk}"
            kind = _EVENTS[result]
            record_event(item, kind, actor=actor, now=now, parameters=parameters, occasion=occasion)
    detail = {"result": result, "warnings": [warning.code for warning in recorded.warnings]}
    write_knowledge_receipt(new, actor=actor, now=now, trigger="outcome_reported", detail=detail)
    return recorded


def refresh_scores(*, company_id: int, ids: Collection[int]) -> None:
    """Bring what is kept of the outcomes of these items up to them; the caller has locked the items.

    Whoever changes outcomes, or takes them into quarantine and back, calls it in the same transaction.
    """
    found = causals(company_id, ids)
    rows = [
        CausalScore(
            knowledge_id=pk,
            company_id=company_id,
            samples=found[pk].samples if pk in found else 0,
            thousandths=int(three_places(found[pk].score).scaleb(3)) if pk in found else 0,
        )
        for pk in sorted(ids)
    ]
    CausalScore.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["knowledge"], update_fields=["samples", "thousandths"]
    )


def _stored(item: Knowledge, recorded: Recorded, told: Told) -> bool:
    """Add the outcome of an item to `recorded`; whether it is new."""
    report, actor = told.report, told.actor
    task = shortened(redact(report.task).text, MAX_TASK)
    known = None if told.key is None else item.outcomes.filter(task=task, idempotency_key=told.key).first()
    if known is not None:
        said = (known.result, known.time_saved_minutes, known.bugs_introduced)
        if said != (report.result, report.minutes, report.bugs):
            message = _("This key was used for a request with another body; use a new key.")
            raise ApplicationError("IDEMPOTENCY_KEY_REUSED", message)
        recorded.outcomes.append(known)
        return False
    outcome = Outcome.objects.create(
        company_id=item.company_id,
        knowledge=item,
        code=item.code,
        injection=told.injection,
        task=task,
        result=report.result,
        time_saved_minutes=report.minutes,
        bugs_introduced=report.bugs,
        notes=shortened(redact(report.notes).text, MAX_NOTES),
        idempotency_key=told.key,
        created_by=actor.name[:200],
        created_by_key_id=actor.key_id,
        at=told.now,
    )
    recorded.outcomes.append(outcome)
    return True

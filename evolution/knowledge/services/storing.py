"""Take knowledge in: a new draft, or another vote for what is known already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from common.actors import Actor
from common.companies.models import Company
from common.counters.services import next_number
from common.errors import ApplicationError, invalid
from common.redaction import redact
from evolution.knowledge.choices import EventKind, KnowledgeSource, Status
from evolution.knowledge.models import PREFIX, Knowledge, LearningItem
from evolution.knowledge.rules.confidence import clamped
from evolution.knowledge.rules.values import (
    LIMITS,
    LINES,
    LISTS,
    PARTS,
    TEXT_FIELDS,
    checked_values,
    shortened,
    title_key,
)
from evolution.knowledge.selectors.knowledge import named_items, same_finding
from evolution.knowledge.services.confidence import record_event
from evolution.knowledge.services.locking import lock_parent, locked_items
from evolution.knowledge.services.receipts import write_knowledge_receipt
from evolution.parameters.selectors import parameters_of

#: Drafts of one key that may wait for a person; more would bury those of others.
MAX_DRAFTS_OF_KEY = 1000


@transaction.atomic
def add_knowledge(
    *,
    company: Company,
    agent: Agent | None,
    fields: Mapping[str, Any],
    source_type: str,
    confidence: Decimal,
    actor: Actor,
    now: datetime,
    source: LearningItem | None = None,
    anti_of: Knowledge | None = None,
) -> tuple[Knowledge, bool]:
    """Store a draft, or let the item that says the same be verified; the item, and whether it is new.

    `fields`: those of docs/api.md "Knowledge"; secrets are taken out first. `agent` must be visible to the
    company, None is for all its agents. What a report brought (`source`) counts as said by its reporter; no key
    corroborates what it reported itself, and no report counts twice. A draft counts for nothing yet and has
    no receipt.
    Errors: VALIDATION_ERROR; NOT_FOUND for related items that are not there; STATE_CONFLICT (`check_waiting`).
    """
    check_source(source_type)
    columns, counts = redacted(checked_values({"title": "", "category": None, **fields}))
    item = Knowledge(
        company=company,
        agent=agent,
        title_key=title_key(columns["title"]),
        source_type=source_type,
        source=source,
        anti_of=anti_of,
        redactions=counts,
        **{name: columns[name] for name in TEXT_FIELDS if name in columns},
    )
    by = reporter(source, actor)
    lock_parent(company.pk, item.agent_id)
    known = same_finding(company.pk, item.agent_id, item.category, item.title_key)
    if known is not None:
        return _corroborated(known.pk, source, by, now), False
    _store_draft(item, confidence, by, now)
    item.related.set(named_items(company, columns.get("related", []), "/related"))
    return item, True


def check_source(source_type: str) -> None:
    """VALIDATION_ERROR unless it is a known source."""
    if source_type not in KnowledgeSource.values:
        known = ", ".join(KnowledgeSource.values)
        raise invalid("/source_type", _("Unknown value; there are: %(known)s.") % {"known": known})


def store_new(item: Knowledge, confidence: Decimal, *, actor: Actor, now: datetime) -> None:
    """Insert a filled item with the event that its ledger starts from.

    Run it under the lock of the parent (`locking.lock_parent`); an active item below the threshold is stored as
    deprecated.
    """
    item.confidence = clamped(confidence)
    item.save(force_insert=True)
    record_event(
        item,
        EventKind.CREATED,
        actor=actor,
        now=now,
        parameters=parameters_of(item.company_id),
        delta=item.confidence,
    )


def reporter(source: LearningItem | None, actor: Actor) -> Actor:
    """Who stands behind an item: the key or the job that reported it, not the job that read the report."""
    if source is None:
        return actor
    return Actor(source.created_by, actor.channel, key_id=source.created_by_key_id)


def is_own(item: Knowledge, actor: Actor) -> bool:
    """Whether this key reported the item: its own word corroborates nothing. docs/rules.md: same knowledge."""
    return actor.key_id is not None and item.created_by_key_id == actor.key_id


def redacted(columns: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, int]]:
    """The columns without secrets and personal data, and how many were taken out, by kind.

    What grew beyond its limit by that is cut.
    """
    counts: Counter[str] = Counter()

    def without(name: str, text: str) -> str:
        found = redact(text)
        counts.update(found.counts)
        return shortened(found.text, LIMITS[name])

    result = dict(columns)
    for name in columns.keys() & {*LINES, *PARTS}:
        result[name] = without(name, columns[name])
    for name in columns.keys() & set(LISTS):
        result[name] = [without(name, text) for text in columns[name]]
    return result, dict(counts)


def _store_draft(item: Knowledge, confidence: Decimal, by: Actor, now: datetime) -> None:
    """Number a new item, note who reported it, and insert it."""
    check_waiting(item.company, by)
    item.number = next_number(company_id=item.company_id, prefix=PREFIX)
    item.order = Knowledge.objects.filter(company=item.company, agent=item.agent).count()
    item.created_by, item.created_by_key_id = by.name[:200], by.key_id
    item.created_at = item.drafted_at = now
    store_new(item, confidence, actor=by, now=now)


def check_waiting(company: Company, by: Actor) -> None:
    """STATE_CONFLICT when as many drafts of one key wait for a person as may. docs/rules.md: floods."""
    if by.key_id is None:
        return
    waiting = Knowledge.objects.of_company(company).drafts().filter(created_by_key_id=by.key_id)
    if waiting.count() >= MAX_DRAFTS_OF_KEY:
        told = {"limit": MAX_DRAFTS_OF_KEY}
        message = (
            _("%(limit)d drafts of this key wait already; staff decide about some of them first.") % told
        )
        raise ApplicationError("STATE_CONFLICT", message, extra=told)


def _corroborated(known_id: int, source: LearningItem | None, by: Actor, now: datetime) -> Knowledge:
    item = locked_items([known_id])[0]
    if is_own(item, by):
        return item
    event = record_event(
        item,
        EventKind.VERIFIED,
        actor=by,
        now=now,
        parameters=parameters_of(item.company_id),
        occasion="" if source is None else source.code,
    )
    if event is not None and item.status != Status.DRAFT:
        write_knowledge_receipt([item], actor=by, now=now, trigger="knowledge_verified")
    return item

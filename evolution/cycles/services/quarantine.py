"""Take everything that one key brought out of use, with all that came of it, and bring it back.

Locks are taken in the house's order: agents, lessons, knowledge, receipts. docs/rules.md: quarantine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext_lazy as _

from agents.choices import Source
from agents.services.editing import Edit
from agents.services.rows import switch_rows
from common.actors import Actor
from common.archive import in_batches
from common.companies.models import ApiKey, Company
from common.errors import ApplicationError, invalid
from common.receipts.choices import ReceiptType
from common.receipts.rules import Line
from common.receipts.services import write_receipt
from common.text import clean, is_blank
from evolution.cycles.models import Quarantine
from evolution.knowledge.services import quarantine as knowledge
from evolution.lessons.models import Lesson
from evolution.lessons.services import quarantine as lessons
from evolution.patterns.services import quarantine as patterns
from evolution.proposals.services import quarantine as proposals
from experiences.models import Experience

EXPERIENCE = "experience"
#: Rows a statement.
_BATCH = 500


@dataclass(frozen=True)
class Kind:
    """How rows of one kind are held and released."""

    hold: Callable[[Company, Collection[int], datetime], int]
    release: Callable[[Company, Collection[int]], None]


_KINDS: Mapping[str, Kind] = {
    "lesson": Kind(lessons.hold_lessons, lessons.release_lessons),
    "learning_item": Kind(knowledge.hold_reports, knowledge.release_reports),
    "knowledge": Kind(knowledge.hold_knowledge, knowledge.release_knowledge),
    "outcome": Kind(knowledge.hold_outcomes, knowledge.release_outcomes),
    "pattern": Kind(patterns.hold_patterns, patterns.release_patterns),
    "sighting": Kind(patterns.hold_sightings, patterns.release_sightings),
    "proposal": Kind(proposals.hold_proposals, proposals.release_proposals),
}


@dataclass(frozen=True)
class Found:
    """Ids by kind of what a key brought, and codes of its applied proposals, which a person must look at."""

    ids: Mapping[str, set[int]]
    applied: tuple[str, ...]

    @property
    def counts(self) -> dict[str, int]:
        return {kind: len(ids) for kind, ids in self.ids.items() if ids}


def find(key: ApiKey, since: datetime) -> Found:
    """What `quarantine_key` would hold."""
    company = key.company
    reports = knowledge.reports_by_key(company, key.pk, since)
    found_lessons = lessons.lessons_by_key(company, key.pk, since)
    applied = proposals.applied_by_key(company, key.pk, since)
    ids = {
        "lesson": found_lessons,
        "learning_item": reports,
        "knowledge": knowledge.knowledge_by_key(company, key.pk, since, reports),
        "outcome": knowledge.outcomes_by_key(company, key.pk, since),
        "pattern": patterns.patterns_by_key(company, key.pk, since),
        "sighting": patterns.sightings_by_key(company, key.pk, since),
        "proposal": proposals.proposals_by_key(company, key.pk, since),
        EXPERIENCE: _promoted(found_lessons) | proposals.rows_added_by(applied),
    }
    return Found(ids, tuple(proposal.code for proposal in applied))


@transaction.atomic
def quarantine_key(
    *, key: ApiKey, since: datetime, reason: str, actor: Actor, now: datetime
) -> tuple[Quarantine, Found]:
    """Hold what the key brought since then, and switch off the experiences that came of it; one receipt.

    What is decided about the key itself (to revoke it) is another step. Errors: VALIDATION_ERROR without a reason
    or for a time to come.
    """
    if is_blank(reason):
        raise invalid("/reason", _("Say why, so that the next person knows."))
    if since > now:
        raise invalid("/since", _("This time is still to come."))
    found = find(key, since)
    held = {kind: sorted(ids) for kind, ids in found.ids.items() if kind != EXPERIENCE}
    held[EXPERIENCE] = _switched_off(found.ids[EXPERIENCE], key, actor, now)
    counts = {kind: _KINDS[kind].hold(key.company, held[kind], now) for kind in _KINDS}
    counts[EXPERIENCE] = len(held[EXPERIENCE])
    row = Quarantine.objects.create(
        company=key.company,
        key=key,
        key_name=str(key)[:200],
        since=since,
        reason=clean(reason),
        held=held,
        counts={kind: count for kind, count in counts.items() if count},
        created_by=actor.name[:200],
        created_at=now,
    )
    _receipt(row, "quarantined", row.reason, actor, now)
    return row, found


@transaction.atomic
def lift_quarantine(*, quarantine_id: int, reason: str, actor: Actor, now: datetime) -> Quarantine:
    """Bring back what is held and no other quarantine holds. Errors: NOT_FOUND, STATE_CONFLICT, VALIDATION_ERROR."""
    row = Quarantine.objects.select_for_update(of=("self",)).filter(pk=quarantine_id).first()
    if row is None:
        raise ApplicationError("NOT_FOUND", _("No such quarantine."))
    if row.lifted_at is not None:
        raise ApplicationError("STATE_CONFLICT", _("This quarantine was lifted already."))
    if is_blank(reason):
        raise invalid("/reason", _("Say why, so that the next person knows."))
    others = Quarantine.objects.of_company(row.company).in_force().exclude(pk=row.pk)
    still = [other.held for other in others]
    free = {
        kind: set(ids) - {pk for held in still for pk in held.get(kind, ())} for kind, ids in row.held.items()
    }
    switch_rows(
        row_ids=free.pop(EXPERIENCE, set()),
        enabled=True,
        edit=_edit(row.key_name, actor, now, Source.RESTORE),
    )
    for kind, ids in free.items():
        _KINDS[kind].release(row.company, ids)
    row.lifted_by, row.lifted_at, row.lift_reason = actor.name[:200], now, clean(reason)
    row.save(update_fields=["lifted_by", "lifted_at", "lift_reason"])
    _receipt(row, "quarantine_lifted", row.lift_reason, actor, now)
    return row


def _promoted(lesson_ids: Collection[int]) -> set[int]:
    """Experiences that say word for word what one of these lessons says and were made after it."""
    found: set[int] = set()
    for batch in in_batches(sorted(lesson_ids), _BATCH):
        linked = Lesson.objects.filter(
            pk__in=batch,
            rule_experience__content=F("takeaway"),
            rule_experience__created_at__gte=F("created_at"),
        )
        found |= {pk for pk in linked.values_list("rule_experience", flat=True) if pk is not None}
    return found


def _switched_off(ids: Collection[int], key: ApiKey, actor: Actor, now: datetime) -> list[int]:
    """Those of these rows that were on, or that another quarantine switched off already."""
    on = Experience.objects.enabled().filter(pk__in=ids)
    switched = set(on.values_list("pk", flat=True))
    switch_rows(row_ids=switched, enabled=False, edit=_edit(str(key), actor, now, Source.ROLLBACK))
    others = Quarantine.objects.of_company(key.company).in_force()
    known = {pk for other in others for pk in other.held.get(EXPERIENCE, ())}
    return sorted(switched | (known & set(ids)))


def _edit(key_name: str, actor: Actor, now: datetime, source: Source) -> Edit:
    return Edit(actor, now, source, message=f"quarantine: {key_name}"[:500])


def _receipt(row: Quarantine, trigger: str, reason: str, actor: Actor, now: datetime) -> None:
    line = Line(type="api_key", content=f"{row.key_name}\n{reason}", target=f"key:{row.key_id}")
    detail: dict[str, Any] = {"quarantine": row.pk, "since": row.since.isoformat(), "held": row.counts}
    write_receipt(
        company=row.company,
        actor=actor,
        type=ReceiptType.CHANGE,
        trigger=trigger,
        at=now,
        lines=[line],
        detail=detail,
    )

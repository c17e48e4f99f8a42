"""Learn from a report: a draft, another vote for what is known, or nothing and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from common.actors import Actor
from evolution.knowledge.choices import SourceType
from evolution.knowledge.models import Knowledge, LearningItem
from evolution.knowledge.rules.harvesting import Draft, Nothing, drafted, knows_solution
from evolution.knowledge.rules.values import title_key
from evolution.knowledge.selectors.knowledge import same_finding
from evolution.knowledge.services.locking import lock_parent
from evolution.knowledge.services.storing import add_knowledge, redacted


@dataclass(frozen=True)
class Harvest:
    """The code of the item that a report made or spoke for (k-001), or empty; and what is to be said about it."""

    code: str = ""
    note: str = ""


@transaction.atomic
def harvest(item: LearningItem, *, actor: Actor, now: datetime) -> Harvest:
    """Learn from a report whose row the caller has locked; reading the same report again makes nothing more.

    An error fix teaches only when its error type or its solution is new. What is said again is verified, unless
    the key that says it reported the item itself. docs/rules.md: harvest.
    Errors: as `add_knowledge`.
    """
    learnt = drafted(item.source_type, item.source_id, item.metadata)
    if isinstance(learnt, Nothing):
        return Harvest(note=str(learnt.note))
    lock_parent(item.company_id, item.agent_id)
    known = _known(item, learnt)
    if known is not None and known.source_id == item.pk:
        return Harvest(known.code)
    if known is not None and item.source_type == SourceType.ERROR_FIX and _is_old(item, known):
        note = _("The error type and the solution are known: %(code)s.") % {"code": known.code}
        return Harvest(note=note)
    found, created = add_knowledge(
        company=item.company,
        agent=item.agent,
        fields=learnt.fields,
        source_type=item.source_type,
        confidence=learnt.confidence,
        actor=actor,
        now=now,
        source=item,
    )
    return Harvest(found.code, "" if created else _("It was known already."))


def _known(item: LearningItem, learnt: Draft) -> Knowledge | None:
    """The item that says the same; compared as it would be stored, without secrets."""
    fields: dict[str, Any] = redacted({"title": learnt.fields["title"]})[0]
    key = title_key(fields["title"])
    return same_finding(item.company_id, item.agent_id, learnt.fields["category"], key)


def _is_old(item: LearningItem, known: Knowledge) -> bool:
    solution = item.metadata.get("solution")
    text = solution if isinstance(solution, str) else ""
    return knows_solution(text, known.summary, known.details)

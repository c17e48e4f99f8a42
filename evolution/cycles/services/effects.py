"""What is learnt from a report, by its kind. Each runs in the transaction that marks the report as done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common.actors import Actor
from common.errors import ApplicationError
from common.text import is_blank
from evolution.cycles.selectors import count_structure
from evolution.knowledge.choices import SourceType
from evolution.knowledge.models import LearningItem
from evolution.knowledge.services.harvesting import harvest
from evolution.patterns.rules.values import MAX_DESCRIPTION, MAX_NAME
from evolution.patterns.selectors import pattern_named
from evolution.patterns.services.scanning import Scanned, checked_commit, scan
from evolution.patterns.services.storing import create_pattern

#: Reports of one structure that make the draft of a pattern.
STRUCTURE_REPORTS = 3


@dataclass(frozen=True)
class Effect:
    """The code of what came of a report (k-001, P-002), or the reason why nothing did."""

    result: str = ""
    note: str = ""


def effect_of(item: LearningItem, *, actor: Actor, now: datetime) -> Effect:
    """Learn from a report whose row the caller has locked. docs/rules.md: learning queue.

    What is made carries the name of who reported, not of who works the queue off: it is worth as much as its source.
    """
    reporter = Actor(item.created_by, actor.channel, key_id=item.created_by_key_id)
    return _EFFECTS[SourceType(item.source_type)](item, reporter, now)


def _harvested(item: LearningItem, reporter: Actor, now: datetime) -> Effect:
    found = harvest(item, actor=reporter, now=now)
    return Effect(found.code, found.note)


def _noted_run(item: LearningItem, reporter: Actor, now: datetime) -> Effect:
    return Effect(
        note=_("Runs of workflows are counted where they are reported as runs; nothing is drafted.")
    )


def _changed_code(item: LearningItem, reporter: Actor, now: datetime) -> Effect:
    """Patterns in the difference, and the draft of a structure that is reported again and again; else knowledge."""
    scanned, note = _scanned(item, reporter, now)
    code = _structure(item, reporter, now)
    if not code and scanned.drafted:
        code = scanned.drafted[0].code
    if not code and scanned.sightings:
        code = scanned.sightings[0].pattern.code
    if code:
        return Effect(code, note)
    found = _harvested(item, reporter, now)
    return Effect(found.result, " ".join(filter(None, (note, found.note))))


def _scanned(item: LearningItem, reporter: Actor, now: datetime) -> tuple[Scanned, str]:
    """What the difference of a report shows, and what is to be said about it."""
    diff = item.metadata.get("diff")
    if not isinstance(diff, str) or not diff.strip():
        return Scanned(), ""
    told = {
        "repository": _text(item, "repository") or _("reports"),
        "commit": _text(item, "commit") or f"LQ{item.number}",
        "diff": diff,
    }
    try:
        commit = checked_commit(told)
    except ApplicationError as error:
        return Scanned(), str(error.message)
    found = scan(company=item.company, commit=commit, actor=reporter, now=now, agent=item.agent)
    count = len(found.sightings)
    note = ngettext("%(count)d new sighting of a pattern.", "%(count)d new sightings of patterns.", count)
    return found, note % {"count": count}


def _structure(item: LearningItem, reporter: Actor, now: datetime) -> str:
    """The code of the pattern of a structure that was reported three times or more; empty without one."""
    name = _text(item, "structure")[:MAX_NAME]
    if not name or count_structure(item) < STRUCTURE_REPORTS:
        return ""
    known = pattern_named(item.company, name)
    if known is None:
        values: dict[str, Any] = {"name": name, "description": _text(item, "description")[:MAX_DESCRIPTION]}
        known = create_pattern(
            company=item.company, values=values, actor=reporter, now=now, agent=item.agent, receipt=False
        )
    return known.code


def _text(item: LearningItem, name: str) -> str:
    value = item.metadata.get(name)
    return " ".join(value.split()) if isinstance(value, str) and not is_blank(value) else ""


_EFFECTS: dict[SourceType, Callable[[LearningItem, Actor, datetime], Effect]] = {
    **dict.fromkeys(SourceType, _harvested),
    SourceType.CODE_CHANGE: _changed_code,
    SourceType.WORKFLOW_RUN: _noted_run,
}

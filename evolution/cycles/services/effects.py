"""What is learnt from a report, by its kind. Each runs in the transaction that marks the report as done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from common.actors import Actor
from evolution.knowledge.choices import SourceType
from evolution.knowledge.models import LearningItem


@dataclass(frozen=True)
class Effect:
    """The code of what came of a report (k-001, P-002), or the reason why nothing did."""

    result: str = ""
    note: str = ""


def effect_of(item: LearningItem, *, actor: Actor, now: datetime) -> Effect:
    """Learn from a report whose row the caller has locked. docs/rules.md: learning queue."""
    return _EFFECTS[SourceType(item.source_type)](item, actor, now)


def _harvested(item: LearningItem, actor: Actor, now: datetime) -> Effect:
    return Effect(note="")


def _noted_run(item: LearningItem, actor: Actor, now: datetime) -> Effect:
    return Effect(
        note=_("Runs of workflows are counted where they are reported as runs; nothing is drafted.")
    )


_EFFECTS: dict[SourceType, Callable[[LearningItem, Actor, datetime], Effect]] = {
    **dict.fromkeys(SourceType, _harvested),
    SourceType.WORKFLOW_RUN: _noted_run,
}

"""Make a warning of what misleads: one anti-pattern item a source, never a second one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from agents.choices import Language
from common.actors import Actor
from common.companies.models import Company
from evolution.knowledge.choices import KnowledgeSource
from evolution.knowledge.models import CausalScore, Knowledge
from evolution.knowledge.rules.causal import Causal
from evolution.knowledge.rules.outcomes import (
    WARNING_CATEGORY,
    WARNING_CONFIDENCE,
    warning_summary,
    warning_title,
)
from evolution.knowledge.rules.values import title_key
from evolution.knowledge.selectors.causal import causals
from evolution.knowledge.selectors.knowledge import same_finding
from evolution.knowledge.services.locking import lock_parent, locked_items
from evolution.knowledge.services.storing import add_knowledge
from evolution.parameters.rules.specs import Parameters
from evolution.parameters.selectors import parameters_of

#: What a fifth of successes can reach, in thousandths: above this score nothing misleads.
HOPELESS_UP_TO = 400


def warn_about(
    items: Sequence[Knowledge], *, actor: Actor, now: datetime, parameters: Parameters
) -> list[Knowledge]:
    """New drafts that warn of those of these items (of one company) whose outcomes say so.

    The caller has locked the items and before them what they belong to. docs/rules.md: warnings from outcomes.
    """
    found = causals(items[0].company_id, [item.pk for item in items]) if items else {}
    made = []
    for item in items:
        causal = found.get(item.pk)
        if causal is None or item.category == WARNING_CATEGORY:
            continue
        if causal.misleads(parameters.causal_min_samples) and _is_first(item, now):
            made.append(_warning(item, causal, actor, now))
    return made


def warn_of_misleading(*, company: Company, actor: Actor, now: datetime) -> list[Knowledge]:
    """The same for all items of a company, which a changed parameter may have made misleading; each by itself."""
    parameters = parameters_of(company.pk)
    waiting = CausalScore.objects.filter(
        company=company,
        warned_at=None,
        samples__gte=parameters.causal_min_samples,
        thousandths__lte=HOPELESS_UP_TO,
    )
    made: list[Knowledge] = []
    for pk, agent_id in waiting.order_by("pk").values_list("pk", "knowledge__agent_id"):
        with transaction.atomic():
            lock_parent(company.pk, agent_id)
            made += warn_about(locked_items([pk]), actor=actor, now=now, parameters=parameters)
    return made


def _is_first(item: Knowledge, now: datetime) -> bool:
    """Whether nothing warns of the item yet; notes that something does now."""
    row = CausalScore.objects.filter(knowledge=item, warned_at=None)
    is_first = row.update(warned_at=now) == 1
    return is_first and not Knowledge.objects.filter(anti_of=item).exists()


def _warning(item: Knowledge, causal: Causal, actor: Actor, now: datetime) -> Knowledge:
    title = warning_title(item.title)
    known = same_finding(item.company_id, item.agent_id, WARNING_CATEGORY, title_key(title))
    if known is not None and known.anti_of_id is not None:
        # Two items with one title: each has a warning of its own.
        title = warning_title(item.title, item.code)
    warning, _created = add_knowledge(
        company=item.company,
        agent=item.agent,
        fields={
            "title": title,
            "category": WARNING_CATEGORY,
            "tags": item.tags,
            "summary": warning_summary(
                item.code,
                item.title,
                causal,
                in_chinese=item.agent is None or item.agent.language == Language.ZH,
            ),
            "details": item.summary,
            "related": [item.code],
        },
        source_type=KnowledgeSource.OUTCOMES,
        confidence=WARNING_CONFIDENCE,
        actor=actor,
        now=now,
        anti_of=item,
    )
    Knowledge.objects.filter(Q(pk=warning.pk), anti_of=None).update(anti_of=item)
    warning.related.add(item)
    return warning

"""A user teaches or corrects: detected by rule, proposed at once. docs/rules.md: targets of teachings, impact."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from django.db.models import Sum
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from agents.rules.paths import path_key
from common.actors import Actor
from common.companies.models import Company
from common.errors import invalid
from common.redaction import redact
from common.text import length
from evolution.memory.rules.correcting import ERROR_CORRECTION, Correction, correction
from evolution.memory.rules.signs import signs
from evolution.memory.rules.teaching import Intent, IntentType, intent
from evolution.memory.selectors import lexicon
from evolution.proposals.choices import ItemStatus, Kind, Operation, Trigger
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.rules.risk import risk_of
from evolution.proposals.services.drafting import MAX_CONTENT, Draft, ItemDraft, draft_proposal
from evolution.proposals.sources.targets import skill_cues, target_for

FREQUENCY_WINDOW = timedelta(days=30)
RECENT_CHANGES = 10
# Whole words: "whenever" and "nevertheless" demand nothing.
_RULE_RE = re.compile(r"必须|禁止|\b(?:always|never)\b", re.ASCII)


@dataclass(frozen=True)
class Teaching:
    """What a runtime reports: a user's message and the messages before it, oldest first."""

    agent: Agent
    company: Company
    user_id: str
    text: str
    conversation_id: str = ""
    context: Sequence[str] = ()
    redactions: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Impact:
    """What a correction touches: the target document, how often this happened lately, how risky it is."""

    affects: str
    frequency: str
    risk_level: str


@dataclass(frozen=True)
class Learnt:
    """What was detected, and the target of it; nothing at all when every field is empty."""

    proposal: Proposal | None = None
    created: bool = False
    target: str = ""
    intent: Intent | None = None
    correction: Correction | None = None
    impact: Impact | None = None
    introspection: bool = False


def learn(*, teaching: Teaching, actor: Actor, now: datetime) -> Learnt:
    """Detect a teaching, a correction or a question about what was learnt, and propose what there is to keep.

    What a key passes on is redacted before anything is looked for in it.
    Errors: those of `draft_proposal`; VALIDATION_ERROR at /text for a teaching that is too long to keep.
    """
    teaching = teaching if actor.is_person else _redacted(teaching)
    words, skills = lexicon(), skill_cues(teaching.agent)
    previous = teaching.context[-1] if teaching.context else None
    meant = intent(teaching.text, words, previous, skills)
    if meant is not None:
        return _taught(teaching, meant, actor, now)
    wrong = correction(teaching.text, words, skills)
    if wrong is not None:
        return _corrected(teaching, wrong, actor, now)
    return Learnt(introspection=bool(signs(teaching.text, words).introspect))


def _redacted(teaching: Teaching) -> Teaching:
    found, before = redact(teaching.text), [redact(text) for text in teaching.context]
    counts = Counter(found.counts)
    for earlier in before[-1:]:  # only the last message before can become content
        counts.update(earlier.counts)
    return replace(
        teaching, text=found.text, context=[earlier.text for earlier in before], redactions=dict(counts)
    )


def _taught(teaching: Teaching, meant: Intent, actor: Actor, now: datetime) -> Learnt:
    target = target_for(meant.type, teaching.agent, teaching.user_id, meant.target_hint)
    items = [_item(meant.type, meant.content, target)]
    draft = _draft(teaching, Trigger.EXPLICIT_TEACHING, items, needs_content=meant.needs_content)
    proposal, created = _drafted(teaching, draft, actor, now)
    return Learnt(proposal, created, target, intent=meant)


def _corrected(teaching: Teaching, wrong: Correction, actor: Actor, now: datetime) -> Learnt:
    kind = IntentType.BEHAVIOR_RULE if _is_rule(wrong.rule) else ERROR_CORRECTION
    target = target_for(kind, teaching.agent, teaching.user_id, wrong.skill)
    cause = f"{wrong.wrong} → {wrong.correct}" if wrong.wrong and wrong.correct else teaching.text
    draft = _draft(
        teaching,
        Trigger.ERROR_LEARNING,
        [_item(ERROR_CORRECTION, wrong.rule, target)],
        rationale=cause,
    )
    proposal, created = _drafted(teaching, draft, actor, now)
    return Learnt(proposal, created, target, correction=wrong, impact=impact_of(teaching, target, now))


def _is_rule(text: str) -> bool:
    return _RULE_RE.search(text.casefold()) is not None


def _item(item_type: str, content: str, target: str) -> ItemDraft:
    return ItemDraft(type=item_type, content=content, target=target, operation=Operation.UPDATE)


def _draft(
    teaching: Teaching,
    trigger: str,
    items: Sequence[ItemDraft],
    rationale: str = "",
    needs_content: bool = False,
) -> Draft:
    return Draft(
        kind=Kind.LEARNING,
        trigger=trigger,
        items=items,
        rationale=rationale or teaching.text,
        user_id=teaching.user_id,
        conversation_id=teaching.conversation_id,
        needs_content=needs_content,
        redactions=teaching.redactions,
    )


def _drafted(teaching: Teaching, draft: Draft, actor: Actor, now: datetime) -> tuple[Proposal, bool]:
    size = length(draft.items[0].content)
    if size > MAX_CONTENT:
        detail = _("A teaching has at most %(limit)d characters; this has %(actual)d: remove %(excess)d.")
        values = {"limit": MAX_CONTENT, "actual": size, "excess": size - MAX_CONTENT}
        raise invalid("/text", detail % values)
    drafted = draft_proposal(
        company=teaching.company, agent=teaching.agent, draft=draft, actor=actor, now=now
    )
    if drafted.proposal is not None:
        return drafted.proposal, True
    return drafted.known[0], False


def impact_of(teaching: Teaching, target: str, now: datetime) -> Impact:
    """frequency: high from 3 corrections of this target in 30 days, medium 2, low 1 (this one included).

    The same correction again counts again, though it makes no new item.
    """
    recent = Proposal.objects.filter(
        company=teaching.company,
        agent=teaching.agent,
        trigger=Trigger.ERROR_LEARNING,
        created_at__gte=now - FREQUENCY_WINDOW,
        items__target_key=path_key(target),
    ).aggregate(times=Sum("seen_count"))
    times = recent["times"] or 0
    frequency = "high" if times >= 3 else "medium" if times == 2 else "low"
    risk = risk_of(Operation.UPDATE, target, agent_id=teaching.agent.pk)
    return Impact(affects=target, frequency=frequency, risk_level=risk)


def recent_changes(agent: Agent, company: Company) -> list[ProposalItem]:
    """The last 10 applied changes of the agent, newest first: the answer to "what have you learned?"."""
    applied = ProposalItem.objects.filter(
        proposal__company=company, proposal__agent=agent, status=ItemStatus.APPLIED
    )
    return list(applied.select_related("proposal").order_by("-proposal__applied_at", "-pk")[:RECENT_CHANGES])

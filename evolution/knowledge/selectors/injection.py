"""The few items worth having before a phase. Reads only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from agents.models import Agent
from common.companies.models import Company
from common.search.rules.query import Scope
from common.search.selectors import document_frequencies, measure
from common.text import contained
from common.tokens import tokens
from evolution.knowledge.models import CausalScore, Injection, Knowledge
from evolution.knowledge.rules.injection import (
    AVOID,
    ERROR_ANALYSIS,
    HINT_ABOVE,
    MAX_AVOID,
    POINTS,
    USE,
    Keyword,
    Told,
    base,
    delivered_sha256,
    excerpt,
    given_keywords,
    injection_query,
    is_warning,
    phase_key,
    points,
    rank,
    rarest_keywords,
)
from evolution.knowledge.rules.injection_request import InjectionRequest
from evolution.knowledge.rules.search_fields import KIND
from evolution.parameters.selectors import parameters_of

#: Of an answer: columns that are not needed for it and may be long.
_LONG = ("details", "code_example", "references", "redactions")
_THOUSAND = Decimal(1000)
#: Ids in one question to the database.
_AT_ONCE = 10_000


@dataclass(frozen=True)
class Picked:
    """An item of an answer with the numbers that brought it there; `text` is its summary as delivered."""

    item: Knowledge
    kind: str
    kw: int
    base: Decimal
    rank: Decimal
    causal: Decimal | None
    samples: int
    text: str
    auto_apply_hint: bool = False

    @property
    def sha256(self) -> str:
        """Of the delivered text: what a conversation was told already is not told again."""
        return delivered_sha256(self.item.title, self.text)

    @property
    def title(self) -> str:
        """On one line, contained."""
        return contained(" ".join(self.item.title.split()))

    def told(self) -> Told:
        causal = None if self.causal is None else float(self.causal)
        return Told(self.item.code, self.title, self.text, float(self.item.confidence), causal)


@dataclass(frozen=True)
class Selected:
    """What a runtime gets: items to use, items to avoid, the best first; `suppressed`: what it has already."""

    items: list[Picked]
    avoid: list[Picked]
    keywords: list[str]
    suppressed: list[Picked] = field(default_factory=list)


@dataclass(frozen=True)
class Limits:
    """At most so many items, and so many characters of each; None: as the company's parameters say."""

    items: int | None = None
    chars: int | None = None


def select_items(
    *, company: Company, agent: Agent, request: InjectionRequest, limits: Limits = Limits()
) -> Selected:
    """The best confirmed items of the company for this agent. docs/rules.md: injection rank, injection order.

    With a conversation those that it was told with the same text are left out.
    """
    parameters = parameters_of(company.pk)
    top_k = min(parameters.injection_top_k, limits.items or parameters.injection_top_k)
    chars = min(parameters.injection_max_chars, limits.chars or parameters.injection_max_chars)
    keywords = given_keywords(request.keywords) or _keywords_of(company, request.task)
    phase = phase_key(request.phase)
    found = _found(company, agent, keywords, phase, parameters.causal_min_samples)
    kinds = dict.fromkeys(found.best(USE, top_k), USE) | dict.fromkeys(found.best(AVOID, MAX_AVOID), AVOID)
    rows = Knowledge.objects.of_company(company).for_agent(agent.pk).injectable().defer(*_LONG)
    picked = [found.picked(item, kinds[item.pk], chars, phase) for item in rows.filter(pk__in=list(kinds))]
    picked.sort(key=_order)
    known = _told_before(company, request.conversation_id)
    fresh = [one for one in picked if (one.item.code, one.sha256) not in known]
    return Selected(
        items=[one for one in fresh if one.kind == USE],
        avoid=[one for one in fresh if one.kind == AVOID],
        keywords=[keyword.text for keyword in keywords],
        suppressed=[one for one in picked if (one.item.code, one.sha256) in known],
    )


def _order(one: Picked) -> tuple[Any, ...]:
    """By rank, confidence, the newer, the lower number."""
    return (-one.rank, -one.item.confidence, -one.item.created_at.timestamp(), one.item.number)


@dataclass(frozen=True)
class _Found:
    """The items that may be told, one place an item in each array; thousandths. `causal`: place -> score, n."""

    ids: Any
    kw: Any
    confidences: Any
    bases: Any
    ranks: Any
    warns: Any
    places: dict[int, int]
    causal: dict[int, tuple[int, int]]

    def best(self, kind: str, limit: int) -> list[int]:
        """The ids of the first of a kind, in no order: by rank, confidence, then the newer, the lower number."""
        own = np.flatnonzero(self.warns == (kind == AVOID))
        order = own[np.lexsort((-self.confidences[own], -self.ranks[own]))]
        if len(order) <= limit:
            return self.ids[order].tolist()
        last = order[limit - 1]
        tied = (self.ranks[order] == self.ranks[last]) & (self.confidences[order] == self.confidences[last])
        ahead = self.ids[order[: int(np.flatnonzero(tied)[0])]].tolist()
        return [*ahead, *_newest(self.ids[order[tied]].tolist(), limit - len(ahead))]

    def picked(self, item: Knowledge, kind: str, chars: int, phase: str) -> Picked:
        at = self.places[item.pk]
        score, samples = self.causal.get(at, (None, 0))
        return Picked(
            item=item,
            kind=kind,
            kw=int(self.kw[at]),
            base=int(self.bases[at]) / _THOUSAND,
            rank=int(self.ranks[at]) / _THOUSAND,
            causal=None if score is None else score / _THOUSAND,
            samples=samples,
            text=excerpt(item.summary, chars),
            auto_apply_hint=kind == USE
            and phase == ERROR_ANALYSIS
            and int(self.confidences[at]) > HINT_ABOVE,
        )


def _found(
    company: Company, agent: Agent, keywords: Sequence[Keyword], phase: str, min_samples: int
) -> _Found:
    query = injection_query(keywords, phase)
    measured = measure(company=company, kind=KIND, query=query, scope=Scope(agent_id=agent.pk))
    kw, warns = points(measured.signals, keywords), is_warning(measured.signals)
    kept = np.flatnonzero(kw > 0) if keywords or phase else np.arange(len(kw))
    ids, confidences = measured.object_ids[kept], measured.ranks[kept].astype(np.int64)
    places = {pk: at for at, pk in enumerate(ids.tolist())}
    causal = {
        places[pk]: (score, samples)
        for pk, score, samples in _known_scores(company, min_samples)
        if pk in places
    }
    bases = confidences.copy()
    if causal:
        at = np.array(list(causal), dtype=np.intp)
        scores, samples = np.array(list(causal.values()), dtype=np.int64).T
        bases[at] = base(confidences[at], scores, samples)
    kw = kw[kept].astype(np.int64)
    return _Found(ids, kw, confidences, bases, rank(bases, kw), warns[kept], places, causal)


def _known_scores(company: Company, min_samples: int) -> Any:
    rows = CausalScore.objects.filter(company=company, samples__gte=min_samples)
    return rows.values_list("knowledge_id", "thousandths", "samples")


def _newest(ids: Sequence[int], limit: int) -> list[int]:
    """The newest of these items, of equally new ones those with the lowest numbers."""
    if len(ids) <= limit:
        return list(ids)
    found: list[tuple[Any, int, int]] = []
    for start in range(0, len(ids), _AT_ONCE):
        rows = Knowledge.objects.filter(pk__in=ids[start : start + _AT_ONCE]).order_by(
            "-created_at", "number"
        )
        found += rows.values_list("created_at", "number", "pk")[:limit]
    found.sort(key=lambda row: (-row[0].timestamp(), row[1]))
    return [pk for _created, _number, pk in found[:limit]]


def _keywords_of(company: Company, task: str) -> list[Keyword]:
    """The rarest words of a task, by the items that have them in title, tags or category."""
    words = tokens(task)
    if not words:
        return []
    counts = document_frequencies(company=company, kind=KIND, wanted=dict.fromkeys(POINTS, words))
    return rarest_keywords(words, {word: sum(own[word] for own in counts.values()) for word in words})


def _told_before(company: Company, conversation_id: str) -> set[tuple[str, str]]:
    """Code and digest of all that was delivered to a conversation."""
    if not conversation_id:
        return set()
    rows = Injection.objects.of_company(company).filter(conversation_id=conversation_id)
    return {
        (str(item.get("id")), str(item.get("sha256")))
        for items in rows.values_list("items", flat=True)
        for item in items
    }

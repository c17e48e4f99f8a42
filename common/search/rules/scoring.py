"""The signals of a query over segments: all documents at once, then the best ones in parts. Pure.

docs/rules.md: search signals, search order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common.search.rules.matching import Floats, Integers, Matches, Statistics, Terms, idf, in_order
from common.search.rules.query import Bm25, Hit, Query, Recency, Scope, Share
from common.search.rules.segments import ALL_AGENTS, Segment

#: Documents of a block; the best of each block say which documents can be among the best of all.
BLOCK = 128
#: Scores that are equal when rounded to so many decimals are a tie.
DECIMALS = 9
_SLACK = 2 * 10.0**-DECIMALS
#: Derived arrays that a segment keeps.
_MEMOS = 12


@dataclass(frozen=True)
class Plan:
    """A query with the statistics it is answered by."""

    query: Query
    scope: Scope
    terms: Terms
    statistics: Statistics

    @cached_property
    def signals(self) -> list[tuple[str, Bm25 | Share, int, int]]:
        """Name, signal, and its terms from first to last - 1; the signals that are only measured come last."""
        pairs = zip(in_order(self.query), self.terms.bounds, strict=True)
        return [(name, signal, first, last) for (name, signal), (first, last) in pairs]

    @cached_property
    def scored(self) -> int:
        """The terms before this one make the score."""
        return max((last for _name, signal, _first, last in self.signals if signal.weight), default=0)

    @cached_property
    def factors(self) -> Floats:
        """Of each term: weight x idf for BM25, weight x its share of the idf of all for shares. Where the weight is
        0 it is left out.
        """
        rarity = idf(self.statistics.rows, self.statistics.frequencies)
        for _name, signal, first, last in self.signals:
            if last > first:
                whole = 1.0 if isinstance(signal, Bm25) else sum(rarity[first:last].tolist())
                rarity[first:last] *= (signal.weight or 1.0) / whole
        return rarity


class Scores:
    """The scores of all documents of one segment; 0 for those that may not be found."""

    def __init__(self, plan: Plan, matches: Matches) -> None:
        self.plan, self.matches, self.segment = plan, matches, matches.segment
        self.weights = self._weights()
        blocks, cut = -(-self.segment.size // BLOCK), int(matches.offsets[plan.scored])
        totals = np.bincount(matches.docs[:cut], self.weights[:cut], minlength=blocks * BLOCK)
        self.totals: Floats = totals.astype(np.float64, copy=False)  # integers when there is no posting
        multiplier, self.scanned = multipliers(self.segment, plan.query.recency, plan.scope)
        self.inside = multiplier > 0
        self.totals[: self.segment.size] *= multiplier
        self.best_of_blocks = self.totals.reshape(blocks, BLOCK).max(axis=1)

    def _weights(self) -> Floats:
        """What each posting adds to its signal, before recency."""
        docs, offsets = self.matches.docs, self.matches.offsets
        weights = np.repeat(self.plan.factors, self.matches.sizes)
        places, times = self.matches.repetitions()
        for _name, signal, first, last in self.plan.signals:
            begin, end = int(offsets[first]), int(offsets[last])
            if not isinstance(signal, Bm25) or begin == end:
                continue
            once = self._once(signal)
            weights[begin:end] *= once[docs[begin:end]]
            low, high = np.searchsorted(places, (begin, end)).tolist()
            if high > low:
                # With u = (k1 + 1) / (1 + K) for one occurrence, t of them give t (k1 + 1) / (t + K).
                own, many = places[low:high], times[low:high]
                weights[own] *= many / (1 + (many - 1) * once[docs[own]] / (signal.k1 + 1))
        return weights

    def _once(self, signal: Bm25) -> Floats:
        """BM25 without idf of one occurrence in each document."""
        mean = self.plan.statistics.mean(signal.field)
        key = ("once", signal.field, signal.k1, signal.b)
        known = self.segment.memo.get(key)
        if known is None or known[0] != mean:
            lengths = self.segment.lengths.get(signal.field)
            relative = lengths / mean if lengths is not None and mean else np.ones(self.segment.size)
            once = (signal.k1 + 1) / (1 + signal.k1 * (1 - signal.b + signal.b * relative))
            known = remember(self.segment, key, (mean, once))
        return known[1]

    def at_least(self, least: float) -> Integers:
        """The documents with a score of at least `least`, and above 0."""
        return np.flatnonzero(self.totals >= least) if least > 0 else np.flatnonzero(self.totals)

    def hits(self, docs: Integers) -> list[Hit]:
        """The parts of these documents, in the order given."""
        wanted = np.zeros(self.segment.size, dtype=np.bool_)
        wanted[docs] = True
        chosen = np.flatnonzero(wanted[self.matches.docs])
        places = np.zeros(self.segment.size, dtype=np.intp)
        places[docs] = np.arange(len(docs))
        signals = self.plan.signals
        lasts = [last for _name, _signal, _first, last in signals]
        of_signal = np.searchsorted(lasts, self.matches.terms_at(chosen), side="right")
        cells = of_signal * len(docs) + places[self.matches.docs[chosen]]
        sums = np.bincount(cells, self.weights[chosen], minlength=len(signals) * len(docs))
        rows = sums.reshape(len(signals), len(docs)).T.tolist()
        fresh = recencies(self.segment, self.plan.query.recency)[docs].tolist()
        ids = self.segment.columns["object_ids"][docs].tolist()
        return [self._hit(*values) for values in zip(ids, rows, fresh, strict=True)]

    def _hit(self, object_id: int, sums: Sequence[float], recency: float) -> Hit:
        parts: dict[str, float] = {}
        signals: dict[str, float] = {}
        for (name, signal, _first, _last), value in zip(self.plan.signals, sums, strict=True):
            parts[name] = value if signal.weight else 0.0
            signals[name] = value / (signal.weight or 1.0)
        return Hit(object_id, sum(parts.values()) * recency, signals, parts, recency)


def remember(segment: Segment, key: Any, value: Any) -> Any:
    """Keep a derived array of the segment; some other one leaves when there are many."""
    if len(segment.memo) >= _MEMOS and key not in segment.memo:
        segment.memo.pop(next(iter(segment.memo)), None)
    segment.memo[key] = value
    return value


def recencies(segment: Segment, recency: Recency | None) -> Floats:
    """The factor of each document for its age."""
    key = ("recency", recency)
    known = segment.memo.get(key)
    if known is None:
        known = np.ones(segment.size)
        if recency is not None:
            ages = np.maximum(recency.today.toordinal() - segment.columns["days"], 0)
            known += recency.weight * np.power(2.0, -ages / recency.half_life_days)
        remember(segment, key, known)
    return known


def multipliers(segment: Segment, recency: Recency | None, scope: Scope) -> tuple[Floats, int]:
    """The factor for age, 0 for documents outside the scope; and how many are inside."""
    key = ("scope", recency, scope.agent_id, scope.today, tuple(scope.states))
    known = segment.memo.get(key)
    if known is None:
        inside = segment.alive & np.isin(segment.columns["states"], list(scope.states))
        if scope.agent_id is not None:
            agents = segment.columns["agents"]
            inside &= (agents == ALL_AGENTS) | (agents == scope.agent_id)
        if scope.today is not None:
            inside &= segment.columns["expires"] >= scope.today.toordinal()
        known = (recencies(segment, recency) * inside, int(np.count_nonzero(inside)))
        remember(segment, key, known)
    return known


class Ranking:
    """The documents of all segments, the best first."""

    def __init__(self, scores: Sequence[Scores]) -> None:
        self.scores = scores
        #: Documents in scope.
        self.scanned = sum(own.scanned for own in scores)

    def best(self, begin: int, end: int) -> list[Hit]:
        """Places `begin` to `end` - 1 (from 0). Order: score, rank, newer day, lower sequence."""
        chosen = self._places(end)[begin:end]
        hits: dict[tuple[int, int], Hit] = {}
        for at, scores in enumerate(self.scores):
            docs = np.array([doc for segment, doc in chosen if segment == at], dtype=np.intp)
            if len(docs):
                hits |= {(at, doc): hit for doc, hit in zip(docs.tolist(), scores.hits(docs), strict=True)}
        return [hits[place] for place in chosen]

    def _places(self, end: int) -> list[tuple[int, int]]:
        """Segment and document of the best `end` documents."""
        least = self._least(end)
        found = [scores.at_least(least) for scores in self.scores]
        if not sum(map(len, found)):
            return []
        segments = np.repeat(np.arange(len(found)), [len(docs) for docs in found])
        docs = np.concatenate(found)
        order = np.lexsort(self._order(found))[:end]
        return list(zip(segments[order].tolist(), docs[order].tolist(), strict=True))

    def _order(self, found: Sequence[Integers]) -> list[NDArray[Any]]:
        """The keys of the order, the weakest first."""

        def column(name: str) -> NDArray[Any]:
            return np.concatenate(
                [scores.segment.columns[name][docs] for scores, docs in zip(self.scores, found, strict=True)]
            )

        totals = [scores.totals[docs] for scores, docs in zip(self.scores, found, strict=True)]
        return [
            column("object_ids"),
            column("sequences"),
            -column("days"),
            -column("ranks").astype(np.int32),
            -np.round(np.concatenate(totals), DECIMALS),
        ]

    def _least(self, end: int) -> float:
        """A score that the best `end` documents have: as many blocks hold a document with it."""
        best = np.concatenate([scores.best_of_blocks for scores in self.scores] or [np.empty(0)])
        if end >= len(best):
            return 0.0
        return float(np.partition(best, len(best) - end)[len(best) - end]) - _SLACK

    def place_of(self, object_id: int) -> tuple[int, Hit] | None:
        """The place (from 1) and the parts of a document; None when it has no score or may not be found."""
        for scores in self.scores:
            ids = scores.segment.columns["object_ids"]
            doc = int(np.searchsorted(ids, object_id))
            if doc < len(ids) and ids[doc] == object_id and scores.totals[doc] > 0:
                return self._place(scores, doc)
        return None

    def _place(self, scores: Scores, doc: int) -> tuple[int, Hit]:
        (hit,) = scores.hits(np.array([doc], dtype=np.intp))
        least = float(scores.totals[doc]) - _SLACK
        ahead = sum(len(other.at_least(least)) for other in self.scores)
        found = self._places(ahead)
        at = self.scores.index(scores)
        return found.index((at, doc)) + 1, hit


def ranked(plan: Plan, matches: Sequence[Matches]) -> Ranking:
    """Score all segments."""
    return Ranking([Scores(plan, match) for match in matches])

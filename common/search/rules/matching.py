"""Which documents have the words of a query, and how rare these words are. Pure.

docs/rules.md: search signals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from common.search.rules.query import Bm25, Query, Share, cleaned
from common.search.rules.segments import Segment, numbers

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]


def idf(rows: int, frequencies: Sequence[int]) -> Floats:
    """ln(1 + (N - n + 0.5) / (n + 0.5)): how rare each token is among N documents of which n have it."""
    counts = np.array(frequencies, dtype=np.float64)
    return np.log(1 + (rows - counts + 0.5) / (counts + 0.5))


class Term(NamedTuple):
    """One wanted thing: a token of a field, or several of which any will do."""

    field: str
    tokens: tuple[str, ...]


class Terms:
    """The terms of a query, one signal after the other: of each signal those from `first` to `last` - 1."""

    def __init__(self, parts: Sequence[Sequence[Term]]) -> None:
        self.all = [term for part in parts for term in part]
        ends = list(accumulate(len(part) for part in parts))
        self.bounds = list(zip([0, *ends], ends, strict=False))
        #: Of each term its first place among all tokens.
        self.firsts = np.array([0, *accumulate(len(term.tokens) for term in self.all)], dtype=np.intp)
        self.several = [at for at, term in enumerate(self.all) if len(term.tokens) > 1]

    def __len__(self) -> int:
        return len(self.all)

    @cached_property
    def numbers(self) -> NDArray[np.uint64]:
        """The number of each token of each term."""
        return numbers([(term.field, token) for term in self.all for token in term.tokens])


def in_order(query: Query) -> list[tuple[str, Bm25 | Share]]:
    """The signals with their names; those of weight 0, which are only measured, come last."""
    return sorted(query.signals.items(), key=lambda item: not item[1].weight)


def terms_of(query: Query) -> Terms:
    """The terms of the signals in their order."""
    return Terms([_terms(signal) for _name, signal in in_order(query)])


def _terms(signal: Bm25 | Share) -> list[Term]:
    name = signal.field
    if isinstance(signal, Bm25):
        return [Term(name, (cleaned(token),)) for token in signal.tokens if token]
    things = [(thing,) if isinstance(thing, str) else dict.fromkeys(thing) for thing in signal.wanted]
    wanted = [tuple(cleaned(token) for token in thing if token) for thing in things]
    return [Term(name, tokens) for tokens in wanted if tokens]


def rare_terms_of(query: Query) -> Terms:
    """The terms whose idf the caller wants to know."""
    return Terms(
        [[Term(name, (cleaned(token),)) for name, tokens in query.rarities.items() for token in tokens]]
    )


@dataclass(frozen=True)
class Statistics:
    """Of the documents of state 0: how many, how many tokens in each field, in how many each term is."""

    rows: int
    lengths: Mapping[str, int]
    frequencies: Sequence[int]

    def mean(self, name: str) -> float:
        """The mean number of tokens of a field."""
        return self.lengths.get(name, 0) / self.rows if self.rows else 0.0


class Matches:
    """The posting lists of terms in one segment, one after the other.

    Of each term: `begins`, where its list begins in `segment.docs` (-1: it is a union of lists), and `sizes`.
    """

    def __init__(self, segment: Segment, terms: Terms) -> None:
        self.segment = segment
        wanted, known = terms.numbers, segment.tokens
        places = np.searchsorted(known, wanted)
        # A token that is not there gets the place of the next one, and behind the last one an empty list.
        found = known[np.minimum(places, len(known) - 1)] == wanted if len(known) else places < 0
        lows = segment.starts[places].astype(np.int64)
        highs = segment.starts[places + found].astype(np.int64)
        firsts = terms.firsts[:-1]
        self.begins, self.sizes = lows[firsts], (highs - lows)[firsts]
        self.unions: dict[int, NDArray[np.uint16]] = {}
        for at in terms.several:
            spans = range(terms.firsts[at], terms.firsts[at + 1])
            self._unite(at, [segment.docs[lows[one] : highs[one]] for one in spans if highs[one] > lows[one]])

    def _unite(self, at: int, lists: Sequence[NDArray[np.uint16]]) -> None:
        union = np.unique(np.concatenate(lists)) if lists else self.segment.docs[:0]
        self.begins[at], self.sizes[at], self.unions[at] = -1, len(union), union

    @cached_property
    def docs(self) -> Integers:
        """The documents of all lists, dead ones included."""
        docs, lists = self.segment.docs, []
        for at in np.flatnonzero(self.sizes).tolist():
            begin = int(self.begins[at])
            lists.append(self.unions[at] if begin < 0 else docs[begin : begin + int(self.sizes[at])])
        return np.concatenate([*lists, docs[:0]]).astype(np.intp)

    @cached_property
    def offsets(self) -> Integers:
        """Where the list of each term begins in `docs`, and the end."""
        return np.append(0, np.cumsum(self.sizes))

    def terms_at(self, places: Integers) -> Integers:
        """The terms of these places in `docs`."""
        return np.searchsorted(self.offsets, places, side="right") - 1

    def frequencies(self) -> Integers:
        """In how many living documents of the segment each term is."""
        if self.segment.alive.all():
            return self.sizes
        living = np.flatnonzero(self.segment.alive[self.docs])
        return np.bincount(self.terms_at(living), minlength=len(self.sizes))

    def repetitions(self) -> tuple[Integers, Integers]:
        """Places in `docs` that count more than once, in order, and how often."""
        repeated = self.segment.repeated
        # In the type of `repeated`, of which searchsorted would otherwise make a copy.
        low = np.searchsorted(repeated, np.maximum(self.begins, 0).astype(np.uint32))
        high = np.searchsorted(repeated, np.maximum(self.begins + self.sizes, 0).astype(np.uint32))
        having = np.flatnonzero((high > low) & (self.begins >= 0))
        shifts = self.offsets[having] - self.begins[having]
        spans = list(zip(low[having].tolist(), high[having].tolist(), strict=True))
        nothing = repeated[:0]
        places = np.concatenate([*[repeated[a:b] for a, b in spans], nothing]).astype(np.intp)
        times = np.concatenate([*[self.segment.times[a:b] for a, b in spans], nothing])
        return places + np.repeat(shifts, (high - low)[having]), times


def frequencies_of(matches: Sequence[Matches], terms: Terms) -> list[int]:
    """In how many living documents of state 0 each of the terms (those of the matches) is."""
    total = np.zeros(len(terms), dtype=np.intp)
    for match in matches:
        if match.segment.counted:
            total += match.frequencies()
    return total.tolist()


def rarest(
    terms: Sequence[Term], counts: Sequence[int], *, tokens: int, documents: int, unknown: bool
) -> list[Term]:
    """The terms of the rarest `tokens` things, as long as they are in at most `documents` documents together
    (one thing at least). A thing is as frequent as in the field where it is most frequent. One that no document
    has is left out unless `unknown`.
    """
    by_thing: dict[tuple[str, ...], list[tuple[int, Term]]] = {}
    for term, count in zip(terms, counts, strict=True):
        by_thing.setdefault(term.tokens, []).append((count, term))
    things = sorted(by_thing.values(), key=lambda own: max(count for count, _term in own))
    chosen: list[Term] = []
    left = documents
    for own in [own for own in things if unknown or any(count for count, _term in own)][:tokens]:
        left -= sum(count for count, _term in own)
        if chosen and left < 0:
            break
        chosen += [term for _count, term in own]
    return chosen

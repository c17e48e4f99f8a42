"""Which documents have the words of a query, and how rare these words are. Pure.

docs/rules.md: search signals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from common.search.rules.query import Bm25, Query, cleaned
from common.search.rules.segments import Segment, number

Integers = NDArray[np.intp]


def idf(rows: int, frequency: int) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)): how rare a token is among N documents of which n have it."""
    return math.log(1 + (rows - frequency + 0.5) / (frequency + 0.5))


@dataclass(frozen=True)
class Term:
    """One wanted thing of a signal: a token of a field, or several of which any will do."""

    field: str
    tokens: tuple[str, ...]
    signal: int = -1


def terms_of(query: Query) -> list[Term]:
    """The terms of the signals, one signal after the other; a signal of weight 0 has none."""
    terms = []
    for place, signal in enumerate(query.signals.values()):
        things = signal.tokens if isinstance(signal, Bm25) else signal.wanted
        for thing in things if signal.weight else ():
            tokens = (thing,) if isinstance(thing, str) else tuple(dict.fromkeys(thing))
            if kept := tuple(cleaned(token) for token in tokens if token):
                terms.append(Term(signal.field, kept, place))
    return terms


def rare_terms_of(query: Query) -> list[Term]:
    """The terms whose idf the caller wants to know."""
    return [Term(name, (cleaned(token),)) for name, tokens in query.rarities.items() for token in tokens]


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

    `sizes` has one number a term; `docs` (p) are documents, dead ones included, and `which` (p) the term of each.
    """

    def __init__(self, segment: Segment, terms: Sequence[Term]) -> None:
        self.segment = segment
        spans = _spans(segment, terms)
        self.lists = [_one_list(segment, own) for own in spans]
        self.sizes = np.array([len(own) for own in self.lists], dtype=np.intp)
        self.begins = np.array([own[0][0] if len(own) == 1 else -1 for own in spans], dtype=np.int64)

    @cached_property
    def docs(self) -> Integers:
        return np.concatenate([*self.lists, np.empty(0, np.uint16)]).astype(np.intp)

    @cached_property
    def offsets(self) -> Integers:
        return np.append(0, np.cumsum(self.sizes))

    @cached_property
    def which(self) -> Integers:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def frequencies(self) -> Integers:
        """In how many living documents of the segment each term is."""
        if self.segment.alive.all():
            return self.sizes
        return np.bincount(self.which[self.segment.alive[self.docs]], minlength=len(self.sizes))

    def repetitions(self, first: int, last: int) -> tuple[Integers, Integers]:
        """Of the terms `first` to `last` - 1: positions in `docs` that count more than once, and how often."""
        repeated, begins = self.segment.repeated, self.begins[first:last]
        # In the type of `repeated`, of which searchsorted would otherwise make a copy.
        low = np.searchsorted(repeated, begins.astype(np.uint32))
        high = np.searchsorted(repeated, (begins + self.sizes[first:last]).astype(np.uint32))
        found = [
            (low[at], high[at], self.offsets[first + at] - begins[at])
            for at in np.flatnonzero((high > low) & (begins >= 0))
        ]
        places = [repeated[a:b].astype(np.intp) + shift for a, b, shift in found]
        times = [self.segment.times[a:b] for a, b, _shift in found]
        nothing = np.empty(0, np.intp)
        return np.concatenate([*places, nothing]), np.concatenate([*times, nothing])


def _spans(segment: Segment, terms: Sequence[Term]) -> list[list[tuple[int, int]]]:
    """Where in `segment.docs` the lists of the tokens of each term lie; absent tokens have none."""
    if not len(segment.tokens):
        return [[] for _term in terms]
    keys = [number(term.field, token) for term in terms for token in term.tokens]
    wanted = np.array(keys, dtype=np.uint64)
    places = np.minimum(np.searchsorted(segment.tokens, wanted), len(segment.tokens) - 1)
    known = segment.tokens[places] == wanted
    begins = segment.starts[places].tolist()
    ends = segment.starts[places + 1].tolist()
    all_spans = iter(zip(known.tolist(), begins, ends, strict=True))
    return [[(b, e) for _token in term.tokens for ok, b, e in [next(all_spans)] if ok] for term in terms]


def _one_list(segment: Segment, spans: Sequence[tuple[int, int]]) -> NDArray[np.uint16]:
    lists = [segment.docs[begin:end] for begin, end in spans]
    if len(lists) == 1:
        return lists[0]
    return np.unique(np.concatenate(lists)) if lists else segment.docs[:0]


def frequencies_of(matches: Sequence[Matches], terms: Sequence[Term]) -> list[int]:
    """In how many living documents of state 0 each of the terms (those of the matches) is."""
    counts = [match.frequencies() for match in matches if match.segment.counted]
    return np.sum([np.zeros(len(terms), np.intp), *counts], axis=0).tolist()


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

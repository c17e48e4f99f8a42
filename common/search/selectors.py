"""Ask the index."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from common.companies.models import Company
from common.search.cache import COLUMNS, Index, index_of
from common.search.candidates import candidates, frequencies, in_scope
from common.search.models import SearchDocument, SearchGeneration
from common.search.rules.matching import (
    Matches,
    Statistics,
    frequencies_of,
    idf,
    rare_terms_of,
    terms_of,
)
from common.search.rules.measuring import Measured, measured
from common.search.rules.query import Hit, Query, Scope, split
from common.search.rules.scoring import Plan, Ranking, ranked
from common.search.rules.segments import Row, build

#: How often a question to the database is asked while others write; the last answer may mix two moments.
TRIES = 3
ALL = Scope()


@dataclass(frozen=True)
class Ranked:
    """The answer of a search.

    `hits` are the best `limit` documents with a score above 0; `scanned` the documents in scope; `generation` the
    one of (company, kind) that was answered from; `rarity` field -> token -> idf as asked for.
    """

    hits: list[Hit]
    scanned: int
    generation: int
    rarity: Mapping[str, Mapping[str, float]]
    _ranking: Ranking

    def chunks(self) -> Iterator[list[Hit]]:
        """`hits`, then the following ones, each time as many as came before, until there are no more."""
        yield self.hits
        begin = len(self.hits)
        while begin:
            more = self._ranking.best(begin, 2 * begin)
            if not more:
                return
            yield more
            begin += len(more)

    def place_of(self, object_id: int) -> tuple[int, Hit] | None:
        """Place (from 1) and parts of a document; None when it is out of scope or has no score."""
        return self._ranking.place_of(object_id)


def search(*, company: Company, kind: str, query: Query, scope: Scope = ALL, limit: int = 10) -> Ranked:
    """The best documents of a company for a query: by score, rank, newer day, lower sequence.

    Everything committed before the call is seen, nothing that was rolled back. docs/rules.md: search signals,
    search order.
    """
    view = _view(index_of(company, kind), query, scope)
    ranking = ranked(view.plan, view.matches)
    values = iter(idf(view.plan.statistics.rows, view.rare_counts).tolist())
    return Ranked(
        hits=ranking.best(0, limit),
        scanned=ranking.scanned if view.scanned is None else view.scanned,
        generation=view.generation,
        rarity={name: {token: next(values) for token in tokens} for name, tokens in query.rarities.items()},
        _ranking=ranking,
    )


def measure(*, company: Company, kind: str, query: Query, scope: Scope = ALL) -> Measured:
    """Every document in scope with what it has of each signal, also of none; for scores that are no sum.

    Of a library too large for memory only documents with one of the query's rarer tokens.
    """
    view = _view(index_of(company, kind), query, scope)
    return measured(view.plan, view.matches)


def document_frequencies(
    *, company: Company, kind: str, wanted: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, int]]:
    """Field -> token -> in how many documents of state 0 it is, for the wanted ones."""
    view = _view(index_of(company, kind), Query({}, rarities=wanted), ALL)
    counts = iter(view.rare_counts)
    return {name: {token: next(counts) for token in tokens} for name, tokens in wanted.items()}


@dataclass(frozen=True)
class View:
    """What a query is answered from. `scanned` None: the segments are all there is."""

    plan: Plan
    matches: Sequence[Matches]
    rare_counts: Sequence[int]
    generation: int
    scanned: int | None = None


def _view(found: Index | SearchGeneration, query: Query, scope: Scope) -> View:
    if isinstance(found, Index):
        return _from_memory(found, query, scope)
    return _from_database(found, query, scope)


def _from_memory(index: Index, query: Query, scope: Scope) -> View:
    segments = [own for own in index.segments if own.counted or set(scope.states) - {0}]
    terms, rare = terms_of(query), rare_terms_of(query)
    matches = [Matches(segment, terms) for segment in segments]
    statistics = Statistics(index.counted, index.lengths, frequencies_of(matches, terms))
    rare_counts = frequencies_of([Matches(segment, rare) for segment in segments if segment.counted], rare)
    return View(Plan(query, scope, terms, statistics), matches, rare_counts, index.generation)


def _from_database(head: SearchGeneration, query: Query, scope: Scope) -> View:
    """Counts, candidates and statistics shall be of one moment, so it is done again when others wrote meanwhile."""
    terms, rare = terms_of(query), rare_terms_of(query)
    for _try in range(TRIES):
        statistics = Statistics(head.counted, head.lengths, frequencies(head, terms.all))
        plan = Plan(query, scope, terms, statistics)
        scored, counts = terms.all[: plan.scored], statistics.frequencies[: plan.scored]
        rows = candidates(head, scored, counts, scope).values_list("object_id", *COLUMNS)
        matches = [Matches(segment, terms) for segment in build([Row(*row) for row in rows])]
        rare_counts, scanned = frequencies(head, rare.all), in_scope(head, scope).count()
        generation = head.generation
        head = SearchGeneration.objects.get(pk=head.pk)
        if head.generation == generation:
            break
    return View(plan, matches, rare_counts, generation, scanned)


def stored_fields(
    *, company: Company, kind: str, object_ids: Collection[int]
) -> dict[int, dict[str, list[str]]]:
    """Object id -> field -> tokens, for those that are indexed now."""
    documents = SearchDocument.objects.filter(
        company=company, kind=kind, object_id__in=list(object_ids), removed=False
    )
    return {
        object_id: {name: split(text) for name, text in fields.items()}
        for object_id, fields in documents.values_list("object_id", "fields")
    }

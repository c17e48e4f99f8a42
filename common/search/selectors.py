"""Ask the index."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from common.companies.models import Company
from common.search.cache import Index, current_index
from common.search.models import SearchDocument, SearchGeneration
from common.search.rules.matching import Matches, Statistics, frequencies_of, idf, rare_terms_of, terms_of
from common.search.rules.query import Hit, Query, Scope, split
from common.search.rules.scoring import Plan, Ranking, ranked

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
    head = SearchGeneration.objects.filter(company=company, kind=kind).first()
    index = (current_index(head) if head else None) or Index(0)
    terms, rare = terms_of(query), rare_terms_of(query)
    segments = [segment for segment in index.segments if segment.counted or set(scope.states) - {0}]
    matches = [Matches(segment, terms) for segment in segments]
    frequencies = _frequencies(matches, len(terms))
    plan = Plan(query, scope, terms, Statistics(index.counted, index.lengths, frequencies))
    ranking = ranked(plan, matches)
    found = _frequencies([Matches(segment, rare) for segment in segments], len(rare))
    return Ranked(
        hits=ranking.best(0, limit),
        scanned=ranking.scanned,
        generation=index.generation,
        rarity=_rarity(query, [idf(index.counted, count) for count in found]),
        _ranking=ranking,
    )


def _frequencies(matches: list[Matches], terms: int) -> list[int]:
    return frequencies_of(matches) or [0] * terms


def _rarity(query: Query, values: list[float]) -> dict[str, dict[str, float]]:
    following = iter(values)
    return {name: {token: next(following) for token in tokens} for name, tokens in query.rarities.items()}


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

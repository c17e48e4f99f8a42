"""The few lessons that matter for a task, and why these. Reads only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from django.conf import settings
from django.utils.timezone import localdate

from agents.choices import Language
from agents.models import Agent
from common.companies.models import Company
from common.search.rules.query import Hit
from common.search.rules.query import Scope as IndexScope
from common.search.selectors import Ranked, search
from evolution.lessons.models import Lesson
from evolution.lessons.rules.answers import Candidate, Scope, band, out_of_scope, warnings, why_missing
from evolution.lessons.rules.kinds import Status, lesson_code
from evolution.lessons.rules.recall import (
    WEIGHTS,
    RecallQuery,
    Relevance,
    Score,
    keyword_score,
    recall_query,
    weighed,
)
from evolution.lessons.rules.recall_request import RecallRequest
from evolution.lessons.rules.search_fields import KIND, STATES, search_query
from evolution.lessons.rules.words import tag_keys

#: Signals of the index that are no part of the score.
_SILENT = frozenset({"measured", "names"})
#: Hits with a low relevance that are passed over until the search gives up.
LOOKED_AT = 500
#: Of an answer: columns that are not needed for it and may be long.
_LONG = ("when", "how", "extras", "warnings", "redactions", "references")


@dataclass(frozen=True)
class Match:
    """A lesson of the answer."""

    lesson: Lesson
    relevance: Relevance
    score: Score

    @property
    def band(self) -> str:
        return band(self.relevance.value)

    def candidate(self) -> Candidate:
        lesson = self.lesson
        return Candidate(
            number=lesson.number,
            title=lesson.title,
            severity=lesson.severity,
            date=lesson.date,
            relevance=self.relevance,
            score=self.score,
            tags=lesson.tags,
        )


@dataclass(frozen=True)
class Recalled:
    """An answer. `why_not`: why the lesson asked for is missing, or at which place it is."""

    matches: list[Match]
    warnings: list[str]
    scanned: int
    generated_at: datetime
    why_not: dict[str, Any] | None = None
    agent: Agent | None = field(default=None, compare=False)


def recall_lessons(
    *,
    company: Company,
    request: RecallRequest,
    now: datetime,
    agent: Agent | None = None,
    bound_to: int | None = None,
) -> Recalled:
    """The best lessons of the company for a task. `agent`: only its lessons and those of all agents.

    `bound_to`: the agent of the caller's key, which hears nothing of other agents' lessons.
    Errors: RECALL_INPUT_EMPTY. docs/rules.md: recall score, recall relevance, recall order.
    """
    query = recall_query(request.task, request.tags, request.files)
    search_ = _Search(company, query, request, agent.pk if agent else None, localdate(now))
    matches = search_.best(request.top_k, request.min_relevance)
    language = agent.language if agent else Language.ZH
    return Recalled(
        matches=matches,
        warnings=warnings([match.candidate() for match in matches], language),
        scanned=search_.ranked.scanned,
        generated_at=now,
        why_not=search_.why_not(matches, bound_to) if request.why_not else None,
        agent=agent,
    )


class _Search:
    """One question to the index."""

    def __init__(
        self, company: Company, query: RecallQuery, request: RecallRequest, agent_id: int | None, today: date
    ) -> None:
        self.company, self.query, self.request = company, query, request
        self.scope = Scope(agent_id, today, request.include_archived, request.include_superseded)
        self._best_by_kind: dict[tuple[bool, bool, bool], Relevance] = {}
        self.weights = replace(WEIGHTS, **settings.LESSONS_RECALL_WEIGHTS)
        states = [STATES[Status.ACTIVE.value]]
        states += [STATES[Status.SUPERSEDED.value]] if request.include_superseded else []
        states += [STATES[Status.ARCHIVED.value]] if request.include_archived else []
        self.ranked: Ranked = search(
            company=company,
            kind=KIND,
            query=search_query(query, today, self.weights),
            scope=IndexScope(agent_id=agent_id, today=today, states=states),
            limit=2 * request.top_k,
        )

    def best(self, top_k: int, least: float) -> list[Match]:
        """The first `top_k` lessons, by score, with at least this relevance."""
        matches: list[Match] = []
        for match in self._matches(least):
            if match.relevance.value >= round(least, 3):
                matches.append(match)
            if len(matches) == top_k:
                break
        return matches

    def _matches(self, least: float) -> Iterator[Match]:
        looked_at = 0
        for hits in self.ranked.chunks():
            hopeful = [hit for hit in hits if self._at_most(hit) >= round(least, 3)]
            yield from self._loaded(hopeful)
            looked_at += len(hits)
            if looked_at >= LOOKED_AT:
                return

    def _loaded(self, hits: Sequence[Hit]) -> Iterator[Match]:
        lessons = Lesson.objects.of_company(self.company).defer(*_LONG)
        by_id = lessons.in_bulk([hit.object_id for hit in hits]) if hits else {}
        for hit in hits:
            if hit.object_id in by_id:
                yield self._match(by_id[hit.object_id], hit)

    def _match(self, lesson: Lesson, hit: Hit) -> Match:
        parts = {name: part for name, part in hit.parts.items() if name not in _SILENT}
        total = sum(parts.values()) * hit.recency
        return Match(lesson, self._relevance(lesson, hit), Score(total, parts, hit.recency))

    def _keywords(self, hit: Hit | None) -> float:
        share = hit.signals["measured"] if hit else 0.0
        return keyword_score(share, len(self.query.keywords), self.weights)

    def _relevance(self, lesson: Lesson, hit: Hit | None) -> Relevance:
        tags = frozenset(tag_keys(lesson.tags))
        return weighed(self.query, tags, self._keywords(hit), lesson.related_files, self.weights)

    def _at_most(self, hit: Hit) -> float:
        """The relevance that a hit can have at most, as far as the index knows: most need no look at the row."""
        found = hit.signals
        seen = (found["tags"] > 0, found["files"] > 0, found["names"] > 0)
        if seen not in self._best_by_kind:
            self._best_by_kind[seen] = self._best_of(*seen)
        best = self._best_by_kind[seen]
        weights, scores = best.weights, best.scores | {"keywords": self._keywords(hit)}
        return round(sum(weights[name] * scores[name] for name in weights) / sum(weights.values()), 3)

    def _best_of(self, has_tag: bool, has_file: bool, has_name: bool) -> Relevance:
        """The most that tags and files can be worth where the index saw some of them."""
        tags = frozenset(self.query.tags if has_tag else ())
        files: Sequence[str] = self.query.files if has_file else ()
        if has_name and not has_file:
            # Listed elsewhere under the same name; a task's bare name is then as good as a path.
            files = [path if "/" not in path else f"elsewhere/{path}" for path in self.query.files]
        return weighed(self.query, tags, 0.0, files, self.weights)

    def why_not(self, matches: Sequence[Match], bound_to: int | None) -> dict[str, Any]:
        """Why the lesson asked for is missing. docs/rules.md: recall order."""
        number = self.request.why_not or 0
        return {"id": lesson_code(number), **self._reason(number, matches, bound_to)}

    def _reason(self, number: int, matches: Sequence[Match], bound_to: int | None) -> dict[str, Any]:
        for place, match in enumerate(matches, 1):
            if match.lesson.number == number:
                return {"reason": "returned", "rank": place}
        lesson = Lesson.objects.of_company(self.company).for_agent(bound_to).filter(number=number).first()
        if lesson is None:
            return {"reason": "unknown"}
        if lesson.quarantined_at is not None:
            return {"reason": "quarantined"}
        outside = out_of_scope(lesson.status, lesson.agent_id, lesson.expires_on, self.scope)
        if outside is not None:
            return {name: str(value) for name, value in outside.items()}
        found = self.ranked.place_of(lesson.pk)
        place, hit = found if found else (1, None)
        this = Match(lesson, self._relevance(lesson, hit), Score(0.0, {}, 1.0))
        if hit is not None:
            this = self._match(lesson, hit)
        ahead = self.best(place, self.request.min_relevance) if hit else []
        known = [match.candidate() for match in ahead if match.lesson.pk != lesson.pk] + [this.candidate()]
        reason = why_missing(number, known, self.request.top_k, self.request.min_relevance)
        return reason or {"reason": "no_match"}

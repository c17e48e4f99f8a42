"""How recalled lessons are presented: bands, order, warnings, and why one is missing. Pure.

docs/rules.md: recall bands, recall order, recall warnings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from evolution.lessons.rules.kinds import Severity, Status, lesson_code, severity_rank
from evolution.lessons.rules.lifetime import is_expired
from evolution.lessons.rules.recall import Relevance, Score

STRONG = 0.6
POSSIBLE = 0.3
MAX_WARNED_TAGS = 3
MAX_WARNED_TITLE = 40


@dataclass(frozen=True)
class Candidate:
    """A lesson with what decides its place and whether it may be shown."""

    number: int
    title: str
    severity: str
    date: date
    relevance: Relevance
    score: Score
    tags: Sequence[str] = ()


@dataclass(frozen=True)
class Scope:
    """Who asks for what: only what is in scope is scanned and counted."""

    agent_id: int | None
    today: date
    include_archived: bool = False
    include_superseded: bool = False


def band(relevance: float, strong: float = STRONG, possible: float = POSSIBLE) -> str:
    """`strong`, `possible` or empty; compared after rounding to 3 decimals."""
    rounded = round(relevance, 3)
    if rounded >= strong:
        return "strong"
    return "possible" if rounded >= possible else ""


def rank(candidates: Iterable[Candidate]) -> list[Candidate]:
    """By score; ties by severity, newer date, lower number."""
    return sorted(
        candidates,
        key=lambda one: (-one.score.total, -severity_rank(one.severity), -one.date.toordinal(), one.number),
    )


def chosen(candidates: Iterable[Candidate], top_k: int, min_relevance: float) -> list[Candidate]:
    """The answer: the best `top_k` of those that are relevant enough. docs/rules.md: recall order."""
    least = round(min_relevance, 3)
    return rank(one for one in candidates if one.relevance.value >= least)[:top_k]


def out_of_scope(
    status: str, agent_id: int | None, expires_on: date | None, scope: Scope
) -> dict[str, Any] | None:
    """Why a lesson of the company is not even scanned, or None when it is."""
    wanted = {Status.ACTIVE: True}
    wanted |= {Status.ARCHIVED: scope.include_archived, Status.SUPERSEDED: scope.include_superseded}
    if not next((is_wanted for known, is_wanted in wanted.items() if known == status), False):
        return {"reason": "state", "state": str(status)}
    if scope.agent_id is not None and agent_id not in (None, scope.agent_id):
        return {"reason": "scope"}
    if status == Status.ACTIVE and is_expired(expires_on, scope.today):
        return {"reason": "expired", "expires": expires_on}
    return None


def why_missing(
    number: int, candidates: Sequence[Candidate], top_k: int, min_relevance: float
) -> dict[str, Any] | None:
    """Why a scanned lesson is not in the answer, or None when it is."""
    found = next((one for one in candidates if one.number == number), None)
    if found is None:
        return {"reason": "no_match"}
    if found.relevance.value < round(min_relevance, 3):
        return {
            "reason": "relevance",
            "relevance": found.relevance.value,
            "scores": found.relevance.scores,
            "weights": found.relevance.weights,
            "min_relevance": min_relevance,
        }
    kept = [one for one in rank(candidates) if one.relevance.value >= round(min_relevance, 3)]
    place = kept.index(found) + 1
    return {"reason": "rank", "rank": place, "top_k": top_k} if place > top_k else None


def warnings(matches: Iterable[Candidate], language: str = "zh") -> list[str]:
    """One line for each high-severity match, in the agent's language. docs/rules.md: recall warnings."""
    return [_warning(match, language) for match in matches if match.severity == Severity.HIGH]


def _warning(match: Candidate, language: str) -> str:
    tags = list(match.tags)[:MAX_WARNED_TAGS]
    title = " ".join(match.title.split())
    title = title if len(title) <= MAX_WARNED_TITLE else f"{title[: MAX_WARNED_TITLE - 1]}…"
    code = lesson_code(match.number)
    if language == "en":
        return f"⚠️ This task touches {', '.join(tags) or 'related content'}; check {code}: {title}"
    return f"⚠️ 此任务涉及 {'、'.join(tags) or '相关内容'}, 请检查 {code}: {title}"

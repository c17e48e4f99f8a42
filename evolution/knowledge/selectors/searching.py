"""Find knowledge by words; and the debugging items as a list of known issues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from common.companies.models import Company
from common.search.rules.query import Scope
from common.search.selectors import search
from evolution.knowledge.choices import Category
from evolution.knowledge.models import Knowledge
from evolution.knowledge.models.knowledge import KnowledgeQuerySet
from evolution.knowledge.rules.search_fields import KIND, STATES, query_tokens, search_query
from evolution.knowledge.selectors.knowledge import knowledge_of

#: Items that one search finds at most.
MOST_FOUND = 1000


@dataclass(frozen=True)
class Found:
    """One hit: the item's row id, and the share of the query's words that it has (0..1, three places)."""

    pk: int
    coverage: float


def states_of(status: str | None) -> list[int]:
    """The states of the index that a status stands for; without one what may be handed out."""
    if status is None:
        return [STATES["active"]]
    return [STATES[status], STATES["off"]] if status == "active" else [STATES[status]]


def search_knowledge(
    *,
    company: Company,
    query: str,
    agent_id: int | None = None,
    states: Sequence[int] = (0,),
    limit: int = MOST_FOUND,
) -> list[Found]:
    """The best items: by coverage, then confidence, then number. `agent_id`: only its own and the company's.

    docs/rules.md: knowledge search.
    """
    wanted = query_tokens(query)
    if not wanted:
        return []
    scope = Scope(agent_id=agent_id, states=tuple(states))
    ranked = search(company=company, kind=KIND, query=search_query(wanted), scope=scope, limit=limit)
    return [Found(hit.object_id, round(hit.score / len(wanted), 3)) for hit in ranked.hits]


def in_order(company: Company, found: Sequence[Found]) -> list[Knowledge]:
    """The items of these hits with all that an answer shows, in their order."""
    rows = knowledge_of(company).in_bulk([hit.pk for hit in found])
    return [rows[hit.pk] for hit in found if hit.pk in rows]


def known_issues(company: Company, agent_id: int | None = None) -> KnowledgeQuerySet:
    """Debugging items that may be handed out, the newest first."""
    items = Knowledge.objects.of_company(company).for_agent(agent_id).injectable()
    return items.filter(category=Category.DEBUGGING).order_by("-created_at", "-id")

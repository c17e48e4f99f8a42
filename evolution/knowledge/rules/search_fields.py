"""Knowledge in the index, and a search of it as a question. Pure. docs/rules.md: knowledge search."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from common.search.rules.query import Attributes, Query, Share
from common.tokens import tokens
from evolution.knowledge.rules.injection import EVERY, category_mark

#: The kind of knowledge in the index.
KIND = "knowledge"
#: What may be handed out is found by default; the others when asked for. `off`: active, but switched off.
STATES = {"active": 0, "deprecated": 1, "archived": 2, "draft": 3, "off": 4}
#: Different tokens of a query that are looked for.
MAX_TOKENS = 40


def index_fields(*, title: str, category: str, tags: Sequence[str], summary: str) -> dict[str, list[str]]:
    """Field of the index -> different tokens: `text` for searches, the others for injections."""
    return {
        "text": tokens("\n".join([title, category, *tags, summary])),
        "title": tokens(title),
        "tags": tokens("\n".join(tags)),
        "category": [*tokens(category), category_mark(category), EVERY],
    }


def index_attributes(*, state: str, agent_id: int | None, confidence: Decimal, number: int) -> Attributes:
    """What filters and orders it: among equal coverage the higher confidence, then the lower number."""
    return Attributes(agent_id=agent_id, state=STATES[state], rank=int(confidence * 1000), sequence=number)


def query_tokens(text: str) -> list[str]:
    """The different tokens that a search looks for, at most 40."""
    return tokens(text)[:MAX_TOKENS]


def search_query(wanted: Sequence[str]) -> Query:
    """A document's score is how many of these tokens it has: one signal a token, so that rarity plays no part."""
    return Query({f"token {place}": Share("text", [token]) for place, token in enumerate(wanted)})

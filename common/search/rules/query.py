"""What is indexed and what can be asked: values of the index's API. Pure.

docs/rules.md: search signals, search order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

#: Between tokens in the stored text. Tokens may hold spaces (paths do), never control characters or
#: half characters.
SEPARATOR = "\n"
_CONTROL_RE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class Attributes:
    """What filters and orders a document besides its tokens.

    `day` serves recency; `agent_id` None = for all agents; after `expires` it is not found. Documents of state 0
    are found by default and alone count for idf; other states (1-32767) are found only when asked for. Among
    equal scores the higher `rank` comes first, then the newer day, then the lower `sequence` (None: object id).
    """

    day: date = date.min
    expires: date | None = None
    agent_id: int | None = None
    state: int = 0
    rank: int = 0
    sequence: int | None = None


@dataclass(frozen=True)
class Entry:
    """One object to index: field -> tokens with their repetitions, in order; a field used as a set holds each
    token once.
    """

    object_id: int
    fields: Mapping[str, Iterable[str]]
    attributes: Attributes = Attributes()


@dataclass(frozen=True)
class Bm25:
    """Sum of idf x BM25 of the tokens (unique) in a field. docs/rules.md: search signals."""

    field: str
    tokens: Sequence[str]
    k1: float = 0.9
    b: float = 0.4
    weight: float = 1.0


@dataclass(frozen=True)
class Share:
    """The idf-weighted share of the wanted things that a document has. docs/rules.md: search signals.

    Each wanted thing is a token, or several that stand for it (a file and the directories above it): a document
    with any of them has it.
    """

    field: str
    wanted: Sequence[str | Sequence[str]]
    weight: float = 1.0


@dataclass(frozen=True)
class Recency:
    """The score's factor 1 + weight x 2^(-age / half-life); a day after `today` counts as new."""

    today: date
    weight: float = 0.3
    half_life_days: float = 365.0


@dataclass(frozen=True)
class Query:
    """score = sum of weight x signal, x recency. A signal of weight 0 is only measured: each hit tells it.

    `rarities`: field -> tokens whose idf the caller wants to know.
    """

    signals: Mapping[str, Bm25 | Share]
    recency: Recency | None = None
    rarities: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Scope:
    """Which documents may be found: those of all agents and of `agent_id` (None: of every agent), not expired on
    `today` (None: expired ones too), in one of `states`.
    """

    agent_id: int | None = None
    today: date | None = None
    states: Sequence[int] = (0,)


@dataclass(frozen=True)
class Hit:
    """One document of an answer: score = sum of `parts` x recency, part = weight x signal."""

    object_id: int
    score: float
    signals: Mapping[str, float]
    parts: Mapping[str, float]
    recency: float


def cleaned(token: str) -> str:
    """The token as it is stored: control characters are spaces."""
    return token if token.isprintable() else _CONTROL_RE.sub(" ", token)


def joined(tokens: Iterable[str]) -> str:
    """The stored text of a field; empty tokens are dropped."""
    return SEPARATOR.join(filter(None, map(cleaned, tokens)))


def split(text: str) -> list[str]:
    """The tokens of a stored text."""
    return text.split(SEPARATOR) if text else []

"""Which items are worth having before a phase. Pure, in exact thousandths; docs/rules.md: injection rank.

Confidences, scores, bases and ranks are whole thousandths here, numbers or arrays of them alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from common.search.rules.query import Query, Share
from common.text import clean, contained, is_blank, name_key
from common.tokens import tokens

USE, AVOID = "use", "avoid"
ANTI_PATTERN = "anti-pattern"
MAX_KEYWORDS = 10
LOGGED_KEYWORDS = 5
MAX_AVOID = 3
MAX_POINTS = 10
#: Points of a keyword by the field that has it, and of a preferred category.
POINTS = {"title": 2, "tags": 1, "category": 1}
PREFERRED_POINTS = 1
#: Which categories a phase prefers.
PHASES = {
    "drafting": ("architecture", "workflow", "reference-project"),
    "reviewing": ("debugging", ANTI_PATTERN, "architecture"),
    "decomposing": ("pattern", "architecture", "workflow"),
    "implementing": ("pattern", "debugging", "tooling", "reference-project"),
    "error-analysis": ("debugging", ANTI_PATTERN),
}
ERROR_ANALYSIS = "error-analysis"
#: Above this confidence an item of an error analysis may be applied right away.
HINT_ABOVE = 800
#: A share of the wanted tokens that is all of them, whatever floats make of it.
_ALL = 1 - 1e-9
#: In the index: what every document has, and the category as one word.
EVERY = "*"


def category_mark(category: str) -> str:
    """The token that stands for exactly this category in the index."""
    return f"={category}"


@dataclass(frozen=True)
class Keyword:
    """A keyword as it was given, and its tokens: it matches where all of them are."""

    text: str
    tokens: tuple[str, ...]


def given_keywords(texts: Sequence[str]) -> list[Keyword]:
    """The keywords with anything to look for, each once, in order."""
    found = {tuple(pieces): Keyword(clean(text), tuple(pieces)) for text in texts if (pieces := tokens(text))}
    return list(found.values())


def rarest_keywords(words: Sequence[str], counts: Mapping[str, int]) -> list[Keyword]:
    """The 10 rarest of a task's tokens, in how many items by `counts`; those that no item has come last.

    Ties by the order in the task. docs/rules.md: injection keywords.
    """
    order = sorted(words, key=lambda word: counts[word] or float("inf"))
    return [Keyword(word, (word,)) for word in order[:MAX_KEYWORDS]]


def phase_key(phase: str) -> str:
    """The phase by which preferences are found; empty for one that has none."""
    key = name_key(phase)
    return key if key in PHASES else ""


def injection_query(keywords: Sequence[Keyword], phase: str) -> Query:
    """What the index is asked: of each keyword and field whether it is there, and of the category."""
    signals = {
        _signal(field, place): Share(field, list(keyword.tokens))
        for place, keyword in enumerate(keywords)
        for field in POINTS
    }
    signals[ANTI_PATTERN] = Share("category", [category_mark(ANTI_PATTERN)])
    signals["preferred"] = Share("category", [[category_mark(one) for one in PHASES.get(phase, ())]])
    signals["every"] = Share("category", [EVERY])
    return Query(signals)


def points(signals: Mapping[str, Any], keywords: Sequence[Keyword]) -> Any:
    """kw of the documents that `signals` were measured of, at most 10. docs/rules.md: injection points."""
    total = (signals["preferred"] >= _ALL) * PREFERRED_POINTS
    for place in range(len(keywords)):
        for field, worth in POINTS.items():
            total = total + (signals[_signal(field, place)] >= _ALL) * worth
    return np.minimum(total, MAX_POINTS)


def is_warning(signals: Mapping[str, Any]) -> Any:
    """Which documents are anti-patterns."""
    return signals[ANTI_PATTERN] >= _ALL


def base(confidence: Any, score: Any, samples: Any) -> Any:
    """confidence × (1 + 0.5 × (causal + 0.2 − 0.5) × n/(n+5)), rounded, halves up."""
    whole = 2000 * (samples + 5)
    return (2 * confidence * (whole + (score - 300) * samples) + whole) // (2 * whole)


def rank(base_: Any, kw: Any) -> Any:
    """base × (1 + 0.2 × kw), rounded, halves up."""
    return (base_ * (10 + 2 * kw) + 5) // 10


def excerpt(text: str, limit: int) -> str:
    """The text on as many lines as it has, within `limit` characters; the last three are `...` where it was cut."""
    text = "" if is_blank(text) else clean(text)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def delivered_sha256(title: str, text: str) -> str:
    """Digest of what is said of an item, without its numbers."""
    return hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()


@dataclass(frozen=True)
class Told:
    """What the text says of one item, numbers as JSON has them; `causal` None: unknown."""

    code: str
    title: str
    summary: str
    confidence: float
    causal: float | None = None


def injection_text(items: Sequence[Told]) -> str:
    """The block a runtime puts before a phase; empty without items. docs/rules.md: injection text."""
    if not items:
        return ""
    return "\n".join([f"📚 知识注入 (共 {len(items)} 条)", *map(_block, items)])


def _block(item: Told) -> str:
    causal = "-" if item.causal is None else item.causal
    lines = ["---", f"**[{item.code}]** {item.title} (confidence: {item.confidence}, causal: {causal})"]
    summary = contained(item.summary)
    return "\n".join([*lines, summary] if summary else lines)


def _signal(field: str, place: int) -> str:
    return f"{field} {place}"

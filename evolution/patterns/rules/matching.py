"""Which patterns a file shows, and when one is active. Pure. docs/rules.md: pattern sightings, pattern promotion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from common.text import nfkc
from common.tokens import similarity, tokens
from evolution.patterns.rules.diffs import AddedFile
from evolution.patterns.rules.expressions import SEARCHED, is_found
from evolution.patterns.rules.structures import fingerprints_of

#: Keywords that one file must hold.
MIN_KEYWORDS = 2
#: Occurrences and confidence from which a pattern is active.
MIN_OCCURRENCES, MIN_CONFIDENCE = 3, Decimal("0.7")
#: Where a pattern starts, and where one starts that an expression found.
DEFAULT_CONFIDENCE, REGEX_CONFIDENCE = Decimal("0.7"), Decimal("0.8")
VERIFIED = Decimal("0.1")
MIN_SIMILARITY, SUGGESTED = 0.2, 3


@dataclass(frozen=True)
class Sought:
    """What a pattern is found by."""

    id: int
    keywords: Sequence[str]
    regex: str = ""
    fingerprint: str = ""


@dataclass(frozen=True)
class Hit:
    """A pattern in a file; `by_regex` when its expression found it."""

    id: int
    path: str
    by_regex: bool


def find_hits(files: Iterable[AddedFile], sought: Sequence[Sought]) -> list[Hit]:
    """Every pattern of which the added lines of one file show two keywords, the expression or the structure."""
    folded = [(item, tuple(_fold(word) for word in item.keywords)) for item in sought]
    looks_for_structures = any(item.fingerprint for item in sought)
    hits: list[Hit] = []
    for file in files:
        text = file.text[:SEARCHED]
        plain = _fold(text)
        prints = fingerprints_of(file) if looks_for_structures else frozenset()
        for item, words in folded:
            by_regex = bool(item.regex) and is_found(item.regex, text)
            if by_regex or item.fingerprint in prints or _shows(plain, words):
                hits.append(Hit(item.id, file.path, by_regex))
    return hits


def status_after(status: str, occurrences: int, confidence: Decimal) -> str:
    """Where a pattern stands: three occurrences and 0.7 make it active, fewer occurrences pending; deprecated stays."""
    if status == "deprecated":
        return status
    if occurrences < MIN_OCCURRENCES:
        return "pending"
    return "active" if confidence >= MIN_CONFIDENCE else status


@dataclass(frozen=True)
class Candidate:
    """A pattern that a description is compared with."""

    number: int
    text: str
    is_active: bool


def suggested(description: str, candidates: Iterable[Candidate]) -> list[tuple[int, float]]:
    """(number, similarity) of those that are similar enough: active first, then the most similar, then the oldest."""
    wanted = tokens(description)
    scored = [(item, similarity(wanted, tokens(item.text))) for item in candidates]
    near = [(item, score) for item, score in scored if score >= MIN_SIMILARITY]
    near.sort(key=lambda pair: (not pair[0].is_active, -pair[1], pair[0].number))
    return [(item.number, score) for item, score in near]


def _fold(text: str) -> str:
    return nfkc(text).casefold()


def _shows(text: str, words: Sequence[str]) -> bool:
    return len(words) >= MIN_KEYWORDS and sum(word in text for word in words) >= MIN_KEYWORDS

"""Which lessons matter for a task: two numbers for each, both explained. Pure.

`score` orders the answer, `relevance` in [0, 1] says how far to trust a hit. The formulas take counts and
statistics only, so that any index can feed them. docs/rules.md: recall score, recall relevance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError
from evolution.lessons.rules.paths import basename, directories, normalise_paths
from evolution.lessons.rules.words import MAX_TEXT, first_line, keywords, paths_tokens, query_words, tag_keys


@dataclass(frozen=True)
class Weights:
    """The constants of both formulas; docs/rules.md says what each was measured with."""

    text: float = 1.5
    title: float = 1.0
    path: float = 0.5
    files: float = 15.0
    file_words: float = 1.0
    tags: float = 3.0
    recency: float = 0.3
    half_life_days: float = 365.0
    tags_share: float = 0.5
    keywords_share: float = 0.3
    files_share: float = 0.2
    least_words: int = 4
    most_words: int = 7
    listed: float = 0.8
    same_name: float = 0.5


@dataclass(frozen=True)
class Bm25:
    """`k1` and `b` of BM25; docs/rules.md: recall score."""

    k1: float
    b: float

    def weight(self, times: int, length: int, mean_length: float) -> float:
        """The share of the idf that `times` occurrences in a text of `length` words give."""
        relative = length / mean_length if mean_length else 1.0
        return times * (self.k1 + 1) / (times + self.k1 * (1 - self.b + self.b * relative))


TEXT = Bm25(0.9, 0.4)
PATH = Bm25(1.2, 0.3)
WEIGHTS = Weights()

#: The fields of the index, and by which BM25 their words count; the others are sets.
BM25_BY_FIELD = {"text": TEXT, "title": TEXT, "path": PATH, "file_words": TEXT}


def idf(count: int, document_frequency: int) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)): how rare a token is among N lessons of which n have it."""
    return math.log(1 + (count - document_frequency + 0.5) / (document_frequency + 0.5))


@dataclass(frozen=True)
class RecallQuery:
    """A cleaned request: the words of each signal, in order, unique. An empty list is an absent signal."""

    words: list[str] = field(default_factory=list)
    title_words: list[str] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    path_tokens: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)


def recall_query(task: str, tags: Sequence[str] = (), files: Sequence[str] = ()) -> RecallQuery:
    """The query of a request. Raises RECALL_INPUT_EMPTY when nothing is left after cleaning.

    docs/rules.md: recall input.
    """
    task = task[:MAX_TEXT]
    paths = normalise_paths(files)
    query = RecallQuery(
        words=query_words(task),
        title_words=query_words(first_line(task)),
        keywords=keywords(task),
        path_tokens=paths_tokens(paths),
        files=paths,
        tags=tag_keys(tags),
    )
    if not (query.words or query.keywords or query.files or query.tags):
        message = _("Nothing to recall by: give a task, tags or files.")
        raise ApplicationError("RECALL_INPUT_EMPTY", message)
    return query


@dataclass(frozen=True)
class Signals:
    """The raw signals of one lesson for one query, each 0 without input."""

    text: float = 0.0
    title: float = 0.0
    path: float = 0.0
    files: float = 0.0
    file_words: float = 0.0
    tags: float = 0.0


@dataclass(frozen=True)
class Score:
    """`total` = sum of `parts` x `recency`."""

    total: float
    parts: dict[str, float]
    recency: float


def score(signals: Signals, age_days: int, weights: Weights = WEIGHTS) -> Score:
    """The number by which hits are ordered. docs/rules.md: recall score."""
    parts = {
        "text": weights.text * signals.text,
        "title": weights.title * signals.title,
        "path": weights.path * signals.path,
        "files": weights.files * signals.files,
        "file_words": weights.file_words * signals.file_words,
        "tags": weights.tags * signals.tags,
    }
    fresh = recency(age_days, weights)
    return Score(sum(parts.values()) * fresh, parts, fresh)


def recency(age_days: int, weights: Weights = WEIGHTS) -> float:
    """1 + 0.3 x 2^(-age / 365 days); a lesson from the future counts as new. docs/rules.md: recall score."""
    return 1.0 + weights.recency * math.pow(2.0, -max(age_days, 0) / weights.half_life_days)


def age_in_days(day: date, today: date) -> int:
    """Whole days since the lesson's date."""
    return (today - day).days


def weighted_share(
    wanted: Sequence[str], has: frozenset[str] | set[str], rarity: Mapping[str, float]
) -> float:
    """The share of the wanted things that are there, each counted by how rare it is; 0 without any."""
    whole = sum(rarity[item] for item in wanted)
    return sum(rarity[item] for item in wanted if item in has) / whole if whole else 0.0


def listed_files(files: Sequence[str], related: frozenset[str] | set[str]) -> set[str]:
    """The files of a task that a lesson lists, itself or by a directory above."""
    return {path for path in files if path in related or any(above in related for above in directories(path))}


@dataclass(frozen=True)
class Relevance:
    """How far to trust a hit, with its dimensions: score and weight of each that was supplied."""

    value: float
    scores: dict[str, float]
    weights: dict[str, float]

    @property
    def matched_on(self) -> list[str]:
        return [name for name, value in self.scores.items() if value > 0]


def relevance(
    query: RecallQuery,
    tags: frozenset[str],
    words: frozenset[str],
    files: Sequence[str],
    rarity: Mapping[str, float],
    weights: Weights = WEIGHTS,
) -> Relevance:
    """The weighted mean of the supplied dimensions. docs/rules.md: recall relevance.

    `tags` (keys), `words` (keywords) and `files` (normalised) are the lesson's; `rarity` is the idf of each
    keyword of the query among the company's lessons.
    """
    share = keyword_share(query.keywords, words, rarity, weights) if query.keywords else 0.0
    return weighed(query, tags, share, files, weights)


def weighed(
    query: RecallQuery,
    tags: frozenset[str],
    keywords_score: float,
    files: Sequence[str],
    weights: Weights = WEIGHTS,
) -> Relevance:
    """`relevance` where the score of the keywords is known already (see `keyword_score`)."""
    scores: dict[str, float] = {}
    shares: dict[str, float] = {}
    if query.tags:
        scores["tags"] = jaccard(query.tags, tags)
        shares["tags"] = weights.tags_share
    if query.keywords:
        scores["keywords"] = keywords_score
        shares["keywords"] = weights.keywords_share
    if query.files:
        scores["files"] = file_match(query.files, files, weights)
        shares["files"] = weights.files_share
    whole = sum(shares.values())
    value = sum(shares[name] * scores[name] for name in shares) / whole if whole else 0.0
    return Relevance(round(value, 3), scores, shares)


def jaccard(one: Sequence[str], other: frozenset[str] | set[str]) -> float:
    """|A∩B| / |A∪B|; 0 when both are empty."""
    wanted = set(one)
    union = wanted | other
    return len(wanted & other) / len(union) if union else 0.0


def keyword_share(
    wanted: Sequence[str],
    has: frozenset[str] | set[str],
    rarity: Mapping[str, float],
    weights: Weights = WEIGHTS,
) -> float:
    """min(1, sum of idf(matched) / (mean idf x needed)): a short query needs half its words or four, a long
    one seven. docs/rules.md: recall relevance.
    """
    whole = sum(rarity[token] for token in wanted)
    share = sum(rarity[token] for token in wanted if token in has) / whole if whole else 0.0
    return keyword_score(share, len(wanted), weights)


def keyword_score(share: float, count: int, weights: Weights = WEIGHTS) -> float:
    """`keyword_share` of a query of `count` words of which a lesson has this idf-weighted share."""
    needed = min(count, max(weights.least_words, math.ceil(count / 2)), weights.most_words)
    return min(1.0, share * count / needed) if needed else 0.0


def file_match(wanted: Sequence[str], related: Sequence[str], weights: Weights = WEIGHTS) -> float:
    """(best + mean) / 2 of the matches of the task's files. docs/rules.md: recall relevance."""
    if not wanted or not related:
        return 0.0
    listed = set(related)
    names = {basename(path) for path in related if not path.endswith("/")}
    matches = [_match(path, listed, names, weights) for path in wanted]
    return (max(matches) + sum(matches) / len(matches)) / 2


def _match(path: str, listed: set[str], names: set[str], weights: Weights) -> float:
    if path in listed:
        return 1.0
    if "/" not in path and path in names:  # a bare name was all that the caller knew
        return 1.0
    if any(above in listed for above in directories(path)):
        return weights.listed
    return weights.same_name if basename(path) in names else 0.0

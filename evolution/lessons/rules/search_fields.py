"""A lesson in the recall index, and a recall as a question to it. Pure. docs/rules.md: recall words, recall score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from common.search.rules.query import Attributes, Bm25, Query, Recency, Share
from evolution.lessons.rules.kinds import Status, severity_rank
from evolution.lessons.rules.paths import basename, directories, normalise_paths
from evolution.lessons.rules.recall import BM25_BY_FIELD, WEIGHTS, RecallQuery, Weights
from evolution.lessons.rules.words import index_words, keywords, path_words, paths_tokens, tag_keys

#: The kind of lessons in the index.
KIND = "lesson"
#: State of the indexed ones; drafts and rejected ones are not in the index.
STATES = {Status.ACTIVE.value: 0, Status.SUPERSEDED.value: 1, Status.ARCHIVED.value: 2}
#: Only measured by the index, for relevance: too light to change an order, which compares nine decimals.
MEASURED = 1e-12


def index_fields(
    *, title: str, takeaway: str, what: str, tags: Sequence[str], files: Sequence[str]
) -> dict[str, list[str]]:
    """Field of the index -> tokens. docs/rules.md: recall words."""
    paths = normalise_paths(files)
    text = f"{title}\n{takeaway}\n{what}"
    return {
        "text": index_words(text),
        "title": index_words(title),
        "path": paths_tokens(paths),
        "file_words": [word for path in paths for word in path_words(path)],
        "tag": tag_keys(tags),
        "keyword": keywords("\n".join([text, *tags])),
    }


def index_attributes(
    *, status: str, day: date, expires: date | None, agent_id: int | None, severity: str, number: int
) -> Attributes:
    """What filters and orders it; only an active lesson can be too old."""
    return Attributes(
        day=day,
        expires=expires if status == Status.ACTIVE else None,
        agent_id=agent_id,
        state=STATES[status],
        rank=severity_rank(severity),
        sequence=number,
    )


def search_query(query: RecallQuery, today: date, weights: Weights = WEIGHTS) -> Query:
    """The signals of a recall; for relevance `measured`, the share of its keywords, and `names`, that of the names
    of its files. docs/rules.md: recall score.
    """
    bm25: Mapping[str, tuple[Sequence[str], float]] = {
        "text": (query.words, weights.text),
        "title": (query.title_words, weights.title),
        "path": (query.path_tokens, weights.path),
        "file_words": (query.words, weights.file_words),
    }
    signals: dict[str, Bm25 | Share] = {
        name: Bm25(name, tokens, k1=BM25_BY_FIELD[name].k1, b=BM25_BY_FIELD[name].b, weight=weight)
        for name, (tokens, weight) in bm25.items()
    }
    signals["files"] = Share("path", [_listed(path) for path in query.files], weight=weights.files)
    signals["tags"] = Share("tag", query.tags, weight=weights.tags)
    signals["measured"] = Share("keyword", query.keywords, weight=MEASURED)
    signals["names"] = Share("path", [f"@{basename(path)}" for path in query.files], weight=0.0)
    return Query(signals, recency=Recency(today, weights.recency, weights.half_life_days))


def _listed(path: str) -> list[str]:
    """The path tokens of a lesson that lists this file, itself or by a directory above it."""
    return [f"={listed}" for listed in (path, *directories(path))]

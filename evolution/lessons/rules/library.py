"""A small index in memory over plain dicts: the reference by which faster ones are checked. Pure.

It is written to be read: one dictionary of postings a field, the formulas from `recall`. A store for a hundred
thousand lessons keeps the same statistics in flat arrays and must give the same numbers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from evolution.lessons.rules.paths import directories, normalise_paths
from evolution.lessons.rules.recall import (
    BM25_BY_FIELD,
    WEIGHTS,
    RecallQuery,
    Relevance,
    Score,
    Signals,
    Weights,
    age_in_days,
    idf,
    recency,
    relevance,
    score,
)
from evolution.lessons.rules.words import index_words, keywords, path_words, paths_tokens, tag_keys


@dataclass(frozen=True)
class Entry:
    """What a lesson is found by. `counts`: field -> word -> how often; the sets serve shares and relevance."""

    date: date
    counts: Mapping[str, Mapping[str, int]]
    lengths: Mapping[str, int]
    files: tuple[str, ...] = ()
    tags: frozenset[str] = frozenset()
    keywords: frozenset[str] = frozenset()


def entry_of(title: str, text: str, files: Sequence[str], tags: Sequence[str], day: date) -> Entry:
    """The entry of a lesson; `text` is its takeaway and what happened. docs/rules.md: recall words."""
    paths = normalise_paths(files)
    counts = {
        "text": Counter(index_words(f"{title}\n{text}")),
        "title": Counter(index_words(title)),
        "path": Counter(dict.fromkeys(paths_tokens(paths), 1)),
        "file_words": Counter(word for path in paths for word in path_words(path)),
    }
    return Entry(
        date=day,
        counts=counts,
        lengths={name: sum(words.values()) for name, words in counts.items()},
        files=tuple(paths),
        tags=frozenset(tag_keys(tags)),
        keywords=frozenset(keywords("\n".join([title, text, *tags]))),
    )


@dataclass(frozen=True)
class Found:
    """One lesson of an answer."""

    key: int
    score: Score
    signals: Signals
    relevance: Relevance


@dataclass
class Library:
    """Lessons of one company by key."""

    entries: dict[int, Entry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._postings: dict[str, dict[str, dict[int, int]]] = {
            name: defaultdict(dict) for name in (*BM25_BY_FIELD, "file", "tag", "keyword")
        }
        self._lengths: Counter[str] = Counter()
        given, self.entries = self.entries, {}
        for key, entry in given.items():
            self.add(key, entry)

    def add(self, key: int, entry: Entry) -> None:
        """Adds or replaces a lesson."""
        self.remove(key)
        self.entries[key] = entry
        for name, token, times in _tokens_of(entry):
            self._postings[name][token][key] = times
        self._lengths.update(entry.lengths)

    def remove(self, key: int) -> None:
        """Takes a lesson out; nothing happens when it is not there."""
        entry = self.entries.pop(key, None)
        if entry is None:
            return
        for name, token, _times in _tokens_of(entry):
            del self._postings[name][token][key]
        self._lengths.subtract(entry.lengths)

    def search(
        self,
        query: RecallQuery,
        today: date,
        top_k: int = 5,
        min_relevance: float = 0.0,
        weights: Weights = WEIGHTS,
    ) -> list[Found]:
        """The best lessons with a score above 0, by score, then key. docs/rules.md: recall score."""
        signals = {
            "text": self._bm25("text", query.words),
            "title": self._bm25("title", query.title_words),
            "path": self._bm25("path", query.path_tokens),
            "file_words": self._bm25("file_words", query.words),
            "files": self._file_shares(query.files),
            "tags": self._shares("tag", query.tags),
        }
        rarity = {token: self._idf("keyword", token) for token in query.keywords}
        found: list[Found] = []
        for key in self._ranked(signals, today, weights):
            entry = self.entries[key]
            trust = relevance(query, entry.tags, entry.keywords, entry.files, rarity, weights)
            if trust.value >= min_relevance:
                own = Signals(**{name: values.get(key, 0.0) for name, values in signals.items()})
                result = score(own, age_in_days(entry.date, today), weights)
                found.append(Found(key, result, own, trust))
            if len(found) == top_k:
                break
        return found

    def _ranked(self, signals: Mapping[str, Mapping[int, float]], today: date, weights: Weights) -> list[int]:
        """All keys with a score, the highest first. Only those shown get a `Score` of their own."""
        totals: dict[int, float] = defaultdict(float)
        for name, values in signals.items():
            weight = getattr(weights, name)
            for key, value in values.items():
                totals[key] += weight * value
        for key in totals:
            totals[key] *= recency(age_in_days(self.entries[key].date, today), weights)
        return sorted(totals, key=lambda key: (-totals[key], key))

    def _idf(self, name: str, token: str) -> float:
        return idf(len(self.entries), len(self._postings[name].get(token, ())))

    def _bm25(self, name: str, wanted: Sequence[str]) -> dict[int, float]:
        weigh = BM25_BY_FIELD[name].weight
        mean = self._lengths[name] / len(self.entries) if self.entries else 0.0
        totals: dict[int, float] = defaultdict(float)
        for token in wanted:
            rarity = self._idf(name, token)
            for key, times in self._postings[name].get(token, {}).items():
                totals[key] += rarity * weigh(times, self.entries[key].lengths[name], mean)
        return totals

    def _shares(self, name: str, wanted: Sequence[str]) -> dict[int, float]:
        rarity = {token: self._idf(name, token) for token in wanted}
        whole = sum(rarity.values())
        totals: dict[int, float] = defaultdict(float)
        for token in wanted:
            for key in self._postings[name].get(token, ()):
                totals[key] += rarity[token] / whole
        return totals

    def _file_shares(self, files: Sequence[str]) -> dict[int, float]:
        """As `_shares`, where a listed directory stands for all below it."""
        holders = {
            path: {key for name in (path, *directories(path)) for key in self._postings["file"].get(name, ())}
            for path in files
        }
        rarity = {path: idf(len(self.entries), len(keys)) for path, keys in holders.items()}
        whole = sum(rarity.values())
        totals: dict[int, float] = defaultdict(float)
        for path, keys in holders.items():
            for key in keys:
                totals[key] += rarity[path] / whole
        return totals


def _tokens_of(entry: Entry) -> list[tuple[str, str, int]]:
    listed = [(name, token, times) for name, words in entry.counts.items() for token, times in words.items()]
    sets = {"file": entry.files, "tag": entry.tags, "keyword": entry.keywords}
    return listed + [(name, token, 1) for name, members in sets.items() for token in members]

"""Flat arrays of up to 65,536 documents: which token is in which document, and how often. Pure.

A token of a field is a 48-bit number: Python's keyed hash of the token, mixed with that of the field. Numbers
hold in one process only. Among 500,000 different tokens two share a number with a chance of 1 in 2,000.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common.search.rules.query import split

#: Documents of a segment at most: their numbers have 16 bits.
ROWS = 65_536
#: Rows turned into arrays at once.
CHUNK = 8192
#: A segment with fewer living documents is written anew.
LEAST_LIVING = 0.7
NEVER = 2**31 - 1
ALL_AGENTS = -1
_DOC_BITS = np.uint64(16)
_DOC_MASK = np.uint64(0xFFFF)
_MOST_TIMES = 0xFFFF
#: Attributes of the documents: name -> type.
COLUMNS = {
    "object_ids": np.int64,
    "states": np.int16,
    "days": np.int32,
    "expires": np.int32,
    "agents": np.int64,
    "ranks": np.int16,
    "sequences": np.int64,
}


@dataclass(frozen=True)
class Row:
    """One stored document: field -> stored text, and its attributes (days as ordinals)."""

    object_id: int
    fields: Mapping[str, str]
    state: int = 0
    day: int = 1
    expires: int | None = None
    agent_id: int | None = None
    rank: int = 0
    sequence: int = 0


@dataclass(frozen=True)
class Segment:
    """Documents in the order of their object ids; never changed, only replaced by another segment.

    `columns` and `lengths` (tokens by field) have one number a document. `tokens` (sorted), `starts` (one more)
    and `docs` are the postings: token i is in the documents `docs[starts[i]:starts[i + 1]]`, in order.
    `repeated` are the positions in `docs` with more than one occurrence, `times` how many. `counted`: all
    documents have state 0; otherwise none has.
    """

    counted: bool
    columns: Mapping[str, NDArray[Any]]
    lengths: Mapping[str, NDArray[np.uint32]]
    alive: NDArray[np.bool_]
    tokens: NDArray[np.uint64]
    starts: NDArray[np.uint32]
    docs: NDArray[np.uint16]
    repeated: NDArray[np.uint32]
    times: NDArray[np.uint16]
    #: What queries derive from it and want again; bounded by those who write it.
    memo: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def size(self) -> int:
        """Documents, dead ones included."""
        return len(self.alive)

    @property
    def living(self) -> int:
        """Documents that are not dead."""
        return int(np.count_nonzero(self.alive))

    @property
    def nbytes(self) -> int:
        """Bytes of its own arrays."""
        arrays: list[NDArray[Any]] = [self.tokens, self.starts, self.docs, self.repeated, self.times]
        arrays += [self.alive, *self.columns.values(), *self.lengths.values()]
        return sum(array.nbytes for array in arrays)

    def without(self, object_ids: NDArray[np.int64]) -> Segment:
        """The segment with these documents dead; itself when it has none of them."""
        found = np.isin(self.columns["object_ids"], object_ids, assume_unique=True) & self.alive
        return replace(self, alive=self.alive & ~found, memo={}) if found.any() else self


def numbers(tokens: Sequence[tuple[str, str]]) -> NDArray[np.uint64]:
    """The numbers of (field, token) pairs."""
    salts = {name: _salt(name) for name in {name for name, _token in tokens}}
    mixed = np.array([hash(token) ^ salts[name] for name, token in tokens], dtype=np.int64)
    return (mixed.view(np.uint64) << _DOC_BITS) >> _DOC_BITS


def _salt(name: str) -> int:
    # No token holds a NUL, so no token has the number 0 because it is called like its field.
    return hash(f"\0{name}")


def build(rows: Sequence[Row]) -> list[Segment]:
    """Segments of the rows: those of state 0, then the others; none is empty."""
    kinds = ([row for row in rows if not row.state], [row for row in rows if row.state])
    return [
        merge([_chunk(part[start : start + CHUNK]) for start in range(0, len(part), CHUNK)])
        for part in kinds
        if part
    ]


def _chunk(rows: Sequence[Row]) -> Segment:
    rows = sorted(rows, key=lambda row: row.object_id)
    names = list(dict.fromkeys(name for row in rows for name in row.fields))
    keys, lengths = [], {}
    order = np.arange(len(rows), dtype=np.uint64)
    for name in names:
        hashes: list[int] = []
        counts: list[int] = []
        for row in rows:
            tokens = split(row.fields.get(name, ""))
            hashes += map(hash, tokens)
            counts.append(len(tokens))
        lengths[name] = np.array(counts, dtype=np.uint32)
        numbers = np.array(hashes, dtype=np.int64) ^ np.int64(_salt(name))
        keys.append((numbers.view(np.uint64) << _DOC_BITS) | np.repeat(order, counts))
    columns = _columns(rows)
    alive = np.ones(len(rows), dtype=np.bool_)
    return _segment(not rows[0].state, columns, lengths, alive, keys)


def _columns(rows: Sequence[Row]) -> dict[str, NDArray[Any]]:
    values = {
        "object_ids": [row.object_id for row in rows],
        "states": [row.state for row in rows],
        "days": [row.day for row in rows],
        "expires": [NEVER if row.expires is None else row.expires for row in rows],
        "agents": [ALL_AGENTS if row.agent_id is None else row.agent_id for row in rows],
        "ranks": [row.rank for row in rows],
        "sequences": [row.sequence for row in rows],
    }
    return {name: np.array(values[name], dtype=kind) for name, kind in COLUMNS.items()}


def _segment(
    counted: bool,
    columns: Mapping[str, NDArray[Any]],
    lengths: Mapping[str, NDArray[np.uint32]],
    alive: NDArray[np.bool_],
    keys: Sequence[NDArray[np.uint64]],
) -> Segment:
    """From keys (token number and document, once for each occurrence) in any order."""
    occurrences = np.concatenate([*keys, np.empty(0, np.uint64)])
    occurrences.sort()
    ends = np.flatnonzero(np.append(occurrences[1:] != occurrences[:-1], True)[: len(occurrences)])
    times = np.diff(ends, prepend=-1)
    postings = occurrences[ends]
    numbers = postings >> _DOC_BITS
    starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1])[: len(numbers)])
    repeated = np.flatnonzero(times > 1)
    return Segment(
        counted=counted,
        columns=columns,
        lengths=lengths,
        alive=alive,
        tokens=numbers[starts],
        starts=np.append(starts, len(numbers)).astype(np.uint32),
        docs=(postings & _DOC_MASK).astype(np.uint16),
        repeated=repeated.astype(np.uint32),
        times=np.minimum(times[repeated], _MOST_TIMES).astype(np.uint16),
    )


def merge(parts: Sequence[Segment]) -> Segment:
    """One segment of all living documents of parts with the same `counted`, at most 65,536 together."""
    if len(parts) == 1 and parts[0].alive.all():
        return parts[0]
    ids = np.concatenate([part.columns["object_ids"][part.alive] for part in parts])
    order = np.argsort(ids, kind="stable")
    places = np.empty(len(ids), dtype=np.uint64)
    places[order] = np.arange(len(ids), dtype=np.uint64)
    keys, begin = [], 0
    for part in parts:
        end = begin + part.living
        keys.append(_keys(part, places[begin:end]))
        begin = end
    columns = {
        name: np.concatenate([part.columns[name][part.alive] for part in parts])[order] for name in COLUMNS
    }
    lengths = {
        name: np.concatenate([_lengths(part, name)[part.alive] for part in parts])[order]
        for name in dict.fromkeys(name for part in parts for name in part.lengths)
    }
    return _segment(parts[0].counted, columns, lengths, np.ones(len(ids), dtype=np.bool_), keys)


def _lengths(part: Segment, name: str) -> NDArray[np.uint32]:
    found = part.lengths.get(name)
    return np.zeros(part.size, dtype=np.uint32) if found is None else found


def _keys(part: Segment, places: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The occurrences of the living documents, which are now numbered `places`."""
    new = np.zeros(part.size, dtype=np.uint64)
    new[part.alive] = places
    keys = np.repeat(part.tokens << _DOC_BITS, np.diff(part.starts)) | new[part.docs]
    times = np.ones(len(keys), dtype=np.intp)
    times[part.repeated] = part.times
    if not part.alive.all():
        times[~part.alive[part.docs]] = 0
    return np.repeat(keys, times)


def appended(segments: Sequence[Segment], new: Iterable[Segment]) -> list[Segment]:
    """The segments with new ones behind them; small and half-dead ones are merged, so that few remain."""
    parts = [part for part in (*segments, *new) if part.living]
    return [
        one
        for counted in (True, False)
        for one in _compacted([part for part in parts if part.counted is counted])
    ]


def _compacted(parts: list[Segment]) -> list[Segment]:
    kept: list[Segment] = []
    for part in sorted(parts, key=lambda part: -part.living):
        kept.append(merge([part]) if part.living < LEAST_LIVING * part.size else part)
    while len(kept) > 1:
        last = _worth_merging(kept)
        if not last:
            break
        kept[-last:] = [merge(kept[-last:])]
        kept.sort(key=lambda part: -part.living)
    return kept


def _worth_merging(parts: list[Segment]) -> int:
    """How many of the smallest parts to merge: a row is merged again only when its segment has grown a good deal
    (or is tiny), so that the work for n rows stays in the order of n log n.
    """
    together = count = 0
    for part in reversed(parts):
        if together + part.living > ROWS or (count and max(together * 16, 256) < part.living):
            break
        together += part.living
        count += 1
    return count if count > 1 else 0

"""What each document in scope has of each signal, for rooms whose score is no sum of signals. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from common.search.rules.matching import Floats, Integers, Matches
from common.search.rules.scoring import Plan, Scores


@dataclass(frozen=True)
class Measured:
    """All documents in scope in no particular order, one value a document: its id, its rank, and by the name of a
    signal what it has of it (without weight and recency).
    """

    object_ids: Integers
    ranks: Integers
    signals: Mapping[str, Floats]


def measured(plan: Plan, matches: Sequence[Matches]) -> Measured:
    """Measure all segments."""
    parts = [_segment(plan, match) for match in matches]
    names = [name for name, *_rest in plan.signals]
    return Measured(
        np.concatenate([np.empty(0, np.int64), *(part.object_ids for part in parts)]),
        np.concatenate([np.empty(0, np.int64), *(part.ranks for part in parts)]),
        {name: np.concatenate([np.empty(0), *(part.signals[name] for part in parts)]) for name in names},
    )


def _segment(plan: Plan, match: Matches) -> Measured:
    scores, segment = Scores(plan, match), match.segment
    inside = np.flatnonzero(scores.inside)
    signals = {}
    for name, signal, first, last in plan.signals:
        begin, end = int(match.offsets[first]), int(match.offsets[last])
        sums = np.bincount(match.docs[begin:end], scores.weights[begin:end], minlength=segment.size)
        signals[name] = sums[inside] / (signal.weight or 1.0)
    columns = segment.columns
    return Measured(columns["object_ids"][inside], columns["ranks"][inside].astype(np.int64), signals)

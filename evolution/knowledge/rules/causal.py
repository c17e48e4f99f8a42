"""What using an item really brought, as one number. Pure and exact; docs/rules.md: causal score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

SUCCESS, FAILURE, PARTIAL = "success", "failure", "partial"
_SUCCESS_WEIGHT, _TIME_WEIGHT, _BUGS_WEIGHT = Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)
#: Where time saved and bugs brought in count in full.
_FULL_MINUTES, _FULL_BUGS = 60, 3
#: How many outcomes of one principal count for one item.
MAX_PER_PRINCIPAL = 20
#: A score below the first, or a rate of successes up to the second, makes a warning of the item.
WARN_BELOW, WARN_UP_TO = Fraction(-1, 20), Fraction(1, 5)


@dataclass(frozen=True)
class Sample:
    """One outcome: `principal` is who reported it, `task` the key of its task's name (empty: none was told)."""

    result: str
    minutes: int | None
    bugs: int
    principal: str
    task: str


@dataclass(frozen=True)
class Causal:
    """What the outcomes that count say: how many they are, the score, the rate of successes (both exact)."""

    samples: int
    score: Fraction
    success_rate: Fraction

    def known(self, min_samples: int) -> Decimal | None:
        """The score with three places; None below `min_samples`."""
        return three_places(self.score) if self.samples >= min_samples else None

    def misleads(self, min_samples: int) -> bool:
        """Whether this many outcomes make a warning of the item. docs/rules.md: warnings from outcomes."""
        is_bad = self.score < WARN_BELOW or self.success_rate <= WARN_UP_TO
        return self.samples >= min_samples and is_bad


def counted(samples: Iterable[Sample]) -> list[Sample]:
    """Those that count, from all of one item, the newest first.

    Of one principal the newest for each named task, and at most 20. docs/rules.md: outcomes that count.
    """
    taken: Counter[str] = Counter()
    seen: set[tuple[str, str]] = set()
    result = []
    for sample in samples:
        told = (sample.principal, sample.task)
        if taken[sample.principal] >= MAX_PER_PRINCIPAL or (sample.task and told in seen):
            continue
        seen.add(told)
        taken[sample.principal] += 1
        result.append(sample)
    return result


def causal_of(samples: Iterable[Sample]) -> Causal | None:
    """What the outcomes of one item (all of them, the newest first) say; None without any."""
    rows = counted(samples)
    if not rows:
        return None
    success_rate = _mean([int(row.result == SUCCESS) for row in rows])
    minutes = _mean([row.minutes for row in rows if row.minutes is not None])
    bugs = _mean([row.bugs for row in rows])
    score = (
        success_rate * _SUCCESS_WEIGHT
        + _share(minutes, _FULL_MINUTES) * _TIME_WEIGHT
        - _share(bugs, _FULL_BUGS) * _BUGS_WEIGHT
    )
    return Causal(len(rows), score, success_rate)


def three_places(value: Fraction) -> Decimal:
    """Rounded to three places, halves away from zero, without a detour that rounds twice."""
    thousandths = (abs(value) * 2000 + 1) // 2
    return Decimal(thousandths if value >= 0 else -thousandths).scaleb(-3)


def _mean(values: Sequence[int]) -> Fraction:
    return Fraction(sum(values), len(values)) if values else Fraction(0)


def _share(value: Fraction, full: int) -> Fraction:
    return min(Fraction(1), max(Fraction(0), value / full))

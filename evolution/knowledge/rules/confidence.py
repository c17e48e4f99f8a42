"""Confidence that follows use, results and time. Pure, in exact decimals; docs/rules.md: confidence.

Every number is computed, clamped and rounded to three places, then compared; "below" is strict.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from evolution.parameters.rules.specs import Parameters

ZERO, ONE = Decimal(0), Decimal(1)
_PLACES = Decimal("0.001")
#: What an event is worth. docs/rules.md: confidence events.
DELTAS = {
    "verified": Decimal("0.1"),
    "referenced": Decimal("0.05"),
    "applied": Decimal("0.05"),
    "misleading": Decimal("-0.2"),
}
STEP = timedelta(days=30)
#: Causal scores above the first decay slowly, below the second fast.
SLOW_ABOVE, FAST_BELOW = Decimal("0.6"), Decimal("0.2")
#: Up to here one principal alone may raise an item, however low a person vouched for it…
LONE_CEILING = Decimal("0.7")
#: …and by this much in any case. docs/rules.md: what one runtime can raise.
LONE_RISE = Decimal("0.1")


def rounded(value: Decimal) -> Decimal:
    """To three places, halves away from zero."""
    return value.quantize(_PLACES, rounding=ROUND_HALF_UP)


def clamped(value: Decimal) -> Decimal:
    """Within 0..1, three places."""
    return rounded(min(ONE, max(ZERO, value)))


def replayed(deltas: Iterable[Decimal]) -> Decimal:
    """The confidence that these events lead to, from 0, each clamped as it came."""
    value = ZERO
    for delta in deltas:
        value = clamped(value + delta)
    return rounded(value)


def allowed_rise(wanted: Decimal, vouched: Decimal, raised: Decimal) -> Decimal:
    """How much of a positive change counts that one runtime brings, when `raised` already came from it.

    `vouched` is the confidence when a person last stood for the item. A runtime that reports a thousand successes
    raises it no further than max(0.7, vouched + 0.1). docs/rules.md: what one runtime can raise.
    """
    room = max(LONE_RISE, LONE_CEILING - vouched) - raised
    return max(ZERO, min(wanted, room))


@dataclass(frozen=True)
class Decay:
    """Whole steps of 30 days without use, what they take together, and the day the last one ended."""

    steps: int
    delta: Decimal
    last_decay_at: datetime


def decay_step(score: Decimal | None, parameters: Parameters) -> Decimal:
    """What one step takes, by the causal score: above 0.6 little, below 0.2 much, else or unknown the usual."""
    if score is not None and score > SLOW_ABOVE:
        return parameters.slow_decay_rate
    if score is not None and score < FAST_BELOW:
        return parameters.fast_decay_rate
    return parameters.decay_rate


def decay_due(activities: Iterable[datetime | None], now: datetime, step: Decimal) -> Decay | None:
    """The decay since the latest activity (created, verified, referenced, applied, last decay), or None.

    Days are 24 hours, so a clock change takes nothing. docs/rules.md: decay.
    """
    last = max(moment for moment in activities if moment is not None)
    steps = (now - last) // STEP
    if steps < 1:
        return None
    return Decay(steps, step * steps, last + STEP * steps)


def is_deprecated(confidence: Decimal, parameters: Parameters) -> bool:
    """Below the threshold, strictly."""
    return confidence < parameters.deprecation_threshold

"""Which phrases of a message count, and what they are signs of."""

from __future__ import annotations

from dataclasses import dataclass

from evolution.memory.rules.folding import Folded, blotted, fold
from evolution.memory.rules.idioms import (
    GUARDED_BY_RE,
    LOOKALIKE_RE,
    SHAPES,
    around,
    is_asked,
    is_denied,
    is_prohibition,
)
from evolution.memory.rules.lexicon import Found, Kind, Lexicon

#: Between a guard and what it guards at most this much is read.
_GUARD_REACH = 20


@dataclass(frozen=True)
class Match:
    """A phrase that counts: its text as kept in the lexicon (folded), and where it stands in the message."""

    phrase: str
    language: str
    start: int
    end: int


@dataclass(frozen=True)
class Signs:
    """What a message shows. Positive and negative are never both true: negative wins."""

    teach: tuple[Match, ...] = ()
    forbid: tuple[Match, ...] = ()
    introspect: tuple[Match, ...] = ()
    positive: bool = False
    negative: bool = False


@dataclass(frozen=True)
class Reading:
    """A folded message with its phrases that count, by kind, in folded positions."""

    folded: Folded
    counted: dict[Kind, list[Found]]

    def of(self, *kinds: Kind) -> list[Found]:
        """Phrases of these kinds from left to right."""
        return sorted(
            (found for kind in kinds for found in self.counted[kind]), key=lambda found: found.start
        )


def signs(text: str, lexicon: Lexicon) -> Signs:
    """The signs of one message of a user. docs/rules.md: signs of a message."""
    reading = read(text, lexicon)
    negative = bool(reading.counted[Kind.NEGATIVE])
    return Signs(
        teach=_matches(reading, Kind.TEACH),
        forbid=_matches(reading, Kind.FORBID),
        introspect=_matches(reading, Kind.INTROSPECT),
        positive=bool(reading.counted[Kind.POSITIVE]) and not negative,
        negative=negative,
    )


def read(text: str, lexicon: Lexicon) -> Reading:
    """Fold a message and keep the phrases that count."""
    folded = fold(text)
    plain = LOOKALIKE_RE.sub(blotted, folded.said)
    guards = [found.end for found in lexicon.find(Kind.GUARD, plain)]
    counted = {
        kind: [found for found in lexicon.find(kind, plain) if _counts(found, plain, guards)] for kind in Kind
    }
    return Reading(folded, counted)


def _matches(reading: Reading, kind: Kind) -> tuple[Match, ...]:
    offsets = reading.folded.offsets
    return tuple(
        Match(found.phrase, found.language, offsets[found.start], offsets[found.end])
        for found in reading.counted[kind]
    )


def _counts(found: Found, plain: str, guards: list[int]) -> bool:
    head, tail = around(plain, found.start, found.end)
    shape = SHAPES.get(found.phrase)
    if shape is not None and not shape.fits(head, tail):
        return False
    if found.gap is not None and not is_prohibition(head, plain[slice(*found.gap)]):
        return False
    if found.kind not in (Kind.FORBID, Kind.GUARD) and _is_guarded(found.start, plain, guards):
        return False
    if is_denied(found.kind, head, tail):
        return False
    return found.kind not in (Kind.TEACH, Kind.FORBID) or not is_asked(head, tail)


def _is_guarded(start: int, plain: str, guards: list[int]) -> bool:
    between = (plain[end:start] for end in guards if start - _GUARD_REACH <= end <= start)
    return any(GUARDED_BY_RE.fullmatch(text) for text in between)

"""Does the loop close? Ratios over recalls, captures and decisions. Pure. docs/rules.md: lesson metrics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from common.text import name_key

RECURRENCE_WINDOW = timedelta(days=30)


@dataclass(frozen=True)
class Dated:
    """A lesson as far as recurrence looks at it; tags and normalised paths as stored."""

    number: int
    date: date
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def ratio(part: int, whole: int) -> float | None:
    """part / whole rounded to 4 decimals; None where there is nothing to divide by."""
    return round(part / whole, 4) if whole else None


def coverage(recalls_with_hit: int, recalls: int) -> float | None:
    """The share of recalls that found something."""
    return ratio(recalls_with_hit, recalls)


def confirmed_ratio(confirmed: int, rejected: int) -> float | None:
    """The share of judged drafts that a person found worth keeping."""
    return ratio(confirmed, confirmed + rejected)


def helped_ratio(helped: int, not_helped: int) -> float | None:
    """The share of judged recalls that helped."""
    return ratio(helped, helped + not_helped)


def recurrences(captured: Iterable[Dated], active: Iterable[Dated]) -> list[tuple[int, int]]:
    """(captured, older active) pairs: each capture that shares a tag and a file with an older active lesson,
    at most 30 days apart, with the newest such lesson. Their number is the recurrence.
    """
    by_file: dict[str, list[Dated]] = defaultdict(list)
    for lesson in active:
        for path in set(lesson.files):
            by_file[path].append(lesson)
    found: list[tuple[int, int]] = []
    for capture in captured:
        candidates = {old for path in set(capture.files) for old in by_file.get(path, ())}
        older = [old for old in candidates if _recurs(capture, old)]
        if older:
            newest = max(older, key=lambda old: (old.date, old.number))
            found.append((capture.number, newest.number))
    return found


def _recurs(capture: Dated, old: Dated) -> bool:
    return (
        old.number != capture.number
        and (old.date, old.number) < (capture.date, capture.number)
        and capture.date - old.date <= RECURRENCE_WINDOW
        and not {name_key(tag) for tag in capture.tags}.isdisjoint(name_key(tag) for tag in old.tags)
    )

"""How long a lesson stays in view. Pure; `today` is the local date. docs/rules.md: lesson expiry, lesson archive."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from evolution.lessons.rules.kinds import Category, Status

Day = date  # a field below is called date

#: Days from the date of the lesson; categories that are not named never expire.
LIFETIME_DAYS = {Category.PRACTICE: 180, Category.INCIDENT: 365}
PRACTICE_CAP = 200

#: Never archived, even with a date of expiry set by hand.
NEVER_ARCHIVED = frozenset({Category.RULE, Category.CALIBRATION})


@dataclass(frozen=True)
class Living:
    """What decides how long a lesson lives; `number` is its place in the company's numbering."""

    number: int
    category: str
    status: str
    date: Day
    expires_on: Day | None = None
    last_recalled_at: datetime | None = None


@dataclass
class ArchivePlan:
    """Numbers of lessons: to archive because they expired or because of the cap, and due but still cited."""

    expired: list[int] = field(default_factory=list)
    least_recalled: list[int] = field(default_factory=list)
    cited: list[int] = field(default_factory=list)


def expires_on(day: date, category: str) -> date | None:
    """The last day in view: exact days from `day`, None for rules, calibration and unknown categories.

    docs/rules.md: lesson expiry.
    """
    days = next((days for known, days in LIFETIME_DAYS.items() if known == category), None)
    if days is None:
        return None
    # The end of the calendar is as good as never.
    return day + timedelta(days=days) if day <= date.max - timedelta(days=days) else None


def expiry_after_change(day: date, category: str, current: date | None, *, is_manual: bool) -> date | None:
    """The expiry after date or category changed: computed anew unless it was set by hand."""
    return current if is_manual else expires_on(day, category)


def expiry_after_restore(today: date, category: str, current: date | None, *, is_manual: bool) -> date | None:
    """The expiry of a lesson taken out of the archive: an automatic one counts from today."""
    return current if is_manual else expires_on(today, category)


def is_expired(expiry: date | None, today: date) -> bool:
    """Whether the day of expiry is over; the day itself is still live."""
    return expiry is not None and expiry < today


def is_due(lesson: Living, today: date) -> bool:
    """Whether the lesson is to be archived because its time is over. docs/rules.md: lesson archive."""
    return (
        lesson.status == Status.ACTIVE
        and lesson.category not in NEVER_ARCHIVED
        and is_expired(lesson.expires_on, today)
    )


def archive_plan(
    lessons: Iterable[Living], today: date, cited: Collection[int] = (), cap: int = PRACTICE_CAP
) -> ArchivePlan:
    """What to archive of one company, both lists in the order of archiving.

    Cited lessons stay. Above `cap` active PRACT-EXP the least recently recalled go (never recalled first,
    then the older date, then the lower number). docs/rules.md: lesson archive.
    """
    plan = ArchivePlan()
    practice: list[Living] = []
    for lesson in sorted(lessons, key=lambda lesson: lesson.number):
        if is_due(lesson, today):
            (plan.cited if lesson.number in cited else plan.expired).append(lesson.number)
            if lesson.number not in cited:
                continue
        if lesson.status == Status.ACTIVE and lesson.category == Category.PRACTICE:
            practice.append(lesson)
    plan.least_recalled = _least_recalled(practice, cited, len(practice) - cap)
    return plan


def _least_recalled(practice: Sequence[Living], cited: Collection[int], too_many: int) -> list[int]:
    free = sorted((lesson for lesson in practice if lesson.number not in cited), key=_use)
    return [lesson.number for lesson in free[: max(too_many, 0)]]


def _use(lesson: Living) -> tuple[float, date, int]:
    recalled = lesson.last_recalled_at
    return (recalled.timestamp() if recalled else float("-inf"), lesson.date, lesson.number)

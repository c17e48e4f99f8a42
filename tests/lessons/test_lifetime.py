"""Old pitfalls leave the field of view, rules stay."""

import os
import time
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from evolution.lessons.rules.lifetime import (
    Living,
    archive_plan,
    expires_on,
    expiry_after_change,
    expiry_after_restore,
    is_expired,
)

TODAY = date(2026, 8, 1)


def living(
    number,
    expiry=date(2026, 7, 1),
    category="PRACT-EXP",
    status="active",
    day=date(2026, 1, 1),
    recalled=None,
):
    return Living(number, category, status, day, expiry, recalled)


@pytest.mark.parametrize(
    ("day", "category", "expected"),
    [
        (date(2026, 7, 23), "PRACT-EXP", date(2027, 1, 19)),
        (date(2026, 6, 12), "PRACT-EXP", date(2026, 12, 9)),
        (date(2023, 12, 31), "INCIDENT-EXP", date(2024, 12, 30)),
        (date(2026, 7, 23), "RULE-EXP", None),
        (date(2026, 7, 23), "CALIB-EXP", None),
        (date(2026, 7, 23), "HOUSE-EXP", None),
        (date.max, "PRACT-EXP", None),
    ],
)
def test_the_last_day_is_counted_in_days(day, category, expected):
    assert expires_on(day, category) == expected


@pytest.mark.parametrize(
    ("expiry", "expected"),
    [(date(2026, 7, 31), True), (TODAY, False), (date(2026, 8, 2), False), (None, False)],
)
def test_the_day_of_expiry_is_still_live(expiry, expected):
    assert is_expired(expiry, TODAY) is expected


def test_an_expiry_set_by_hand_stays():
    mine, other = date(2030, 1, 1), date(2026, 12, 28)
    assert expiry_after_change(date(2026, 7, 1), "PRACT-EXP", mine, is_manual=True) == mine
    assert expiry_after_change(date(2026, 7, 1), "PRACT-EXP", mine, is_manual=False) == other
    assert expiry_after_restore(TODAY, "PRACT-EXP", mine, is_manual=True) == mine
    assert expiry_after_restore(TODAY, "PRACT-EXP", mine, is_manual=False) == date(2027, 1, 28)


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles"])
def test_the_time_zone_of_the_process_changes_nothing(zone, monkeypatch):
    monkeypatch.setitem(os.environ, "TZ", zone)
    time.tzset()
    try:
        today = datetime(2026, 6, 30, 17, tzinfo=UTC).astimezone(ZoneInfo("Asia/Shanghai")).date()
        plan = archive_plan([living(1, expires_on(date(2026, 1, 1), "PRACT-EXP"))], today)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert plan.expired == [1]


def test_all_expired_lessons_are_planned_at_once():
    assert archive_plan((living(number) for number in range(1, 251)), TODAY).expired == list(range(1, 251))


@pytest.mark.parametrize(
    "lesson",
    [
        living(1, category="RULE-EXP"),
        living(1, category="CALIB-EXP"),
        living(1, status="archived"),
        living(1, status="draft"),
        living(1, expiry=TODAY),
        living(1, expiry=None),
    ],
)
def test_some_lessons_are_never_planned(lesson):
    plan = archive_plan([lesson], TODAY)
    assert (plan.expired, plan.cited, plan.least_recalled) == ([], [], [])


def test_a_cited_lesson_stays_and_is_told():
    plan = archive_plan([living(1), living(2)], TODAY, cited={2})
    assert (plan.expired, plan.cited) == ([1], [2])


def test_above_the_cap_the_least_recalled_go():
    late, early = datetime(2026, 7, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
    lessons = [
        living(1, None, recalled=late),
        living(2, None, recalled=early),
        living(3, None, day=date(2026, 3, 1)),
        living(4, None, day=date(2026, 2, 1)),
        living(5, None, day=date(2026, 2, 1)),
        living(6, None, category="INCIDENT-EXP"),
        living(7),
    ]
    plan = archive_plan(lessons, TODAY, cited={5}, cap=2)
    assert (plan.expired, plan.least_recalled) == ([7], [4, 3, 2])
    assert archive_plan(lessons, TODAY, cap=5).least_recalled == []

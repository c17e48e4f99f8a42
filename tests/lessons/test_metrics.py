"""Does the loop close?"""

from datetime import date, timedelta

import pytest

from evolution.lessons.rules.metrics import Dated, confirmed_ratio, coverage, helped_ratio, recurrences

DAY = date(2026, 8, 1)


@pytest.mark.parametrize("ratio", [coverage, confirmed_ratio, helped_ratio])
def test_there_is_no_ratio_of_nothing(ratio):
    assert ratio(0, 0) is None


def test_ratios_count_the_right_whole():
    assert coverage(1, 3) == 0.3333
    assert confirmed_ratio(3, 1) == helped_ratio(3, 1) == 0.75


@pytest.mark.parametrize(
    ("old", "recurs"),
    [
        (Dated(1, DAY - timedelta(days=30), ("Ｌock",), ("a.py",)), True),
        (Dated(1, DAY, ("lock",), ("a.py",)), True),
        (Dated(1, DAY - timedelta(days=31), ("lock",), ("a.py",)), False),
        (Dated(1, DAY + timedelta(days=1), ("lock",), ("a.py",)), False),
        (Dated(1, DAY, ("other",), ("a.py",)), False),
        (Dated(1, DAY, ("lock",), ("b.py",)), False),
        (Dated(2, DAY, ("lock",), ("a.py",)), False),
    ],
)
def test_a_capture_recurs_when_it_shares_tag_and_file_with_a_recent_lesson(old, recurs):
    capture = Dated(2, DAY, ("lock", "x"), ("a.py", "c.py"))
    assert recurrences([capture], [old]) == ([(2, 1)] if recurs else [])

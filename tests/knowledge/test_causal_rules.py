"""The causal score: what counts, what it is, when it warns."""

from decimal import Decimal
from fractions import Fraction

import pytest

from evolution.knowledge.rules.causal import (
    MAX_PER_PRINCIPAL,
    Causal,
    Sample,
    causal_of,
    counted,
    three_places,
)


def outcome(result="success", minutes=None, bugs=0, principal="key:1", task=""):
    return Sample(result, minutes, bugs, principal, task)


def told(count, **fields):
    """Outcomes of one principal, each for a task of its own."""
    return [outcome(task=f"task {number}", **fields) for number in range(count)]


@pytest.mark.parametrize(
    ("samples", "score"),
    [
        (told(5, minutes=15), "0.575"),
        (told(10, minutes=60), "0.8"),
        (told(10, minutes=100_000), "0.8"),
        (told(5, minutes=-30), "0.5"),
        (told(5), "0.5"),
        (told(5, result="failure"), "0"),
        (told(5, result="failure", bugs=3), "-0.2"),
        (told(5, result="failure", bugs=1000), "-0.2"),
        (told(5, result="failure", bugs=1), "-0.067"),
        (told(5, result="partial"), "0"),
        (told(4), None),
        ([], None),
        # Only those that give a time have a say in it.
        ([*told(4), outcome(minutes=60)], "0.8"),
        # 1/6 × 0.5 = 0.08333…
        ([outcome(), *told(5, result="partial")], "0.083"),
        # 0.5 × 0.5 + 0.1/60 × 0.3 = 0.2505: a half goes up.
        (
            [
                *told(5, minutes=0),
                *told(4, result="failure", principal="k", minutes=0),
                outcome("failure", minutes=1, principal="k"),
            ],
            "0.251",
        ),
    ],
)
def test_the_score_of_outcomes(samples, score):
    causal = causal_of(samples)
    found = causal.known(5) if causal else None
    assert found == (None if score is None else Decimal(score))


@pytest.mark.parametrize(
    ("samples", "warns"),
    [
        (told(5, result="failure"), True),
        (told(5, result="failure", bugs=3), True),
        (told(4, result="failure"), False),
        ([*told(4, result="failure"), outcome()], True),
        ([*told(3, result="failure"), outcome(), outcome()], False),
        (told(5, result="partial"), True),
        # 1/5 is too few successes, however well they went.
        ([*told(4, result="failure"), outcome(minutes=60)], True),
    ],
)
def test_what_misleads(samples, warns):
    assert causal_of(samples).misleads(5) is warns


@pytest.mark.parametrize(("score", "warns"), [("-0.05", False), ("-0.0501", True)])
def test_the_limit_of_the_score_itself_does_not_warn(score, warns):
    assert Causal(5, Fraction(score), Fraction(1, 2)).misleads(5) is warns


def test_one_principal_is_heard_once_a_task_and_twenty_times_in_all():
    again = [outcome("failure", task="a"), outcome(task="a"), outcome(task="b")]
    assert counted(again) == [again[0], again[2]]
    assert len(counted([*again, outcome(task="a", principal="key:2")])) == 3
    assert len(counted([outcome() for _ in range(1000)])) == MAX_PER_PRINCIPAL
    others = [outcome(principal=f"key:{number}") for number in range(3)]
    assert len(counted([*(outcome("failure") for _ in range(1000)), *others])) == MAX_PER_PRINCIPAL + 2


@pytest.mark.parametrize(
    ("value", "rounded"),
    [("1/2000", "0.001"), ("-1/2000", "-0.001"), ("4999/10000000", "0"), ("0", "0"), ("4/5", "0.8")],
)
def test_halves_go_away_from_zero(value, rounded):
    assert three_places(Fraction(value)) == Decimal(rounded)

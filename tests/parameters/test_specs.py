"""What a value of a parameter may be, and its one text."""

from decimal import Decimal

import pytest

from common.errors import ApplicationError
from evolution.parameters.rules.specs import (
    CATEGORIES,
    SPECS,
    Parameters,
    as_json,
    as_text,
    check_order,
    checked,
    from_text,
)

TAKEN = [
    ("injection_top_k", 1, 1, "1"),
    ("injection_top_k", 20.0, 20, "20"),
    ("injection_max_chars", 50, 50, "50"),
    ("archive_days", 3650, 3650, "3650"),
    ("decay_rate", -0.5, Decimal("-0.5"), "-0.5"),
    ("decay_rate", 0, Decimal(0), "0"),
    ("slow_decay_rate", -0.0, Decimal(0), "0"),
    ("harvest_threshold", 0.755, Decimal("0.755"), "0.755"),
    ("harvest_threshold", 1, Decimal(1), "1"),
    ("boosted_categories", ["tooling", "debugging"], ("debugging", "tooling"), '["debugging", "tooling"]'),
    ("boosted_categories", [], (), "[]"),
]
REFUSED = [
    *[("injection_top_k", value) for value in (0, 21, 25, 2.5, "5", True, None, [], {}, 10**400)],
    *[("injection_max_chars", value) for value in (49, 1001)],
    *[("archive_days", value) for value in (6, 3651)],
    *[
        ("decay_rate", value)
        for value in (-0.501, 0.001, -0.1234, "-0.1", float("nan"), float("-inf"), 1e300)
    ],
    *[("deprecation_threshold", value) for value in (-0.001, 1.001, 1e-9)],
    *[
        ("boosted_categories", value)
        for value in ("tooling", ["unknown"], ["tooling"] * 2, [1], [["x"]], 5, {})
    ],
]


@pytest.mark.parametrize(("name", "value", "read", "text"), TAKEN)
def test_a_value_within_its_bounds_has_one_text(name, value, read, text):
    assert checked(name, value) == read
    assert type(checked(name, value)) is type(SPECS[name].default)
    assert as_text(checked(name, value)) == text
    assert from_text(name, text) == read == checked(name, as_json(read))


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_any_other_value_is_refused_with_limit_and_actual(name, value):
    with pytest.raises(ApplicationError) as refusal:
        checked(name, value)
    assert refusal.value.code == "PARAMETER_OUT_OF_RANGE"
    assert refusal.value.extra["limit"] and refusal.value.extra["actual"]


@pytest.mark.parametrize(
    "text", ["", "five", '"5"', "5 6", "NaN", "null", "[" * 5000, "9" * 5000, "1e999999999"]
)
def test_a_text_that_says_no_value_is_refused(text):
    with pytest.raises(ApplicationError) as refusal:
        from_text("injection_top_k", text)
    assert refusal.value.code == "PARAMETER_OUT_OF_RANGE"


def test_every_default_is_a_value_and_in_order():
    assert len(SPECS) == 14
    for name, spec in SPECS.items():
        assert checked(name, as_json(spec.default)) == spec.default
    check_order(Parameters())
    assert set(CATEGORIES) >= {"debugging", "anti-pattern"}


@pytest.mark.parametrize(
    ("fast", "decay", "slow", "holds"),
    [("-0.2", "-0.2", "-0.2", True), ("-0.1", "-0.2", "0", False), ("-0.3", "-0.1", "-0.2", False)],
)
def test_the_decay_rates_keep_their_order(fast, decay, slow, holds):
    values = Parameters(
        fast_decay_rate=Decimal(fast), decay_rate=Decimal(decay), slow_decay_rate=Decimal(slow)
    )
    if holds:
        check_order(values)
        return
    with pytest.raises(ApplicationError, match="fast_decay_rate") as refusal:
        check_order(values)
    assert refusal.value.code == "PARAMETER_OUT_OF_RANGE"

"""Names, defaults and bounds of the parameters, and what a value must be. Pure; docs/rules.md: parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError

Value = Decimal | int | tuple[str, ...]

#: What knowledge may be about; `boosted_categories` lists some of them.
CATEGORIES = (
    "architecture",
    "debugging",
    "pattern",
    "workflow",
    "tooling",
    "anti-pattern",
    "reference-project",
)
#: Digits after the point that a value may have.
PLACES = 3


@dataclass(frozen=True)
class Parameters:
    """The values of one company, as rules read them. The defaults are those of the specification."""

    decay_rate: Decimal = Decimal("-0.1")
    fast_decay_rate: Decimal = Decimal("-0.15")
    slow_decay_rate: Decimal = Decimal("-0.05")
    harvest_threshold: Decimal = Decimal("0.7")
    injection_top_k: int = 5
    injection_max_chars: int = 200
    archive_days: int = 90
    deprecation_threshold: Decimal = Decimal("0.5")
    causal_min_samples: int = 5
    meta_evolve_interval: int = 5
    max_scan_files: int = 1000
    boosted_categories: tuple[str, ...] = ()
    deviation_similarity: Decimal = Decimal("0.6")
    decision_min_similarity: Decimal = Decimal("0.2")


@dataclass(frozen=True)
class Spec:
    """One parameter: its bounds (None: a list of categories), what it is for."""

    name: str
    default: Value
    minimum: Decimal | None
    maximum: Decimal | None
    help: Any

    @property
    def kind(self) -> str:
        """`decimal`, `integer` or `categories`."""
        if isinstance(self.default, tuple):
            return "categories"
        return "integer" if isinstance(self.default, int) else "decimal"


_BOUNDS: dict[str, tuple[str, str, Any]] = {
    "decay_rate": ("-0.5", "0", _("What 30 days without use take from a confidence.")),
    "fast_decay_rate": ("-0.5", "0", _("The same for knowledge that brought little.")),
    "slow_decay_rate": ("-0.5", "0", _("The same for knowledge that brought much.")),
    "harvest_threshold": ("0", "1", _("Drafts below this confidence are folded away in the queue.")),
    "injection_top_k": ("1", "20", _("How many items are injected at most.")),
    "injection_max_chars": ("50", "1000", _("Characters of a summary that are injected.")),
    "archive_days": ("7", "3650", _("Days after which runs, decisions and logs are archived.")),
    "deprecation_threshold": ("0", "1", _("Below this confidence knowledge is deprecated.")),
    "causal_min_samples": ("1", "100", _("Outcomes that a causal score needs.")),
    "meta_evolve_interval": ("1", "100", _("Every how many runs the engine looks at itself.")),
    "max_scan_files": ("1", "10000", _("Files of a difference that are searched for patterns.")),
    "deviation_similarity": ("0", "1", _("From this similarity two deviations are one.")),
    "decision_min_similarity": ("0", "1", _("From this similarity a decision is offered again.")),
}
_CATEGORIES_HELP = _("Reports of these categories are learnt from one priority step earlier.")


def _spec(name: str, default: Value) -> Spec:
    if name not in _BOUNDS:
        return Spec(name, default, None, None, _CATEGORIES_HELP)
    low, high, text = _BOUNDS[name]
    return Spec(name, default, Decimal(low), Decimal(high), text)


#: The parameters by name, in the order of the specification.
SPECS: Mapping[str, Spec] = MappingProxyType(
    {field.name: _spec(field.name, getattr(Parameters(), field.name)) for field in fields(Parameters)}
)


def spec_of(name: str) -> Spec:
    """Errors: NOT_FOUND for a name that is no parameter, listing those there are."""
    if name not in SPECS:
        values = {"name": name, "known": ", ".join(SPECS)}
        raise ApplicationError(
            "NOT_FOUND", _("There is no parameter “%(name)s”. There are: %(known)s.") % values
        )
    return SPECS[name]


def checked(name: str, value: Any) -> Value:
    """`value` (JSON: a number, never a text; or a list of categories) as the rules read it.

    Errors: PARAMETER_OUT_OF_RANGE for a wrong type, a value out of bounds, more than three places, an unknown or
    repeated category; NOT_FOUND for an unknown name.
    """
    spec = spec_of(name)
    if spec.kind == "categories":
        return _categories(spec, value)
    number = _number(spec, value)
    return int(number) if spec.kind == "integer" else number


def _number(spec: Spec, value: Any) -> Decimal:
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    number = Decimal(str(value)) if is_number else Decimal("NaN")
    assert spec.minimum is not None and spec.maximum is not None
    # The bounds first: a number of a thousand digits cannot be rounded.
    if not number.is_finite() or not spec.minimum <= number <= spec.maximum:
        raise _refused(spec, value)
    rounded = round(number, 0 if spec.kind == "integer" else PLACES)
    if rounded != number:
        raise _refused(spec, value)
    return Decimal(rounded).normalize() + 0


def _categories(spec: Spec, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise _refused(spec, value)
    unknown = [word for word in value if not isinstance(word, str) or word not in CATEGORIES]
    if unknown or len(set(value)) != len(value):
        raise _refused(spec, value)
    return tuple(word for word in CATEGORIES if word in value)


def check_order(values: Parameters) -> None:
    """fast <= decay <= slow. Errors: PARAMETER_OUT_OF_RANGE naming the three values."""
    if values.fast_decay_rate <= values.decay_rate <= values.slow_decay_rate:
        return
    shown = {
        "fast": str(values.fast_decay_rate),
        "decay": str(values.decay_rate),
        "slow": str(values.slow_decay_rate),
    }
    raise ApplicationError(
        "PARAMETER_OUT_OF_RANGE",
        _(
            "fast_decay_rate (%(fast)s) must not be above decay_rate (%(decay)s), nor that above "
            "slow_decay_rate (%(slow)s)."
        )
        % shown,
        extra={"limit": "fast_decay_rate <= decay_rate <= slow_decay_rate", "actual": shown},
    )


def _refused(spec: Spec, value: Any) -> ApplicationError:
    if spec.kind == "categories":
        limit = "[" + ", ".join(CATEGORIES) + "]"
        message = _("%(name)s is a list of known categories, each once: %(limit)s.")
    elif spec.kind == "integer":
        limit = f"{spec.minimum}..{spec.maximum}"
        message = _("%(name)s is a whole number within %(limit)s; %(actual)s is not.")
    else:
        limit = f"{spec.minimum}..{spec.maximum}"
        message = _("%(name)s is a number within %(limit)s with at most three places; %(actual)s is not.")
    actual = repr(value)[:80]
    return ApplicationError(
        "PARAMETER_OUT_OF_RANGE",
        message % {"name": spec.name, "limit": limit, "actual": actual},
        extra={"parameter": spec.name, "limit": limit, "actual": actual},
    )


def as_json(value: Value) -> Any:
    """A value as JSON stores and shows it: numbers as numbers."""
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, int) else float(value)


def as_text(value: Value) -> str:
    """A value as people compare it: `5`, `-0.1`, `["debugging"]`; equal values give equal texts."""
    if isinstance(value, tuple):
        return json.dumps(list(value))
    return str(value) if isinstance(value, int) else f"{value:f}"


def from_text(name: str, text: str) -> Value:
    """The value that a text of `as_text` (any JSON) says. Errors: those of `checked`; no JSON is a wrong type."""
    try:
        value = json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError):
        value = text
    return checked(name, value)

"""What the rules of higher rooms read, and what pages and the API show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import OuterRef, Subquery
from django.utils.translation import gettext_lazy as _

from common.companies.models import Company
from common.errors import ApplicationError
from evolution.parameters.models import Parameter, ParameterChange, ParameterChangeQuerySet
from evolution.parameters.rules.specs import (
    CATEGORIES,
    SPECS,
    Parameters,
    Spec,
    Value,
    as_json,
    checked,
    spec_of,
)


def parameters_of(company_id: int) -> Parameters:
    """The values of a company, defaults where it has none. One query."""
    rows = Parameter.objects.filter(company_id=company_id, name__in=SPECS)
    stored: dict[str, Any] = {row.name: checked(row.name, row.value) for row in rows}
    return replace(Parameters(), **stored)


def with_value(values: Parameters, changes: Mapping[str, Value]) -> Parameters:
    """The values with some of them replaced."""
    return replace(values, **dict(changes))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Shown:
    """One parameter of a company, with values as JSON has them."""

    spec: Spec
    current: Value

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def kind(self) -> str:
        return self.spec.kind

    @property
    def help(self) -> Any:
        return self.spec.help

    @property
    def value(self) -> Any:
        return as_json(self.current)

    @property
    def default(self) -> Any:
        return as_json(self.spec.default)

    @property
    def is_default(self) -> bool:
        return self.current == self.spec.default

    @property
    def bounds(self) -> dict[str, Any]:
        """`minimum` and `maximum` of a number, the words that a list may hold."""
        if self.spec.minimum is None or self.spec.maximum is None:
            return {"allowed": list(CATEGORIES)}
        limits = {"minimum": self.spec.minimum, "maximum": self.spec.maximum}
        whole = self.kind == "integer"
        return {name: int(limit) if whole else float(limit) for name, limit in limits.items()}


def shown_parameters(company_id: int) -> list[Shown]:
    """All parameters with the values of a company, in the order of the specification. One query."""
    values = parameters_of(company_id)
    return [Shown(spec, getattr(values, name)) for name, spec in SPECS.items()]


def value_of(company_id: int, name: str) -> Value:
    """One value. Errors: NOT_FOUND for a name that is no parameter."""
    spec_of(name)
    value: Value = getattr(parameters_of(company_id), name)
    return value


def changes_of(company: Company, name: str) -> ParameterChangeQuerySet:
    """The history of one parameter, newest first. Errors: NOT_FOUND for a name that is no parameter."""
    spec_of(name)
    return ParameterChange.objects.of_company(company).filter(name=name).order_by("-at", "-id")


def last_changes(company: Company) -> dict[str, ParameterChange]:
    """Name -> the newest change, of the parameters that ever changed."""
    newest = ParameterChange.objects.of_company(company).filter(name=OuterRef("name")).order_by("-at", "-id")
    rows = ParameterChange.objects.of_company(company).filter(pk=Subquery(newest.values("pk")[:1]))
    return {change.name: change for change in rows}


def get_change(company: Company, pk: int) -> ParameterChange:
    """One change of the company; NOT_FOUND for unknown and foreign ones alike."""
    change = ParameterChange.objects.of_company(company).filter(pk=pk).first()
    if change is None:
        raise ApplicationError("NOT_FOUND", _("No such change of a parameter."))
    return change


def values_by_company(name: str) -> tuple[Any, dict[int, Any]]:
    """The default of a parameter, and the own values of the companies that have one. One query."""
    rows = Parameter.objects.filter(name=name).values_list("company_id", "value")
    return spec_of(name).default, {company_id: checked(name, value) for company_id, value in rows}

"""What the rules of higher rooms read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evolution.parameters.models import Parameter
from evolution.parameters.rules.specs import SPECS, Parameters, checked


def parameters_of(company_id: int) -> Parameters:
    """The values of a company, defaults where it has none. One query."""
    rows = Parameter.objects.filter(company_id=company_id, name__in=SPECS)
    stored: dict[str, Any] = {row.name: checked(row.name, row.value) for row in rows}
    return replace(Parameters(), **stored)

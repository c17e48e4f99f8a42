"""The one way a value changes: after an approval, from the value that was approved on, with a line of history.

The room of proposals calls this when it applies or rolls back; nobody else does (a test holds it).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from common.companies.models import Company
from common.errors import ApplicationError
from evolution.parameters.models import Parameter, ParameterChange
from evolution.parameters.rules.specs import Value, as_json, as_text, check_order, checked
from evolution.parameters.selectors import parameters_of, with_value


@dataclass(frozen=True)
class Approval:
    """What history keeps of the decision; `reverts` is the id of a change that is wanted back."""

    proposal_code: str
    approver: str
    reason: str = ""
    reverts: int | None = None


@transaction.atomic
def set_parameter(
    *, company_id: int, name: str, value: Any, expected: Value, approval: Approval, now: datetime
) -> ParameterChange | None:
    """Make `value` the value of a parameter, if it still is `expected`; None when it is `value` already.

    The change says what it takes back only if it really brings the old value of that change back.
    Errors: NOT_FOUND for an unknown name; PARAMETER_OUT_OF_RANGE for the value, or for the order of the decay
    rates that would result; STATE_CONFLICT when the value is not `expected`. Nothing is written then.
    """
    # `no_key`: rows that only refer to the company are added meanwhile, as with the lock of an agent.
    Company.objects.select_for_update(no_key=True).get(pk=company_id)
    wanted = checked(name, value)
    values = parameters_of(company_id)
    current: Value = getattr(values, name)
    if current == wanted:
        return None
    if current != expected:
        raise ApplicationError(
            "STATE_CONFLICT",
            _("%(name)s is %(actual)s by now, not %(expected)s; propose the change again.")
            % {"name": name, "actual": as_text(current), "expected": as_text(expected)},
        )
    check_order(with_value(values, {name: wanted}))
    Parameter.objects.update_or_create(company_id=company_id, name=name, defaults={"value": as_json(wanted)})
    return ParameterChange.objects.create(
        company_id=company_id,
        name=name,
        old=as_json(current),
        new=as_json(wanted),
        reason=approval.reason,
        proposal_code=approval.proposal_code,
        approver=approval.approver[:200],
        at=now,
        reverts=_taken_back(company_id, name, wanted, approval.reverts),
    )


def _taken_back(company_id: int, name: str, wanted: Value, reverts: int | None) -> ParameterChange | None:
    if reverts is None:
        return None
    change = ParameterChange.objects.filter(company_id=company_id, name=name, pk=reverts).first()
    return change if change is not None and change.old == as_json(wanted) else None

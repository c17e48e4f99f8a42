"""Changes of parameters: proposed with a value and a reason, or as the way back of an earlier change."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.actors import Actor
from common.companies.models import Company
from common.errors import ApplicationError, invalid
from common.text import is_blank, length
from evolution.parameters.models import ParameterChange
from evolution.parameters.rules.specs import as_text, checked
from evolution.parameters.selectors import value_of
from evolution.proposals.choices import ItemType, Kind, Trigger
from evolution.proposals.operations.parameters import SET_PARAMETER, target_of
from evolution.proposals.services.drafting import MAX_CONTENT, Draft, Drafted, ItemDraft, draft_proposal


def propose_parameter(
    *,
    company: Company,
    name: str,
    value: Any,
    reason: str,
    actor: Actor,
    now: datetime,
    reverts: ParameterChange | None = None,
    trigger: str = Trigger.MANUAL,
) -> Drafted:
    """Draft the change of one parameter of `company`; `value` as JSON has it.

    The same value that waits already, or was rejected in the last 90 days, makes no second proposal.
    Errors: NOT_FOUND for an unknown name; PARAMETER_OUT_OF_RANGE; VALIDATION_ERROR without a reason, or for the
    value that it has already.
    """
    wanted = as_text(checked(name, value))
    reason = _checked_reason(reason)
    item = ItemDraft(
        type=ItemType.PARAMETER,
        content=reason,
        target=target_of(name),
        operation=SET_PARAMETER,
        new_text=wanted,
        reverts=reverts.pk if reverts else None,
    )
    draft = Draft(
        kind=Kind.PARAMETER,
        trigger=trigger,
        items=[item],
        title=f"{name}: {as_text(value_of(company.pk, name))} → {wanted}"[:200],
        rationale=reason,
    )
    try:
        return draft_proposal(company=company, agent=None, draft=draft, actor=actor, now=now)
    except ApplicationError as error:
        # The caller knows no items: what is wrong is the value.
        faults = [replace(fault, pointer="/value") for fault in error.errors]
        raise ApplicationError(error.code, error.message, errors=faults, extra=error.extra) from error


def propose_revert(
    *, change: ParameterChange, company: Company, reason: str, actor: Actor, now: datetime
) -> Drafted:
    """Draft the way back of a change: its old value becomes the value again. Errors: those of a proposal."""
    told = str(_("Takes back the change of %(day)s: %(old)s → %(new)s.")) % {
        "day": change.at.date().isoformat(),
        "old": as_text(checked(change.name, change.old)),
        "new": as_text(checked(change.name, change.new)),
    }
    return propose_parameter(
        company=company,
        name=change.name,
        value=change.old,
        reason=told if is_blank(reason) else reason,
        actor=actor,
        now=now,
        reverts=change,
    )


def _checked_reason(reason: str) -> str:
    if is_blank(reason):
        raise invalid("/reason", _("Say why this parameter should change."))
    if length(reason) > MAX_CONTENT:
        told = _("At most %(limit)d characters; this has %(actual)d: remove %(excess)d.")
        actual = length(reason)
        values = {"limit": MAX_CONTENT, "actual": actual, "excess": actual - MAX_CONTENT}
        raise invalid("/reason", told % values)
    return reason

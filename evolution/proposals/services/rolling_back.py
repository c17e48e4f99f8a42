"""Take an applied proposal back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from agents.choices import Source
from agents.rules.paths import is_user_path, user_of
from agents.rules.protection import Outcome
from agents.services.editing import Edit, edit_agent
from agents.services.protection import check_and_log, named
from common.actors import Actor
from common.errors import ApplicationError, invalid
from common.receipts.choices import ReceiptType
from common.text import clean, is_blank
from evolution.proposals.choices import ItemStatus, Status
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.operations import Place, operation_for
from evolution.proposals.services.locking import locked, move, wrong_state
from evolution.proposals.services.receipts import write_proposal_receipt


@transaction.atomic
def roll_back(
    *,
    proposal_id: int,
    reason: str,
    actor: Actor,
    now: datetime,
    decided_by: str = "",
    expected: Collection[int] | None = None,
) -> Proposal:
    """Put back what was there before, last item first, as new versions; one receipt.

    When the text went on since, only if the reverse change still fits cleanly.
    Errors: VALIDATION_ERROR without a reason; STATE_CONFLICT; ROLLBACK_CONFLICT (nothing is written);
    PROTECTED_PATH; PERMISSION_DENIED where the owner is needed.
    """
    if is_blank(reason):
        raise invalid("/reason", _("Say why this is rolled back."))
    proposal = locked(proposal_id, expected)
    if proposal.status != Status.APPLIED:
        raise wrong_state(proposal, _("rolled back"))
    message = f"rollback: {proposal.code} {clean(reason)}"
    edit = Edit(actor=actor, now=now, source=Source.ROLLBACK, message=message[:500], receipt=False)
    items = list(proposal.items.filter(status=ItemStatus.APPLIED).order_by("-number"))
    with edit_agent(proposal.agent_id, edit) as agent:
        for item in items:
            place = Place(agent, proposal.company, item.target, item.new_target)
            _check_protection(place, item, proposal, actor, now, decided_by)
            operation = operation_for(item.operation, item.target)
            result = operation.revert(place, item, edit, message, proposal.code)
            item.status = ItemStatus.ROLLED_BACK
            item.result = {**item.result, "document_version": result.document_version}
    ProposalItem.objects.bulk_update(items, ["status", "result"])
    move(proposal, Status.ROLLED_BACK, _("rolled back"), now=now, decision_reason=clean(reason))
    write_proposal_receipt(
        proposal,
        actor=actor,
        now=now,
        trigger="proposal_rolled_back",
        type=ReceiptType.ROLLBACK,
        detail={"agent_version": agent.version},
    )
    return proposal


def _check_protection(
    place: Place, item: ProposalItem, proposal: Proposal, actor: Actor, now: datetime, decided_by: str
) -> None:
    """Protected parts stay protected on the way back; an owner-only section needs the owner."""
    operation = operation_for(item.operation, item.target)
    changes = [
        replace(change, old_text=change.new_text, new_text=change.old_text)
        for change in operation.protected_changes(place, item.base_text, item.new_text)
    ]
    if not changes:
        return
    verdicts = check_and_log(
        agent=place.agent,
        company=proposal.company,
        changes=changes,
        actor=actor,
        request=f"{proposal.code} rollback",
        now=now,
    )
    for verdict in verdicts:
        if verdict.verdict is Outcome.BLOCKED:
            raise ApplicationError(
                "PROTECTED_PATH", _("%(rule)s is protected; undo it by hand.") % {"rule": named(verdict)}
            )
        if verdict.verdict is Outcome.NEEDS_OWNER:
            by_user = is_user_path(item.target) and user_of(item.target) == decided_by
            if not by_user and actor.user_id != place.agent.owner_id:
                raise ApplicationError(
                    "PERMISSION_DENIED", _("Only the owner may restore %(rule)s.") % {"rule": named(verdict)}
                )

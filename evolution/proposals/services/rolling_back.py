"""Take an applied proposal back."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from agents.choices import Source
from agents.rules.paths import is_user_path, user_of
from agents.rules.protection import Outcome, Verdict
from agents.services.editing import Edit
from agents.services.protection import named
from common.actors import Actor
from common.errors import ApplicationError, invalid
from common.receipts.choices import ReceiptType
from common.text import clean, is_blank
from evolution.proposals.choices import ItemStatus, Status
from evolution.proposals.models import GitMirrorCommit, Proposal, ProposalItem
from evolution.proposals.operations import operation_for
from evolution.proposals.services.authority import Decision, check_confirmation
from evolution.proposals.services.checks import Context, logged_checks
from evolution.proposals.services.computing import is_foreign_body, place_of
from evolution.proposals.services.locking import agent_of, context_of, locked, move, wrong_state
from evolution.proposals.services.receipts import write_proposal_receipt


@dataclass(frozen=True)
class _Rollback:
    """Who takes back what, and how the versions call it."""

    proposal: Proposal
    decision: Decision
    edit: Edit
    message: str


def roll_back(
    *,
    proposal_id: int,
    reason: str,
    actor: Actor,
    now: datetime,
    decided_by: str = "",
    confirmation: str = "",
    expected: Collection[int] | None = None,
) -> Proposal:
    """Put back what was there before, last item first, as new versions; one receipt.

    When the text went on since, only if the reverse change still fits cleanly. `decided_by` names the end
    user who wants a protected file of their own restored.
    Errors: VALIDATION_ERROR without a reason or a confirmation that the rules ask for; STATE_CONFLICT;
    ROLLBACK_CONFLICT (nothing is written) with a `report`; PROTECTED_PATH; PERMISSION_DENIED where the owner
    is needed; PROTECTED_PATHS_UNAVAILABLE.
    """
    if is_blank(reason):
        raise invalid("/reason", _("Say why this is rolled back."))
    with logged_checks() as checks:
        proposal = locked(proposal_id, expected)
        if proposal.status != Status.APPLIED:
            raise wrong_state(proposal, _("rolled back"))
        message = f"rollback: {proposal.code} {' '.join(reason.split())}"
        edit = Edit(actor=actor, now=now, source=Source.ROLLBACK, message=message[:500], receipt=False)
        decision = Decision(actor, now, decided_by=decided_by, confirmation=confirmation)
        context = context_of(proposal, actor, now, checks)
        return _roll_back(_Rollback(proposal, decision, edit, message), clean(reason), context)


def _roll_back(rollback: _Rollback, reason: str, context: Context) -> Proposal:
    proposal, now = rollback.proposal, context.now
    items = list(proposal.items.filter(status=ItemStatus.APPLIED).order_by("-number"))
    with agent_of(proposal, rollback.edit) as agent:
        context.agent, before = agent, agent.version if agent else None
        for item in items:
            _take_back(rollback, item, context)
    ProposalItem.objects.bulk_update(items, ["status", "changed_at", "result"])
    told = {"rolled_back_by": context.actor.name[:200], "rolled_back_at": now, "rollback_reason": reason}
    move(proposal, Status.ROLLED_BACK, _("rolled back"), now=now, **told)
    receipt = write_proposal_receipt(
        proposal,
        actor=context.actor,
        now=now,
        trigger="proposal_rolled_back",
        type=ReceiptType.ROLLBACK,
        only={item.number for item in items},
        reason=reason,
        detail={
            "agent_version_before": before,
            "agent_version": agent.version if agent else None,
            "rolled_back_for": rollback.decision.decided_by,
        },
    )
    if settings.AGENTS_GIT_ROOT and agent:
        GitMirrorCommit.objects.create(receipt=receipt, proposal=proposal)
    return proposal


def _take_back(rollback: _Rollback, item: ProposalItem, context: Context) -> None:
    operation, place = operation_for(item.operation, item.target), place_of(item, context)
    if is_foreign_body(operation, place):
        raise ApplicationError(
            "COMPANY_FORBIDDEN", _("The shared body of _global cannot be changed from here.")
        )
    reversal = operation.reversal(place, item)
    _check_protection(rollback, item, context.judge(list(reversal.changes)))
    result = operation.revert(place, item, reversal, rollback.edit, rollback.message, rollback.proposal.code)
    item.status, item.changed_at = ItemStatus.ROLLED_BACK, context.now
    item.result = {**item.result, "document_version": result.document_version}


def _check_protection(rollback: _Rollback, item: ProposalItem, verdicts: Iterable[Verdict]) -> None:
    """Protected parts stay protected on the way back; an owner-only section needs the owner."""
    proposal, decision = rollback.proposal, rollback.decision
    for verdict in verdicts:
        if verdict.verdict is Outcome.BLOCKED:
            message = _("%(rule)s is protected; undo it by hand.") % {"rule": named(verdict)}
            raise ApplicationError("PROTECTED_PATH", message)
        if verdict.verdict is Outcome.NEEDS_CONFIRMATION:
            check_confirmation(proposal, decision)
        if verdict.verdict is Outcome.NEEDS_OWNER:
            if is_user_path(item.target):
                is_owner = user_of(item.target) == decision.decided_by
            else:
                is_owner = decision.actor.is_person and decision.actor.user_id == proposal.owner_id
            if not is_owner:
                message = _("Only the owner may restore %(rule)s.") % {"rule": named(verdict)}
                raise ApplicationError("PERMISSION_DENIED", message)

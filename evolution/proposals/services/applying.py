"""Apply what was approved, exactly, or nothing."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import structlog
from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils.translation import gettext_lazy as _

from agents.choices import Source
from agents.rules.paths import is_user_path, user_of
from agents.rules.protection import Outcome
from agents.services.editing import Edit, edit_agent
from agents.services.protection import named
from common.actors import Actor
from common.companies.selectors import may_write
from common.errors import ApplicationError
from evolution.proposals.choices import ItemStatus, Status
from evolution.proposals.models import GitMirrorCommit, Proposal, ProposalItem
from evolution.proposals.operations import Place, operation_for
from evolution.proposals.rules.digests import text_sha256
from evolution.proposals.rules.display import change_note
from evolution.proposals.services.computing import Context, judge
from evolution.proposals.services.deciding import Decision, approve
from evolution.proposals.services.locking import hash_of, locked, move, wrong_state
from evolution.proposals.services.receipts import write_proposal_receipt

log = structlog.get_logger(__name__)


class _Refused(Exception):
    """Why an approved proposal is not applied: the state it goes to, the item at fault, what to tell."""

    def __init__(self, status: str, reason: object, item: ProposalItem | None = None) -> None:
        super().__init__(str(reason))
        self.status, self.reason, self.item = status, reason, item


def approve_and_apply(*, proposal_id: int, decision: Decision, applies: bool, note: str = "") -> Proposal:
    """Approve items; if that decided the last one and whoever decides may also apply (`applies`), apply at once.

    Two transactions: an approval that cannot be applied stays on record, with the failure and its receipt.
    Returns the proposal: `pending`, `approved` or `applied`, or what `apply_proposal` says of a failure.
    Errors: those of `approve`.
    """
    proposal = approve(proposal_id=proposal_id, decision=decision)
    if proposal.status != Status.APPROVED or not applies:
        return proposal
    return apply_proposal(proposal_id=proposal_id, actor=decision.actor, now=decision.now, note=note)


@transaction.atomic
def apply_proposal(
    *, proposal_id: int, actor: Actor, now: datetime, expected: Collection[int] | None = None, note: str = ""
) -> Proposal:
    """Apply an approved proposal: all approved items in one transaction, with one receipt.

    Returns the proposal: `applied`; or `conflict` (a target is no longer the text it was approved on) or
    `failed` (rights gone, protected meanwhile, not storable), with nothing written, all texts kept and a
    receipt of the failure. Errors: STATE_CONFLICT when it is not approved (also when applied already).
    """
    proposal = locked(proposal_id, expected)
    if proposal.status != Status.APPROVED:
        raise wrong_state(proposal, _("applied"))
    try:
        with transaction.atomic():
            return _apply(proposal, actor, now, note)
    except _Refused as error:
        return _keep_failure(proposal, actor, now, error)
    except ApplicationError as error:
        return _keep_failure(proposal, actor, now, _Refused(Status.FAILED, error.message))
    except DatabaseError as error:
        log.exception("apply_failed", proposal=proposal.code)
        reason = _(
            "The database refused the change (%(kind)s). The text is kept: try again, or do it by hand."
        )
        refusal = _Refused(Status.FAILED, reason % {"kind": type(error).__name__})
        return _keep_failure(proposal, actor, now, refusal)


def _apply(proposal: Proposal, actor: Actor, now: datetime, note: str) -> Proposal:
    items = list(proposal.items.filter(status=ItemStatus.APPROVED).order_by("number"))
    _check_approval(proposal, items)
    message = change_note(proposal, items, note)
    edit = Edit(actor=actor, now=now, source=Source.PROPOSAL, message=message.splitlines()[0], receipt=False)
    with edit_agent(proposal.agent_id, edit) as agent:
        context = Context(agent, proposal.company, actor, proposal.code, now)
        bases: dict[str, str | None] = {}
        for item in items:
            _check_item(proposal, item, context, bases)
        for item in items:
            place = Place(agent, proposal.company, item.target, item.new_target)
            operation = operation_for(item.operation, item.target)
            result = operation.apply(place, item.new_text, edit, message, proposal.code)
            item.status = ItemStatus.APPLIED
            item.result = {"document_version": result.document_version, **result.values}
    ProposalItem.objects.bulk_update(items, ["status", "result"])
    move(proposal, Status.APPLIED, _("applied"), now=now, applied_at=now, failure="")
    detail = {"agent_version": agent.version, "applied_by": actor.name}
    receipt = write_proposal_receipt(
        proposal, actor=actor, now=now, trigger="proposal_applied", detail=detail
    )
    if settings.AGENTS_GIT_ROOT:
        GitMirrorCommit.objects.create(receipt=receipt, proposal=proposal)
    return proposal


def _check_approval(proposal: Proposal, items: list[ProposalItem]) -> None:
    """The approved texts are still those that were approved, by somebody who may still approve."""
    if not items or hash_of(items) != proposal.approved_hash:
        raise _Refused(Status.CONFLICT, _("The items are not what was approved."))
    approver, key_relayed = proposal.approved_by_user, bool(proposal.decided_by)
    if key_relayed:
        return
    still = (
        approver is not None
        and approver.is_active
        and approver.is_staff
        and approver.has_perm("proposals.approve_proposal")
        and may_write(approver, proposal.company)
    )
    if not still:
        raise _Refused(
            Status.FAILED, _("Who approved this may no longer approve; somebody else must decide again.")
        )


def _check_item(
    proposal: Proposal, item: ProposalItem, context: Context, bases: dict[str, str | None]
) -> None:
    """Base, protection, company and validity of one item, as they are now."""
    operation = operation_for(item.operation, item.target)
    place = Place(context.agent, context.company, item.target, item.new_target)
    try:
        base = bases[item.target] if item.target in bases else operation.current(place).text
    except ApplicationError as error:
        raise _Refused(Status.CONFLICT, error.message, item) from error
    if text_sha256(base) != item.base_sha256:
        reason = _("%(target)s is no longer the text on which this was approved.")
        raise _Refused(Status.CONFLICT, reason % {"target": item.target}, item)
    if operation.chains:
        bases[item.target] = item.new_text
    if context.agent.company_id != context.company.pk and not is_user_path(item.target):
        raise _Refused(Status.FAILED, _("The shared body of _global cannot be changed from here."), item)
    _check_protection(proposal, item, context)
    faults = operation.faults(place, item.new_text)
    if faults:
        raise _Refused(Status.FAILED, faults[0].detail, item)


def _check_protection(proposal: Proposal, item: ProposalItem, context: Context) -> None:
    for verdict in judge(item, context):
        if verdict.verdict is Outcome.BLOCKED:
            reason = _("%(rule)s is protected now; it must be changed by hand.")
            raise _Refused(Status.FAILED, reason % {"rule": named(verdict)}, item)
        if verdict.verdict is Outcome.NEEDS_OWNER:
            by_user = is_user_path(item.target) and user_of(item.target) == proposal.decided_by
            by_owner = proposal.approved_by_user_id is not None and (
                proposal.approved_by_user_id == context.agent.owner_id
            )
            if not (by_user or by_owner):
                reason = _("%(rule)s needs the owner's approval now.")
                raise _Refused(Status.FAILED, reason % {"rule": named(verdict)}, item)


def _keep_failure(proposal: Proposal, actor: Actor, now: datetime, refusal: _Refused) -> Proposal:
    """Record that nothing was written, and why; the texts stay for another try."""
    outcome = ItemStatus.CONFLICT if refusal.status == Status.CONFLICT else ItemStatus.FAILED
    at_fault = proposal.items.filter(status=ItemStatus.APPROVED)
    if refusal.item is not None:
        at_fault = at_fault.filter(pk=refusal.item.pk)
    at_fault.update(status=outcome, rejection_reason=str(refusal.reason))
    move(proposal, refusal.status, _("applied"), now=now, failure=str(refusal.reason))
    write_proposal_receipt(
        proposal,
        actor=actor,
        now=now,
        trigger=f"proposal_{refusal.status}",
        only={outcome},
        detail={"applied_by": actor.name},
    )
    return proposal

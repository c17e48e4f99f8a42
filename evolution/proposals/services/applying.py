"""Apply what was approved, exactly, or nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

import structlog
from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils.translation import gettext_lazy as _

from agents.choices import Source
from agents.rules.protection import Outcome
from agents.services.editing import Edit
from agents.services.protection import named
from common.actors import Actor
from common.errors import ApplicationError
from evolution.proposals.choices import ItemStatus, Status
from evolution.proposals.models import GitMirrorCommit, Proposal, ProposalItem
from evolution.proposals.operations import Approved, operation_for
from evolution.proposals.rules.digests import text_sha256
from evolution.proposals.rules.display import change_note
from evolution.proposals.services.authority import (
    Decision,
    asks_owner,
    is_approved_by_owner,
    is_still_approved,
    own_words,
)
from evolution.proposals.services.chains import check_apart
from evolution.proposals.services.checks import Context, logged_checks
from evolution.proposals.services.computing import Bases, is_foreign_body, judge, place_of
from evolution.proposals.services.deciding import approve
from evolution.proposals.services.history import learn_from_applied
from evolution.proposals.services.locking import agent_of, context_of, hash_of, locked, move, wrong_state
from evolution.proposals.services.receipts import write_proposal_receipt

log = structlog.get_logger(__name__)


class _Refused(Exception):
    """Why an approved proposal is not applied: the state it goes to, what to tell, the item at fault."""

    def __init__(
        self, status: str, reason: object, item: ProposalItem | None = None, code: str = "STATE_CONFLICT"
    ) -> None:
        super().__init__(str(reason))
        self.status, self.reason, self.item, self.code = status, reason, item, code


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


def apply_proposal(
    *, proposal_id: int, actor: Actor, now: datetime, expected: Collection[int] | None = None, note: str = ""
) -> Proposal:
    """Apply an approved proposal: all approved items in one transaction, with one receipt.

    Returns the proposal: `applied`; or `conflict` (a target is no longer the text it was approved on) or
    `failed` (rights gone, protected meanwhile, not storable), with nothing written, all texts kept, why in
    `failure` and `failure_code`, and a receipt of the failure.
    Errors: STATE_CONFLICT when it is not approved (also when applied already), VERSION_MISMATCH.
    """
    with logged_checks() as checks:
        proposal = locked(proposal_id, expected)
        if proposal.status != Status.APPROVED:
            raise wrong_state(proposal, _("applied"))
        context = context_of(proposal, actor, now, checks)
        try:
            with transaction.atomic():
                return _apply(proposal, context, note)
        except _Refused as refusal:
            return _keep_failure(proposal, context, refusal)
        except ApplicationError as error:
            return _keep_failure(proposal, context, _Refused(Status.FAILED, error.message, code=error.code))
        except DatabaseError as error:
            log.exception("apply_failed", proposal=proposal.code)
            reason = _(
                "The database refused the change (%(kind)s). The text is kept: propose it again, or do it by hand."
            )
            failed = _Refused(Status.FAILED, reason % {"kind": type(error).__name__})
            return _keep_failure(proposal, context, failed)


def _apply(proposal: Proposal, context: Context, note: str) -> Proposal:
    items = list(proposal.items.filter(status=ItemStatus.APPROVED).order_by("number"))
    _check_approval(proposal, items, context.now)
    message = change_note(proposal, items, own_words(context.actor, note))
    edit = Edit(
        actor=context.actor,
        now=context.now,
        source=Source.PROPOSAL,
        message=message.splitlines()[0],
        receipt=False,
    )
    with agent_of(proposal, edit) as agent:
        context.agent, before = agent, agent.version if agent else None
        _carry_out(proposal, items, context, edit, message)
    move(
        proposal,
        Status.APPLIED,
        _("applied"),
        now=context.now,
        applied_at=context.now,
        failure="",
        failure_code="",
    )
    receipt = write_proposal_receipt(
        proposal,
        actor=context.actor,
        now=context.now,
        trigger="proposal_applied",
        detail={
            "agent_version_before": before,
            "agent_version": agent.version if agent else None,
            "applied_by": context.actor.name,
            "lessons": learn_from_applied(proposal, items, actor=context.actor, now=context.now),
        },
    )
    if settings.AGENTS_GIT_ROOT and agent:
        GitMirrorCommit.objects.create(receipt=receipt, proposal=proposal)
    return proposal


def _carry_out(
    proposal: Proposal, items: list[ProposalItem], context: Context, edit: Edit, message: str
) -> None:
    """Write all items, after each was looked at again; they know then what came of them."""
    bases: Bases = {}
    for item in items:
        _check_item(proposal, item, context, bases)
    for item in items:
        operation, place = operation_for(item.operation, item.target), place_of(item, context)
        place = replace(place, approved=_approved(proposal, item))
        result = operation.apply(place, item.new_text, edit, message, proposal.code)
        item.status, item.changed_at = ItemStatus.APPLIED, context.now
        item.result = {"document_version": result.document_version, **result.values}
    ProposalItem.objects.bulk_update(items, ["status", "changed_at", "result"])


def _approved(proposal: Proposal, item: ProposalItem) -> Approved:
    reason = proposal.rationale or (item.content if item.whole_text else "")
    return Approved(item.base_text, item.decided_by, reason, item.reverts_id)


def _check_approval(proposal: Proposal, items: list[ProposalItem], now: datetime) -> None:
    """The approved texts are still those that were approved, by somebody who may still approve."""
    if not items or hash_of(items) != proposal.approved_hash:
        raise _Refused(Status.CONFLICT, _("The items are not what was approved."))
    check_apart(items)
    for item in items:
        if not is_still_approved(proposal, item, now):
            reason = _("Who approved this may no longer approve; somebody else must decide again.")
            raise _Refused(Status.FAILED, reason, item, "PERMISSION_DENIED")


def _check_item(proposal: Proposal, item: ProposalItem, context: Context, bases: Bases) -> None:
    """Base, company, protection and validity of one item, as they are now."""
    operation = operation_for(item.operation, item.target)
    place = replace(place_of(item, context), beside=dict(bases))
    try:
        now = operation.current(place).text
    except ApplicationError as error:
        raise _Refused(Status.CONFLICT, error.message, item) from error
    if text_sha256(bases.get(item.target_key, now)) != item.base_sha256:
        reason = _("%(target)s is no longer the text on which this was approved.")
        raise _Refused(Status.CONFLICT, reason % {"target": item.target}, item)
    if operation.chains:
        bases[item.target_key] = item.new_text
    if is_foreign_body(operation, place):
        reason = _("The shared body of _global cannot be changed from here.")
        raise _Refused(Status.FAILED, reason, item, "COMPANY_FORBIDDEN")
    _check_protection(proposal, item, context)
    faults = operation.faults(place, item.new_text)
    if faults:
        raise _Refused(Status.FAILED, faults[0].detail, item)


def _check_protection(proposal: Proposal, item: ProposalItem, context: Context) -> None:
    verdicts = judge(item, context)
    for verdict in verdicts:
        if verdict.verdict is Outcome.BLOCKED:
            reason = _("%(rule)s is protected now; it must be changed by hand.") % {"rule": named(verdict)}
            raise _Refused(Status.FAILED, reason, item, "PROTECTED_PATH")
    if asks_owner(verdicts) and not is_approved_by_owner(proposal, item):
        reason = _("%(target)s needs the owner's approval now.") % {"target": item.target}
        raise _Refused(Status.FAILED, reason, item, "PERMISSION_DENIED")


def _keep_failure(proposal: Proposal, context: Context, refusal: _Refused) -> Proposal:
    """Record that nothing was written, and why; the texts stay for another try."""
    outcome = ItemStatus.CONFLICT if refusal.status == Status.CONFLICT else ItemStatus.FAILED
    at_fault = proposal.items.filter(status=ItemStatus.APPROVED)
    if refusal.item is not None:
        at_fault = at_fault.filter(pk=refusal.item.pk)
    numbers = set(at_fault.values_list("number", flat=True))
    proposal.items.filter(number__in=numbers).update(
        status=outcome, rejection_reason=str(refusal.reason), changed_at=context.now
    )
    move(
        proposal,
        refusal.status,
        _("applied"),
        now=context.now,
        failure=str(refusal.reason),
        failure_code=refusal.code,
    )
    write_proposal_receipt(
        proposal,
        actor=context.actor,
        now=context.now,
        trigger=f"proposal_{refusal.status}",
        only=numbers,
        detail={"applied_by": context.actor.name, "code": refusal.code},
    )
    return proposal

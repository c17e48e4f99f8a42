"""Approve, reject, skip: a person decides about exactly what was shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from agents.rules.protection import Outcome
from common.errors import STATUS_BY_CODE, ApplicationError, Fault, invalid
from common.text import is_blank
from evolution.proposals.choices import ItemStatus, Status
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.operations import operation_for
from evolution.proposals.rules.digests import text_sha256
from evolution.proposals.rules.risk import highest
from evolution.proposals.rules.states import overall_state
from evolution.proposals.services.authority import (
    Decision,
    asks_owner,
    check_owner,
    check_relay,
    check_risk,
    own_words,
)
from evolution.proposals.services.chains import LIVE, check_apart, earlier_bases, recompute_chains
from evolution.proposals.services.checks import Context, logged_checks
from evolution.proposals.services.computing import block_protected, judge, place_of
from evolution.proposals.services.locking import context_of, hash_of, locked, move, touch, wrong_state
from evolution.proposals.services.quarantine import check_trusted
from evolution.proposals.services.receipts import write_proposal_receipt

__all__ = ["Decision", "approve", "check_in_time", "close_without_approval", "reject", "skip"]

_DECIDED = (
    "status",
    "risk",
    "rejection_reason",
    "changed_at",
    "decided_by",
    "decided_by_user",
    "decided_by_key",
    "decided_for",
)


def approve(*, proposal_id: int, decision: Decision) -> Proposal:
    """Approve items; when the last one is decided, the proposal is approved (or rejected, or skipped).

    Errors: STATE_CONFLICT when the proposal or a target is not as shown; VALIDATION_ERROR for a missing
    reason or confirmation, a faulty item or an open conflict; PERMISSION_DENIED for own high-risk changes,
    for what only the owner may approve, and for a relayed decision above low risk;
    PROTECTED_PATHS_UNAVAILABLE. Every check of the protection is logged, also when the approval is refused.
    """
    with logged_checks() as checks:
        proposal = _open(proposal_id, decision, _("approved"))
        check_in_time(proposal, decision.now)
        check_trusted(proposal)
        chosen = _chosen(proposal, decision)
        context = context_of(proposal, decision.actor, decision.now, checks)
        verdicts = {item.number: judge(item, context) for item in chosen}
        owned = {number for number, found in verdicts.items() if asks_owner(found)}
        check_relay(proposal, decision, chosen, owned)
        check_risk(proposal, decision, chosen)
        check_apart(proposal.items.filter(status__in=LIVE))
        for item in chosen:
            _check_item(item, context)
            block_protected(item, verdicts[item.number])
            if item.status == ItemStatus.BLOCKED:
                item.changed_at = decision.now
                continue
            check_owner(proposal, item, verdicts[item.number], decision)
            _decide(item, ItemStatus.APPROVED, "", decision)
        return _settle(proposal, chosen, decision, context)


def reject(*, proposal_id: int, decision: Decision) -> Proposal:
    """Reject items with a reason; a draft is rejected as a whole. Errors: VALIDATION_ERROR, STATE_CONFLICT."""
    if is_blank(decision.reason):
        raise invalid("/reason", _("Say why, so that the same is not proposed again."))
    with logged_checks() as checks:
        proposal = _open(proposal_id, decision, _("rejected"), Status.PENDING, Status.DRAFT)
        is_draft = proposal.status == Status.DRAFT
        chosen = (
            list(proposal.items.filter(status=ItemStatus.PENDING))
            if is_draft
            else _chosen(proposal, decision)
        )
        return _take_out(proposal, chosen, ItemStatus.REJECTED, decision, checks)


def skip(*, proposal_id: int, decision: Decision) -> Proposal:
    """Skip items: no rejection, they may be proposed again. Errors: STATE_CONFLICT."""
    with logged_checks() as checks:
        proposal = _open(proposal_id, decision, _("skipped"))
        return _take_out(proposal, _chosen(proposal, decision), ItemStatus.SKIPPED, decision, checks)


def _take_out(
    proposal: Proposal, chosen: list[ProposalItem], status: str, decision: Decision, checks: list
) -> Proposal:
    owned = {
        item.number
        for item in chosen
        if any(entry["verdict"] == Outcome.NEEDS_OWNER for entry in item.protection)
    }
    if not chosen and proposal.status != Status.DRAFT:
        raise ApplicationError("STATE_CONFLICT", _("No item of this proposal is open."))
    check_relay(proposal, decision, chosen, owned)
    for item in chosen:
        _decide(item, status, own_words(decision.actor, decision.reason), decision)
    context = context_of(proposal, decision.actor, decision.now, checks)
    if proposal.status == Status.DRAFT:
        ProposalItem.objects.bulk_update(chosen, _DECIDED)
        return _finish(proposal, Status.REJECTED, decision)
    return _settle(proposal, chosen, decision, context)


def _open(proposal_id: int, decision: Decision, verb: object, *states: str) -> Proposal:
    """The locked proposal, if it can be decided and is what was shown. Errors: STATE_CONFLICT, VERSION_MISMATCH."""
    proposal = locked(proposal_id, decision.expected)
    if proposal.status not in (states or (Status.PENDING,)):
        raise wrong_state(proposal, verb)
    _check_shown(proposal, decision)
    return proposal


def check_in_time(proposal: Proposal, now: datetime) -> None:
    """What waited too long is neither approved nor edited, also before the nightly job has closed it.

    Errors: STATE_CONFLICT.
    """
    if Proposal.objects.overdue(now).filter(pk=proposal.pk).exists():
        told = _("%(code)s expired at %(moment)s. Reject or skip it; what was skipped may be proposed anew.")
        moment = localtime(proposal.expires_at).isoformat(sep=" ", timespec="seconds")
        raise ApplicationError("STATE_CONFLICT", told % {"code": proposal.code, "moment": moment})


def _check_shown(proposal: Proposal, decision: Decision) -> None:
    """The proposal still is what the person was shown, if they say what that was. Errors: STATE_CONFLICT."""
    if decision.shown_hash is not None and decision.shown_hash != hash_of(proposal.items.all()):
        raise ApplicationError(
            "STATE_CONFLICT", _("The proposal is no longer what you were shown; look at it again.")
        )


def _chosen(proposal: Proposal, decision: Decision) -> list[ProposalItem]:
    """The open items that the decision names. Errors: VALIDATION_ERROR for unknown ones or none, STATE_CONFLICT."""
    items = {item.number: item for item in proposal.items.order_by("number")}
    if decision.items is None:
        return [item for item in items.values() if item.status == ItemStatus.PENDING]
    if not decision.items:
        raise invalid("/items", _("Name at least one item, or leave “items” out for all that are open."))
    unknown = sorted(set(decision.items) - items.keys())
    if unknown:
        raise invalid("/items", _("No such items: %(numbers)s.") % {"numbers": ", ".join(map(str, unknown))})
    chosen = [items[number] for number in sorted(set(decision.items))]
    decided = [item for item in chosen if item.status != ItemStatus.PENDING]
    if decided:
        raise ApplicationError(
            "STATE_CONFLICT",
            _("Item %(number)d is %(status)s already.")
            % {"number": decided[0].number, "status": decided[0].get_status_display()},
        )
    return chosen


def _check_item(item: ProposalItem, context: Context) -> None:
    """Nothing is wrong with the item, nothing open, and its target is still what it was worked out on."""
    if item.faults:
        stored = [Fault("", fault["code"], fault["detail"]) for fault in item.faults]
        raise _faulty(item, stored)
    if item.conflicts and not item.conflict_choice:
        raise invalid(
            f"/items/{item.number}/conflict_choice",
            _(
                "Item %(number)d has a conflict: first choose whether the old line stays (keep_old), is replaced "
                "(replace), stays beside the new one (keep_both), or the item is dropped (drop)."
            )
            % {"number": item.number},
        )
    earlier = item.proposal.items.filter(target_key=item.target_key, number__lt=item.number, status__in=LIVE)
    if earlier.exists():
        return  # its base is what the earlier item leaves; applying checks the whole chain
    try:
        current = operation_for(item.operation, item.target).current(place_of(item, context)).text
    except ApplicationError as error:
        raise ApplicationError("STATE_CONFLICT", error.message) from error
    if text_sha256(current) != item.base_sha256:
        raise ApplicationError(
            "STATE_CONFLICT",
            _("%(target)s changed since this was proposed; edit the item to see the new difference.")
            % {"target": item.target},
        )
    _check_storable(item, context)


def _check_storable(item: ProposalItem, context: Context) -> None:
    """What could be stored when it was drafted still can. Errors: those of the operation."""
    place = replace(place_of(item, context), beside=earlier_bases(item, item.proposal.items.all()))
    faults = operation_for(item.operation, item.target).faults(place, item.new_text)
    if faults:
        raise _faulty(item, faults)


def _faulty(item: ProposalItem, found: Iterable[Fault]) -> ApplicationError:
    """What is wrong with an item, as an error of the request that wants to approve it."""
    faults = [replace(fault, pointer=f"/items/{item.number}") for fault in found]
    code = faults[0].code if faults[0].code in STATUS_BY_CODE else "VALIDATION_ERROR"
    return ApplicationError(code, faults[0].detail, errors=faults)


def _decide(item: ProposalItem, status: str, reason: str, decision: Decision) -> None:
    item.status, item.rejection_reason, item.changed_at = status, reason, decision.now
    item.decided_by, item.decided_by_user_id = decision.actor.name[:200], decision.actor.user_id
    item.decided_by_key_id = decision.actor.key_id
    item.decided_for = "" if decision.actor.is_person else decision.decided_by


def _settle(proposal: Proposal, chosen: list[ProposalItem], decision: Decision, context: Context) -> Proposal:
    """Store what was decided, work out again what depended on it, close the proposal when nothing is open."""
    ProposalItem.objects.bulk_update(chosen, _DECIDED)
    recompute_chains(proposal, context)
    state = overall_state(proposal.items.values_list("status", flat=True))
    taken_out = {item.number for item in chosen if item.status != ItemStatus.APPROVED}
    if taken_out and state in (None, Status.APPROVED):
        # The closing receipt comes with the apply; what was taken out before is receipted now.
        write_proposal_receipt(
            proposal, actor=decision.actor, now=decision.now, trigger="items_taken_out", only=taken_out
        )
    if state is None:
        risk = highest(proposal.items.values_list("risk", flat=True))
        touch(proposal, now=decision.now, risk=risk, decision_reason=_reasons(proposal, decision))
        return proposal
    return _finish(proposal, state, decision)


def _reasons(proposal: Proposal, decision: Decision) -> str:
    """All reasons given so far: items may be decided one by one, by several people."""
    reasons = [proposal.decision_reason, own_words(decision.actor, decision.reason)]
    return "\n".join(dict.fromkeys(reason for reason in reasons if reason))


def close_without_approval(proposal: Proposal, decision: Decision) -> bool:
    """Close a pending proposal whose last open item was taken out, unless an item of it is approved.

    Then it stays open: only somebody who may approve ends it with an approval. True when it was closed.
    """
    state = overall_state(proposal.items.values_list("status", flat=True))
    if proposal.status != Status.PENDING or state is None or state == Status.APPROVED:
        return False
    _finish(proposal, state, decision)
    return True


def _finish(proposal: Proposal, state: str, decision: Decision) -> Proposal:
    fields: dict[str, Any] = {"decision_reason": _reasons(proposal, decision)}
    if state == Status.APPROVED:
        approved = list(proposal.items.filter(status=ItemStatus.APPROVED))
        last = max(approved, key=lambda item: (item.changed_at, item.number))
        fields |= {
            "approved_by": last.decided_by,
            "approved_by_user_id": last.decided_by_user_id,
            "decided_by": last.decided_for,
            "approved_at": last.changed_at,
            "approved_hash": hash_of(approved),
        }
    move(proposal, state, _("decided"), now=decision.now, **fields)
    if state != Status.APPROVED:
        write_proposal_receipt(proposal, actor=decision.actor, now=decision.now, trigger=f"proposal_{state}")
    return proposal

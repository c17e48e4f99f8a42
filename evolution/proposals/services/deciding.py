"""Approve, reject, skip: a person decides about exactly what was shown."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from agents.rules.paths import is_user_path, user_of
from agents.rules.protection import Outcome, Verdict
from agents.services.protection import named
from common.actors import Actor
from common.errors import ApplicationError, invalid
from common.text import clean, is_blank, name_key
from evolution.proposals.choices import ItemStatus, Risk, Status
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.operations import Place, operation_for
from evolution.proposals.rules.digests import text_sha256
from evolution.proposals.rules.risk import highest
from evolution.proposals.rules.states import overall_state
from evolution.proposals.services.chains import recompute_chains
from evolution.proposals.services.computing import Context, judge
from evolution.proposals.services.locking import hash_of, locked, move, touch, wrong_state
from evolution.proposals.services.receipts import write_proposal_receipt


@dataclass(frozen=True)
class Decision:
    """Who decides what. `items` are item numbers, None = all that are open; `shown_hash` is the digest of what the
    person saw; `confirmation` is the typed name of the agent; `decided_by` the end user for whom a key relays."""

    actor: Actor
    now: datetime
    items: Collection[int] | None = None
    reason: str = ""
    confirmation: str = ""
    decided_by: str = ""
    shown_hash: str | None = None
    expected: Collection[int] | None = None


@transaction.atomic
def approve(*, proposal_id: int, decision: Decision) -> Proposal:
    """Approve items; when the last one is decided, the proposal is approved (or rejected, or skipped).

    Errors: STATE_CONFLICT when the proposal or a target is not as shown; VALIDATION_ERROR for a missing
    reason or confirmation, a faulty item or an open conflict; PERMISSION_DENIED for own high-risk changes,
    for what only the owner may approve, and for a relayed decision above low risk.
    """
    proposal = _open(proposal_id, decision, _("approved"))
    chosen = _chosen(proposal, decision)
    _check_shown(proposal, decision)
    _check_relay(proposal, decision, chosen)
    _check_risk(proposal, decision, chosen)
    context = Context(proposal.agent, proposal.company, decision.actor, proposal.code, decision.now)
    blocked = []
    for item in chosen:
        _check_item(item, context)
        verdicts = judge(item, context)
        if any(verdict.verdict is Outcome.BLOCKED for verdict in verdicts):
            item.status, item.risk = ItemStatus.BLOCKED, Risk.FORBIDDEN
            item.rejection_reason = f"PROTECTED_PATH: {named(verdicts[0])}"
            blocked.append(item)
            continue
        check_protected_approval(proposal, item, verdicts, decision)
        item.status = ItemStatus.APPROVED
    ProposalItem.objects.bulk_update(chosen, ["status", "risk", "rejection_reason"])
    return _settle(proposal, decision)


@transaction.atomic
def reject(*, proposal_id: int, decision: Decision) -> Proposal:
    """Reject items with a reason; a draft may be rejected as a whole. Errors: VALIDATION_ERROR, STATE_CONFLICT."""
    if is_blank(decision.reason):
        raise invalid("/reason", _("Say why, so that the same is not proposed again."))
    proposal = locked(proposal_id, decision.expected)
    if proposal.status not in (Status.PENDING, Status.DRAFT):
        raise wrong_state(proposal, _("rejected"))
    chosen = _chosen(proposal, decision)
    _check_relay(proposal, decision, chosen)
    _set(chosen, ItemStatus.REJECTED, clean(decision.reason))
    if proposal.status == Status.DRAFT:
        _set(
            list(proposal.items.filter(status=ItemStatus.PENDING)),
            ItemStatus.REJECTED,
            clean(decision.reason),
        )
        return _finish(proposal, Status.REJECTED, decision)
    return _settle(proposal, decision)


@transaction.atomic
def skip(*, proposal_id: int, decision: Decision) -> Proposal:
    """Skip items: no rejection, they may be proposed again. Errors: STATE_CONFLICT."""
    proposal = _open(proposal_id, decision, _("skipped"))
    chosen = _chosen(proposal, decision)
    _check_relay(proposal, decision, chosen)
    _set(chosen, ItemStatus.SKIPPED, clean(decision.reason))
    return _settle(proposal, decision)


def _open(proposal_id: int, decision: Decision, verb: object) -> Proposal:
    proposal = locked(proposal_id, decision.expected)
    if proposal.status != Status.PENDING:
        raise wrong_state(proposal, verb)
    return proposal


def _chosen(proposal: Proposal, decision: Decision) -> list[ProposalItem]:
    """The open items that the decision names. Errors: VALIDATION_ERROR for unknown, STATE_CONFLICT for decided ones."""
    items = {item.number: item for item in proposal.items.order_by("number")}
    if decision.items is None:
        return [item for item in items.values() if item.status == ItemStatus.PENDING]
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


def _check_shown(proposal: Proposal, decision: Decision) -> None:
    if decision.shown_hash is None:
        return
    if decision.shown_hash != hash_of(proposal.items.all()):
        raise ApplicationError(
            "STATE_CONFLICT", _("The proposal is no longer what you were shown; look at it again.")
        )


def _check_relay(proposal: Proposal, decision: Decision, chosen: list[ProposalItem]) -> None:
    """A key may relay a named end user's decision on a low-risk proposal, and nothing else."""
    if decision.actor.is_person:
        return
    if is_blank(decision.decided_by):
        raise invalid("/decided_by", _("Name the end user whose decision this is."))
    if highest([proposal.risk, *(item.risk for item in chosen)]) != Risk.LOW:
        raise ApplicationError(
            "PERMISSION_DENIED", _("Only low-risk proposals can be decided through a key; this needs staff.")
        )
    theirs = all(user_of(item.target) == decision.decided_by for item in chosen)
    if not theirs:
        raise ApplicationError("PERMISSION_DENIED", _("A user decides only about their own files."))


def _check_risk(proposal: Proposal, decision: Decision, chosen: list[ProposalItem]) -> None:
    if highest(item.risk for item in chosen) != Risk.HIGH:
        return
    if is_blank(decision.reason):
        raise invalid("/reason", _("A high-risk change needs a reason."))
    check_confirmation(proposal, decision)
    authors = {proposal.created_by_user_id, proposal.last_edited_by_user_id} - {None}
    if decision.actor.user_id in authors and not settings.PROPOSALS_ALLOW_SELF_APPROVAL:
        raise ApplicationError(
            "PERMISSION_DENIED",
            _("You proposed or edited this high-risk change; somebody else must approve it."),
        )


def check_confirmation(proposal: Proposal, decision: Decision) -> None:
    """The typed confirmation is the agent's name. Errors: VALIDATION_ERROR."""
    if name_key(decision.confirmation) != name_key(proposal.agent.name):
        raise invalid(
            "/confirmation",
            _("Type the agent's name, “%(name)s”, to confirm.") % {"name": proposal.agent.name},
        )


def _check_item(item: ProposalItem, context: Context) -> None:
    if item.faults:
        raise invalid(f"/items/{item.number}", item.faults[0]["detail"], code=item.faults[0]["code"])
    if item.conflicts and not item.conflict_choice:
        raise invalid(
            f"/items/{item.number}/conflict_choice",
            _("Item %(number)d has a conflict: choose keep_old, replace, keep_both or drop.")
            % {"number": item.number},
        )
    place = Place(context.agent, context.company, item.target, item.new_target)
    earlier = item.proposal.items.filter(
        target=item.target, number__lt=item.number, status__in=[ItemStatus.PENDING, ItemStatus.APPROVED]
    )
    if earlier.exists():
        return  # its base is what the earlier item leaves; applying checks the whole chain
    current = operation_for(item.operation, item.target).current(place)
    if text_sha256(current.text) != item.base_sha256:
        raise ApplicationError(
            "STATE_CONFLICT",
            _("%(target)s changed since this was proposed; edit the item to see the new difference.")
            % {"target": item.target},
        )


def check_protected_approval(
    proposal: Proposal, item: ProposalItem, verdicts: list[Verdict], decision: Decision
) -> None:
    """Who may approve a protected change: the owner, or the user whose files they are; some need typing a name.

    Errors: PERMISSION_DENIED, VALIDATION_ERROR.
    """
    for verdict in verdicts:
        if verdict.verdict is Outcome.NEEDS_CONFIRMATION:
            check_confirmation(proposal, decision)
        if verdict.verdict is not Outcome.NEEDS_OWNER:
            continue
        if is_user_path(item.target):
            approved = user_of(item.target) == decision.decided_by
        else:
            approved = decision.actor.is_person and decision.actor.user_id == proposal.agent.owner_id
        if not approved:
            raise ApplicationError(
                "PERMISSION_DENIED",
                _("Only the owner may approve a change of %(rule)s.") % {"rule": named(verdict)},
            )


def _set(items: list[ProposalItem], status: str, reason: str) -> None:
    for item in items:
        item.status, item.rejection_reason = status, reason
    ProposalItem.objects.bulk_update(items, ["status", "rejection_reason"])


def _settle(proposal: Proposal, decision: Decision) -> Proposal:
    """Recompute what depended on items that were taken out; close the proposal when nothing is open."""
    context = Context(proposal.agent, proposal.company, decision.actor, proposal.code, decision.now)
    recompute_chains(proposal, context)
    state = overall_state(proposal.items.values_list("status", flat=True))
    if state is None:
        touch(proposal, now=decision.now, risk=highest(proposal.items.values_list("risk", flat=True)))
        return proposal
    return _finish(proposal, state, decision)


def close_without_approval(proposal: Proposal, decision: Decision) -> None:
    """Close a pending proposal whose last open item was taken out, unless an item of it is approved.

    Then it stays open: only somebody who may approve ends it with an approval.
    """
    state = overall_state(proposal.items.values_list("status", flat=True))
    if proposal.status == Status.PENDING and state not in (None, Status.APPROVED):
        _finish(proposal, state, decision)


def _finish(proposal: Proposal, state: str, decision: Decision) -> Proposal:
    fields: dict = {"decision_reason": clean(decision.reason)}
    if state == Status.APPROVED:
        approved = proposal.items.filter(status=ItemStatus.APPROVED)
        fields |= {
            "approved_by": decision.actor.name[:200],
            "approved_by_user_id": decision.actor.user_id,
            "decided_by": decision.decided_by,
            "approved_at": decision.now,
            "approved_hash": hash_of(approved),
        }
    move(proposal, state, _("decided"), now=decision.now, **fields)
    if state != Status.APPROVED:
        write_proposal_receipt(proposal, actor=decision.actor, now=decision.now, trigger=f"proposal_{state}")
    return proposal

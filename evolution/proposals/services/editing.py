"""Edit an item, choose about a conflict, submit a draft, propose again on the current text."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from common.actors import Actor
from common.errors import ApplicationError, invalid
from common.text import clean, is_blank, length
from evolution.proposals.choices import ConflictChoice, ItemStatus, Status
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.rules.placement import heading_for, with_line, without_line
from evolution.proposals.rules.risk import highest
from evolution.proposals.rules.states import EDITABLE
from evolution.proposals.services.chains import recompute_chains
from evolution.proposals.services.computing import Context, compute
from evolution.proposals.services.deciding import Decision, close_without_approval
from evolution.proposals.services.drafting import EXPIRES_AFTER, MAX_CONTENT
from evolution.proposals.services.locking import locked, move, touch, wrong_state
from evolution.proposals.services.receipts import write_proposal_receipt

_EDITABLE_ITEMS = (ItemStatus.PENDING, ItemStatus.APPROVED, ItemStatus.BLOCKED)


@transaction.atomic
def edit_item(
    *,
    proposal_id: int,
    number: int,
    changes: Mapping[str, Any],
    actor: Actor,
    now: datetime,
    expected: Collection[int] | None = None,
) -> ProposalItem:
    """Change `content`, `new_text` or `target` of an item, or choose about its conflict (`conflict_choice`).

    Diff, risk, protection and conflicts are worked out again on the current text; an approved proposal is
    pending again. With no change at all the item is only worked out again.
    Errors: STATE_CONFLICT, NOT_FOUND, VALIDATION_ERROR, VERSION_MISMATCH.
    """
    proposal = locked(proposal_id, expected)
    if proposal.status not in EDITABLE:
        raise wrong_state(proposal, _("edited"))
    item = proposal.items.filter(number=number).first()
    if item is None:
        raise ApplicationError("NOT_FOUND", _("The proposal has no item %(number)d.") % {"number": number})
    if item.status not in _EDITABLE_ITEMS:
        raise ApplicationError(
            "STATE_CONFLICT", _("Item %(number)d is decided already.") % {"number": number}
        )
    context = Context(proposal.agent, proposal.company, actor, proposal.code, now)
    choice = changes.get("conflict_choice")
    if choice is not None:
        _choose(item, choice, context)
    else:
        _change(item, changes, context)
    item.save()
    recompute_chains(proposal, context)
    _after_edit(proposal, actor, now)
    if item.status == ItemStatus.SKIPPED:
        close_without_approval(proposal, Decision(actor, now, reason=item.rejection_reason))
    return ProposalItem.objects.get(pk=item.pk)


def _change(item: ProposalItem, changes: Mapping[str, Any], context: Context) -> None:
    new_text = item.new_text if item.whole_text else None
    if changes.get("content") is not None:
        item.content, new_text = _checked_content(changes["content"]), None
    if changes.get("new_text") is not None:
        new_text = changes["new_text"]
    if changes.get("target") is not None:
        item.target = changes["target"]
    item.rejection_reason = item.conflict_choice = ""
    compute(item, context, _earlier_bases(item), new_text)


def _earlier_bases(item: ProposalItem) -> dict[str, str | None]:
    """What earlier live items leave at their targets."""
    earlier = item.proposal.items.filter(
        number__lt=item.number, status__in=[ItemStatus.PENDING, ItemStatus.APPROVED]
    ).order_by("number")
    chaining = [other for other in earlier if other.operation in ("create", "update", "update_experience")]
    return {other.target: other.new_text for other in chaining}


def _checked_content(value: Any) -> str:
    if not isinstance(value, str) or is_blank(value):
        raise invalid("/content", _("Say what is to be written."))
    if length(value) > MAX_CONTENT:
        raise invalid(
            "/content",
            _("At most %(limit)d characters; this has %(actual)d: remove %(excess)d.")
            % {"limit": MAX_CONTENT, "actual": length(value), "excess": length(value) - MAX_CONTENT},
        )
    return clean(value)


def _choose(item: ProposalItem, choice: Any, context: Context) -> None:
    """Keep old and drop take the item out; keep both lets it stand; replace takes the old lines away."""
    if choice not in ConflictChoice.values:
        known = ", ".join(ConflictChoice.values)
        raise invalid("/conflict_choice", _("Unknown value; there are: %(known)s.") % {"known": known})
    if not item.conflicts:
        raise ApplicationError("STATE_CONFLICT", _("This item has no conflict."))
    if choice in (ConflictChoice.KEEP_OLD, ConflictChoice.DROP):
        item.status = ItemStatus.SKIPPED
        item.rejection_reason = str(_("conflict: %(choice)s") % {"choice": choice})
    elif choice == ConflictChoice.REPLACE:
        _replace_old_lines(item, context)
    item.conflict_choice = choice


def _replace_old_lines(item: ProposalItem, context: Context) -> None:
    places = {conflict["where"] for conflict in item.conflicts}
    rows = sorted(place for place in places if place.startswith("experiences/"))
    if item.operation == "add_experience" and len(rows) == 1 and len(places) == 1:
        item.operation, item.target = "update_experience", rows[0]
        compute(item, context, _earlier_bases(item))
        return
    if rows or not item.content:
        raise invalid(
            "/conflict_choice",
            _(
                "Here the old line cannot be replaced by itself; choose keep_old, keep_both or drop, or edit the text."
            ),
        )
    base = item.base_text or ""
    for conflict in item.conflicts:
        base = without_line(base, conflict["text"])
    new_text = with_line(base, item.content, heading_for(item.type, context.agent.language))
    compute(item, context, _earlier_bases(item), new_text)
    item.conflicts = []


def _after_edit(proposal: Proposal, actor: Actor, now: datetime) -> None:
    items = list(proposal.items.all())
    fields: dict[str, Any] = {
        "risk": highest(item.risk for item in items),
        "last_edited_by": actor.name[:200],
        "last_edited_by_user_id": actor.user_id,
    }
    if proposal.needs_content and all(item.content or item.whole_text for item in items):
        fields["needs_content"] = False
    if proposal.status == Status.APPROVED:
        fields |= {"approved_hash": "", "approved_by": "", "approved_by_user_id": None, "approved_at": None}
        fields |= {"pending_at": now, "expires_at": now + EXPIRES_AFTER}
        move(proposal, Status.PENDING, _("edited"), now=now, **fields)
        return
    touch(proposal, now=now, **fields)
    if proposal.status == Status.DRAFT and not proposal.needs_content:
        _become_pending(proposal, now)


@transaction.atomic
def submit(
    *, proposal_id: int, actor: Actor, now: datetime, expected: Collection[int] | None = None
) -> Proposal:
    """Let a draft wait for a decision. Errors: STATE_CONFLICT; VALIDATION_ERROR while content is missing."""
    proposal = locked(proposal_id, expected)
    if proposal.status != Status.DRAFT:
        raise wrong_state(proposal, _("submitted"))
    if proposal.needs_content or not proposal.items.exists():
        raise invalid("/items", _("Say first what is to be written."))
    _become_pending(proposal, now)
    return proposal


def _become_pending(proposal: Proposal, now: datetime) -> None:
    states = set(proposal.items.values_list("status", flat=True))
    if states == {ItemStatus.BLOCKED}:
        move(proposal, Status.BLOCKED, _("submitted"), now=now)
        return
    times = {"pending_at": now, "expires_at": now + EXPIRES_AFTER}
    move(proposal, Status.PENDING, _("submitted"), now=now, **times)


@transaction.atomic
def repropose(
    *, proposal_id: int, actor: Actor, now: datetime, expected: Collection[int] | None = None
) -> Proposal:
    """Work a conflicting, failed or blocked proposal out again on the current text; it waits for a decision anew.

    Errors: STATE_CONFLICT.
    """
    proposal = locked(proposal_id, expected)
    move(
        proposal,
        Status.DRAFT,
        _("proposed again"),
        now=now,
        failure="",
        approved_hash="",
        approved_by="",
        approved_by_user_id=None,
        approved_at=None,
    )
    context = Context(proposal.agent, proposal.company, actor, proposal.code, now)
    bases: dict[str, str | None] = {}
    for item in proposal.items.exclude(status__in=[ItemStatus.REJECTED, ItemStatus.SKIPPED]).order_by(
        "number"
    ):
        item.rejection_reason = item.conflict_choice = ""
        compute(item, context, bases, item.new_text if item.whole_text else None)
        item.save()
    touch(proposal, now=now, risk=highest(proposal.items.values_list("risk", flat=True)))
    _become_pending(proposal, now)
    return proposal


@transaction.atomic
def expire_overdue(*, actor: Actor, now: datetime, limit: int = 1000) -> int:
    """Expire pending proposals whose 30 days are over; their items count as skipped. Returns how many."""
    expired = 0
    for pk in list(Proposal.objects.overdue(now).order_by("pk").values_list("pk", flat=True)[:limit]):
        proposal = locked(pk)
        if proposal.status != Status.PENDING:
            continue
        proposal.items.filter(status=ItemStatus.PENDING).update(
            status=ItemStatus.SKIPPED, rejection_reason=str(_("expired"))
        )
        move(proposal, Status.EXPIRED, _("expired"), now=now)
        write_proposal_receipt(proposal, actor=actor, now=now, trigger="proposal_expired")
        expired += 1
    return expired

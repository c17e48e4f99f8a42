"""Edit an item, choose about a conflict, submit a draft, propose again on the current text."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.actors import Actor
from common.errors import ApplicationError, invalid
from common.text import clean, is_blank, length
from evolution.proposals.choices import ConflictChoice, ItemStatus, Status
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.operations import operation_for
from evolution.proposals.rules.digests import text_sha256
from evolution.proposals.rules.entries import without_entries
from evolution.proposals.rules.placement import heading_for, with_line
from evolution.proposals.rules.risk import highest
from evolution.proposals.rules.states import EDITABLE
from evolution.proposals.services.authority import Decision
from evolution.proposals.services.chains import LIVE, earlier_bases, recompute_chains, text_now
from evolution.proposals.services.checks import Context, logged_checks
from evolution.proposals.services.computing import Bases, compute, recompute
from evolution.proposals.services.deciding import check_in_time, close_without_approval
from evolution.proposals.services.drafting import EXPIRES_AFTER, MAX_CONTENT
from evolution.proposals.services.locking import context_of, hash_of, locked, move, touch, wrong_state
from evolution.proposals.services.receipts import write_proposal_receipt

_EDITABLE_ITEMS = (*LIVE, ItemStatus.BLOCKED)
_NOT_APPROVED: dict[str, Any] = {
    "approved_hash": "",
    "approved_by": "",
    "approved_by_user_id": None,
    "approved_at": None,
    "decided_by": "",
}


def edit_item(
    *,
    proposal_id: int,
    number: int,
    changes: Mapping[str, Any],
    actor: Actor,
    now: datetime,
    expected: Collection[int] | None = None,
) -> ProposalItem:
    """Change `content`, `new_text`, `target` or `new_target` of an item, or choose about its conflict
    (`conflict_choice`).

    Diff, risk, protection and conflicts are worked out again on the current text, and the item is open again;
    an approved proposal is pending again. With no change at all the item is only worked out again.
    Errors: STATE_CONFLICT, NOT_FOUND, VALIDATION_ERROR, VERSION_MISMATCH.
    """
    with logged_checks() as checks:
        proposal = locked(proposal_id, expected)
        if proposal.status not in EDITABLE:
            raise wrong_state(proposal, _("edited"))
        check_in_time(proposal, now)
        item = _item(proposal, number)
        context = context_of(proposal, actor, now, checks)
        was_blocked, shown = item.status == ItemStatus.BLOCKED, hash_of([item])
        choice = changes.get("conflict_choice")
        if choice is not None:
            _choose(item, choice, context)
        else:
            _change(item, changes, context)
        # To choose about a conflict is no authorship, unless it changes what would be written.
        is_author = choice is None or hash_of([item]) != shown
        if is_author:
            item.edited_by_user_id = actor.user_id
        item.save()
        recompute_chains(proposal, context)
        _after_edit(proposal, actor if is_author else None, now)
        _receipt_of_edit(proposal, item, was_blocked, actor, now)
    return ProposalItem.objects.get(pk=item.pk)


def work_out_again(
    *, proposal_id: int, actor: Actor, now: datetime, expected: Collection[int] | None = None
) -> bool:
    """Work the items of a waiting proposal out again whose target has changed since; whether there were any.

    The words stay the proposer's, so who asks for it becomes no author and may still approve. An item that
    was approved on the old text is open again. Errors: STATE_CONFLICT, VERSION_MISMATCH.
    """
    with logged_checks() as checks:
        proposal = locked(proposal_id, expected)
        if proposal.status != Status.PENDING:
            raise wrong_state(proposal, _("worked out again"))
        check_in_time(proposal, now)
        stale = _stale_items_again(proposal, context_of(proposal, actor, now, checks))
        if stale:
            touch(proposal, now=now, risk=highest(proposal.items.values_list("risk", flat=True)))
        for item in stale:
            _receipt_of_edit(proposal, item, was_blocked=False, actor=actor, now=now)
    return bool(stale)


def _stale_items_again(proposal: Proposal, context: Context) -> list[ProposalItem]:
    bases: Bases = {}
    stale = []
    for item in proposal.items.filter(status__in=LIVE).order_by("number"):
        operation = operation_for(item.operation, item.target)
        base = bases.get(item.target_key, text_now(item, context))
        if text_sha256(base) != item.base_sha256:
            _open_again(item)
            item.conflict_choice = ""
            recompute(item, context, bases)
            item.save()
            stale.append(item)
        if operation.chains:
            bases[item.target_key] = item.new_text
    return stale


def _item(proposal: Proposal, number: int) -> ProposalItem:
    item = proposal.items.filter(number=number).first()
    if item is None:
        raise ApplicationError("NOT_FOUND", _("The proposal has no item %(number)d.") % {"number": number})
    if item.status not in _EDITABLE_ITEMS:
        raise ApplicationError(
            "STATE_CONFLICT", _("Item %(number)d is decided already.") % {"number": number}
        )
    return item


def _change(item: ProposalItem, changes: Mapping[str, Any], context: Context) -> None:
    new_text = item.new_text if item.whole_text else None
    if changes.get("content") is not None:
        item.content, new_text = _checked_content(changes["content"]), None
    if changes.get("new_text") is not None:
        new_text = changes["new_text"]
    for name in ("target", "new_target"):
        if changes.get(name) is not None:
            setattr(item, name, changes[name])
    _open_again(item)
    item.conflict_choice = ""
    compute(item, context, earlier_bases(item, item.proposal.items.all()), new_text)


def _open_again(item: ProposalItem) -> None:
    """The item waits for a decision, whoever decided about it before."""
    item.status, item.rejection_reason = ItemStatus.PENDING, ""
    item.decided_by, item.decided_by_user, item.decided_by_key, item.decided_for = "", None, None, ""


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
    _open_again(item)
    item.changed_at = context.now
    if choice in (ConflictChoice.KEEP_OLD, ConflictChoice.DROP):
        item.status = ItemStatus.SKIPPED
        item.decided_by, item.decided_by_user_id = context.actor.name[:200], context.actor.user_id
        item.rejection_reason = str(_("conflict: %(choice)s") % {"choice": ConflictChoice(choice).label})
    elif choice == ConflictChoice.REPLACE:
        _replace_old_lines(item, context)
    item.conflict_choice = choice


def _replace_old_lines(item: ProposalItem, context: Context) -> None:
    """Write the new line instead of those that it repeats or contradicts; the conflicts stay on record."""
    conflicts, bases = item.conflicts, earlier_bases(item, item.proposal.items.all())
    places = {conflict["where"] for conflict in conflicts}
    rows = sorted(place for place in places if place.startswith("experiences/"))
    if item.operation == "add_experience" and places == set(rows[:1]):
        item.operation, item.target = "update_experience", rows[0]
        compute(item, context, bases)
    elif rows or not item.content:
        raise invalid(
            "/conflict_choice",
            _(
                "Here the old line cannot be replaced by itself; choose keep_old, keep_both or drop, or edit the text."
            ),
        )
    else:
        base = without_entries(item.base_text or "", [conflict["text"] for conflict in conflicts])
        new_text = with_line(base, item.content, heading_for(item.type, context.language))
        compute(item, context, bases, new_text)
    item.conflicts = conflicts


def _after_edit(proposal: Proposal, author: Actor | None, now: datetime) -> None:
    items = list(proposal.items.all())
    fields: dict[str, Any] = {"risk": highest(item.risk for item in items)}
    if author is not None:
        fields |= {"last_edited_by": author.name[:200], "last_edited_by_user_id": author.user_id}
    if proposal.needs_content and all(item.content or item.whole_text for item in items):
        fields["needs_content"] = False
    if proposal.status == Status.APPROVED:
        times = {"pending_at": now, "expires_at": now + EXPIRES_AFTER}
        move(proposal, Status.PENDING, _("edited"), now=now, **fields, **_NOT_APPROVED, **times)
        return
    touch(proposal, now=now, **fields)
    if proposal.status == Status.DRAFT and not proposal.needs_content:
        _become_pending(proposal, now)


def _receipt_of_edit(
    proposal: Proposal, item: ProposalItem, was_blocked: bool, actor: Actor, now: datetime
) -> None:
    """An item that the edit took out, or that is forbidden now, has its line in a receipt."""
    is_out = item.status == ItemStatus.SKIPPED or (item.status == ItemStatus.BLOCKED and not was_blocked)
    if not is_out or close_without_approval(proposal, Decision(actor, now, reason=item.rejection_reason)):
        return
    write_proposal_receipt(proposal, actor=actor, now=now, trigger="items_taken_out", only={item.number})


def submit(
    *, proposal_id: int, actor: Actor, now: datetime, expected: Collection[int] | None = None
) -> Proposal:
    """Let a draft wait for a decision. Errors: STATE_CONFLICT; VALIDATION_ERROR while content is missing."""
    with logged_checks():
        proposal = locked(proposal_id, expected)
        if proposal.status != Status.DRAFT:
            raise wrong_state(proposal, _("submitted"))
        if proposal.needs_content or not proposal.items.exists():
            raise invalid("/items", _("Say first what is to be written."))
        _become_pending(proposal, now)
    return proposal


def _become_pending(proposal: Proposal, now: datetime) -> None:
    """A draft waits for a decision, unless all of it is forbidden."""
    if not proposal.items.exclude(status=ItemStatus.BLOCKED).exists():
        move(proposal, Status.BLOCKED, _("submitted"), now=now)
        return
    times = {"pending_at": now, "expires_at": now + EXPIRES_AFTER}
    move(proposal, Status.PENDING, _("submitted"), now=now, **times)


def repropose(
    *, proposal_id: int, actor: Actor, now: datetime, expected: Collection[int] | None = None
) -> Proposal:
    """Work a conflicting, failed or blocked proposal out again on the current text; it waits for a decision anew.

    While all of it is still forbidden it stays a draft, to be edited or rejected.
    Errors: STATE_CONFLICT.
    """
    with logged_checks() as checks:
        proposal = locked(proposal_id, expected)
        fresh: dict[str, Any] = {"failure": "", "failure_code": "", "decision_reason": "", **_NOT_APPROVED}
        move(proposal, Status.DRAFT, _("proposed again"), now=now, **fresh)
        context = context_of(proposal, actor, now, checks)
        newly_blocked = _worked_out_again(proposal, context)
        if newly_blocked:
            write_proposal_receipt(
                proposal, actor=actor, now=now, trigger="items_blocked", only=newly_blocked
            )
        touch(proposal, now=now, risk=highest(proposal.items.values_list("risk", flat=True)))
        if proposal.items.exclude(status__in=(ItemStatus.BLOCKED, *_OUT)).exists():
            _become_pending(proposal, now)
    return proposal


_OUT = (ItemStatus.REJECTED, ItemStatus.SKIPPED)


def _worked_out_again(proposal: Proposal, context: Context) -> set[int]:
    """Work out all items that are not rejected or skipped; the numbers of those that are blocked only now."""
    bases: dict[str, str | None] = {}
    blocked = set()
    for item in proposal.items.exclude(status__in=_OUT).order_by("number"):
        was_blocked = item.status == ItemStatus.BLOCKED
        _open_again(item)
        item.conflict_choice = ""
        recompute(item, context, bases)
        item.save()
        if item.status == ItemStatus.BLOCKED and not was_blocked:
            blocked.add(item.number)
    return blocked

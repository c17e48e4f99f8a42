"""Items of one proposal on one target build on each other; taking one out changes what follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from django.utils.translation import gettext_lazy as _

from agents.rules.paths import path_key
from common.errors import ApplicationError
from evolution.proposals.choices import ItemStatus
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.operations import operation_for
from evolution.proposals.rules.digests import text_sha256
from evolution.proposals.services.checks import Context
from evolution.proposals.services.computing import Bases, place_of, recompute

LIVE = (ItemStatus.PENDING, ItemStatus.APPROVED)


def earlier_bases(item: ProposalItem, others: Iterable[ProposalItem]) -> Bases:
    """What live items in front of this one leave at their targets."""
    bases: Bases = {}
    for other in sorted(others, key=lambda other: other.number):
        if other.number >= item.number or other.status not in LIVE:
            continue
        if operation_for(other.operation, other.target).chains:
            bases[other.target_key] = other.new_text
    return bases


def recompute_chains(proposal: Proposal, context: Context) -> list[ProposalItem]:
    """Work out again each live item whose base is no longer what the items before it leave.

    Such an item is open again, also when it was approved: what was shown is no longer what it would write.
    Only items that follow another one on their target are looked at: a target that others changed in the
    meantime stays visible as stale until somebody edits the item. Returns the recomputed items.
    """
    items = [item for item in proposal.items.order_by("number") if item.status != ItemStatus.BLOCKED]
    counts = Counter(item.target_key for item in items)
    bases: Bases = {}
    changed = []
    for item in items:
        operation = operation_for(item.operation, item.target)
        if counts[item.target_key] < 2 or item.status not in LIVE or not operation.chains:
            continue
        base = bases.get(item.target_key, text_now(item, context))
        if text_sha256(base) != item.base_sha256:
            recompute(item, context, bases)
            item.conflict_choice = ""
            item.save()
            changed.append(item)
        bases[item.target_key] = item.new_text
    return changed


def text_now(item: ProposalItem, context: Context) -> str | None:
    """What stands at the item's target; None when there is nothing, or nothing that it could change."""
    try:
        return operation_for(item.operation, item.target).current(place_of(item, context)).text
    except ApplicationError:
        return None


def check_apart(items: Iterable[ProposalItem]) -> None:
    """A document that is deleted or renamed, and the new name, must be the target of one item only.

    Otherwise what one item writes another would silently take away. Errors: VALIDATION_ERROR.
    """
    live = [item for item in items if item.status != ItemStatus.BLOCKED]
    places: Counter[str] = Counter(item.target_key for item in live)
    places.update(path_key(item.new_target) for item in live if item.new_target)
    for item in live:
        moves = item.operation in ("delete", "rename", "delete_experience")
        if moves and any(places[key] > 1 for key in (item.target_key, path_key(item.new_target))):
            raise ApplicationError(
                "VALIDATION_ERROR",
                _("Another item of the same proposal changes %(target)s too; draft them one after the other.")
                % {"target": item.target},
            )

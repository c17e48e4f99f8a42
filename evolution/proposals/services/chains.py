"""Items of one proposal on one target build on each other; taking one out changes what follows."""

from __future__ import annotations

from evolution.proposals.choices import ItemStatus
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.operations import Place, operation_for
from evolution.proposals.rules.digests import text_sha256
from evolution.proposals.services.computing import Context, compute

_LIVE = (ItemStatus.PENDING, ItemStatus.APPROVED)


def recompute_chains(proposal: Proposal, context: Context) -> list[ProposalItem]:
    """Work out again each live item whose base is no longer what the items before it leave.

    Such an item is open again, also when it was approved: what was shown is no longer what it would write.
    Only items that follow another one on their target are looked at: a target that others changed in the
    meantime stays visible as stale until somebody edits the item. Returns the recomputed items.
    """
    bases: dict[str, str | None] = {}
    followers = _targets_with_several(proposal)
    changed = []
    for item in proposal.items.order_by("number"):
        if item.target not in followers:
            continue
        operation = operation_for(item.operation, item.target)
        if item.status not in _LIVE or not operation.chains:
            continue
        place = Place(context.agent, context.company, item.target, item.new_target)
        base = bases[item.target] if item.target in bases else operation.current(place).text
        if text_sha256(base) != item.base_sha256:
            compute(item, context, bases, item.new_text if item.whole_text else None)
            item.conflict_choice = ""
            item.save()
            changed.append(item)
        bases[item.target] = item.new_text
    return changed


def _targets_with_several(proposal: Proposal) -> set[str]:
    targets = list(proposal.items.exclude(status=ItemStatus.BLOCKED).values_list("target", flat=True))
    return {target for target in targets if targets.count(target) > 1}

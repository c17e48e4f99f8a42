"""The receipt of a proposal: one line an item, totals computed from them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from common.actors import Actor
from common.receipts.choices import ReceiptType
from common.receipts.models import Receipt
from common.receipts.rules import Line, text_hash
from common.receipts.services import write_receipt
from evolution.proposals.models import Proposal, ProposalItem

#: item state -> line state; an item that still waits has no line.
LINE_STATUS = {
    "applied": "applied",
    "rejected": "user_rejected",
    "skipped": "skipped",
    "blocked": "blocked",
    "conflict": "conflict",
    "failed": "failed",
    "rolled_back": "rolled_back",
}


def write_proposal_receipt(
    proposal: Proposal,
    *,
    actor: Actor,
    now: datetime,
    trigger: str,
    type: str = ReceiptType.SELF_EVOLUTION,
    only: Collection[str] | None = None,
    detail: dict | None = None,
) -> Receipt:
    """Write what became of the proposal's items (or of those in the states `only`), in the caller's transaction."""
    items = proposal.items.order_by("number")
    lines = [
        _line(item) for item in items if item.status in LINE_STATUS and (only is None or item.status in only)
    ]
    return write_receipt(
        company=proposal.company,
        actor=actor,
        type=type,
        trigger=trigger,
        at=now,
        agent_id=proposal.agent_id,
        agent_name=proposal.agent.name,
        proposal_code=proposal.code,
        lines=lines,
        session_analysis={"session_id": proposal.conversation_id} if proposal.conversation_id else None,
        detail={
            "proposal_trigger": proposal.trigger,
            "proposed_by": proposal.created_by,
            "approved_by": proposal.approved_by,
            "decided_by": proposal.decided_by,
            "approved_hash": proposal.approved_hash,
            "reason_sha256": text_hash(proposal.decision_reason),
            **(detail or {}),
        },
    )


def _line(item: ProposalItem) -> Line:
    return Line(
        type=item.type,
        target=item.target,
        status=LINE_STATUS[item.status],
        content=item.content or (item.new_text or "")[:2000],
        risk_level=item.risk,
        document_version=item.result.get("document_version"),
        new_sha256=item.new_sha256,
        rejection_reason=item.rejection_reason,
    )

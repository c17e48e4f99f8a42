"""The receipt of a proposal: one line an item, totals computed from them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from common.actors import Actor
from common.receipts.choices import ReceiptType
from common.receipts.models import Receipt
from common.receipts.rules import Line, text_hash
from common.receipts.services import write_receipt
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.operations import SET_PARAMETER

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
    only: Collection[int] | None = None,
    reason: str = "",
    detail: dict[str, Any] | None = None,
) -> Receipt:
    """Write what became of the proposal's items (or of those numbered in `only`), in the caller's transaction.

    `reason` stands on lines whose item has none of its own.
    """
    items = [
        item
        for item in proposal.items.order_by("number")
        if item.status in LINE_STATUS and (only is None or item.number in only)
    ]
    return write_receipt(
        company=proposal.company,
        actor=actor,
        type=type,
        trigger=trigger,
        at=now,
        agent_id=proposal.agent_id,
        agent_name=proposal.agent.name if proposal.agent else "",
        proposal_code=proposal.code,
        lines=[_line(item, reason) for item in items],
        session_analysis={"session_id": proposal.conversation_id} if proposal.conversation_id else None,
        detail={**_about(proposal, items), **(detail or {})},
    )


def _about(proposal: Proposal, items: Iterable[ProposalItem]) -> dict[str, Any]:
    """Who proposed and decided what exactly: names and digests, no free text."""
    return {
        "proposal_trigger": proposal.trigger,
        "proposed_by": proposal.created_by,
        "approved_by": proposal.approved_by,
        "decided_by": proposal.decided_by,
        "approved_at": proposal.approved_at.isoformat() if proposal.approved_at else None,
        "approved_hash": proposal.approved_hash,
        "reason_sha256": text_hash(proposal.decision_reason),
        "redactions": proposal.redactions,
        "items": {
            str(item.number): {
                "operation": item.operation,
                "base_sha256": item.base_sha256,
                "diff_sha256": hashlib.sha256(item.diff.encode()).hexdigest(),
                "decided_by": item.decided_by,
                "decided_for": item.decided_for,
                "through": "key" if item.decided_by_key_id else "session" if item.decided_by else "",
            }
            for item in items
        },
    }


def _content(item: ProposalItem) -> str:
    """What the line says; of a parameter the values, because its words are only the reason."""
    if item.operation == SET_PARAMETER:
        return f"{item.base_text} → {item.new_text}"[:2000]
    return item.content or (item.new_text or "")[:2000]


def _line(item: ProposalItem, reason: str) -> Line:
    target = f"{item.target} → {item.new_target}" if item.new_target else item.target
    return Line(
        type=item.type,
        target=target[:255],
        status=LINE_STATUS[item.status],
        content=_content(item),
        risk_level=item.risk,
        document_version=item.result.get("document_version"),
        new_sha256=item.new_sha256,
        rejection_reason=item.rejection_reason or reason,
    )

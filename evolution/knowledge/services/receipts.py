"""The receipt of what became of knowledge: one line an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from common.actors import Actor
from common.receipts.choices import LineStatus, ReceiptType
from common.receipts.models import Receipt
from common.receipts.rules import Line, text_hash
from common.receipts.services import write_receipt
from evolution.knowledge.models import Knowledge
from evolution.knowledge.selectors.shown import shown_sha256


def write_knowledge_receipt(
    items: Sequence[Knowledge],
    *,
    actor: Actor,
    now: datetime,
    trigger: str,
    type: str = ReceiptType.CHANGE,
    status: str = LineStatus.APPLIED,
    reason: str = "",
    detail: Mapping[str, Any] | None = None,
) -> Receipt:
    """Write what happened to items of one company (at least one), in the caller's transaction.

    `status` and `reason` are those of every line, whose digest is that of the item's shown text.
    """
    agents = {item.agent_id: item.agent for item in items}
    agent = next(iter(agents.values())) if len(agents) == 1 else None
    return write_receipt(
        company=items[0].company,
        actor=actor,
        type=type,
        trigger=trigger,
        at=now,
        agent_id=agent.pk if agent else None,
        agent_name=agent.name if agent else "",
        lines=[_line(item, status, reason) for item in items],
        detail={"reason_sha256": text_hash(reason), **(detail or {})},
    )


def _line(item: Knowledge, status: str, reason: str) -> Line:
    return Line(
        type="knowledge_item",
        target=item.code,
        status=status,
        content=item.title,
        new_sha256=shown_sha256(item),
        rejection_reason=reason,
    )

"""Write a receipt, in the transaction of the change it speaks of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from common.actors import Actor
from common.receipts.models import Receipt, ReceiptHead, ReceiptLine, ReceiptText
from common.receipts.rules import (
    LINE_FIELDS,
    RECEIPT_FIELDS,
    Line,
    Tenant,
    chain_hash,
    text_hash,
    totals_of,
)
from common.strict_json import canonical


@transaction.atomic
def write_receipt(
    *,
    company: Tenant,
    actor: Actor,
    type: str,
    trigger: str,
    at: datetime,
    agent_id: int | None = None,
    agent_name: str = "",
    lines: Sequence[Line] = (),
    detail: Mapping[str, Any] | None = None,
    proposal_code: str = "",
    session_analysis: Mapping[str, Any] | None = None,
) -> Receipt:
    """Append one receipt to the company's chain and return it.

    `detail` holds digests, versions and counts only (it enters the hash as it is); free text belongs into
    `lines` and `session_analysis`, whose texts are stored apart and may be erased.
    """
    head = _locked_head(company.pk)
    analysis = canonical(dict(session_analysis)).decode() if session_analysis else ""
    receipt = Receipt(
        company_id=company.pk,
        company_slug=company.slug,
        agent_id=agent_id,
        agent_name=agent_name,
        type=type,
        trigger=trigger,
        proposal_code=proposal_code,
        actor_name=actor.name[:200],
        channel=actor.channel.value,
        at=at,
        totals=totals_of(line.status for line in lines),
        detail=dict(detail or {}),
        session_analysis_sha256=text_hash(analysis),
    )
    rows = [_line_row(line, order, agent_id) for order, line in enumerate(lines)]
    _link(receipt, rows, head)
    _store_lines(receipt, rows, lines, analysis)
    return receipt


def _locked_head(company_id: int) -> ReceiptHead:
    """The end of the company's chain, kept for this transaction alone."""
    ReceiptHead.objects.get_or_create(company_id=company_id)
    return ReceiptHead.objects.select_for_update().get(company_id=company_id)


def _link(receipt: Receipt, rows: Sequence[ReceiptLine], head: ReceiptHead) -> None:
    """Store the receipt as the next link behind `head`, which then points to it."""
    receipt.number, receipt.previous_sha256 = head.number + 1, head.sha256
    receipt.sha256 = chain_hash(
        {name: getattr(receipt, name) for name in RECEIPT_FIELDS},
        [{name: getattr(row, name) for name in LINE_FIELDS} for row in rows],
        head.sha256,
    )
    receipt.save()
    head.number, head.sha256 = receipt.number, receipt.sha256
    head.save(update_fields=["number", "sha256"])


def _line_row(line: Line, order: int, agent_id: int | None) -> ReceiptLine:
    return ReceiptLine(
        agent_id=agent_id,
        order=order,
        type=line.type,
        content_sha256=text_hash(line.content),
        target=line.target,
        risk_level=line.risk_level,
        status=line.status,
        document_version=line.document_version,
        new_sha256=line.new_sha256,
        rejection_reason_sha256=text_hash(line.rejection_reason),
    )


def _store_lines(receipt: Receipt, rows: list[ReceiptLine], lines: Sequence[Line], analysis: str) -> None:
    for row in rows:
        row.receipt = receipt
    stored = ReceiptLine.objects.bulk_create(rows)
    texts = [ReceiptText(receipt=receipt, field="session_analysis", text=analysis)] if analysis else []
    for row, line in zip(stored, lines, strict=True):
        for field in ("content", "rejection_reason"):
            if text := getattr(line, field):
                texts.append(ReceiptText(receipt=receipt, line=row, field=field, text=text))
    ReceiptText.objects.bulk_create(texts)

"""Read receipts: verification of the chain, and the export shape."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from django.conf import settings
from django.db.models import Prefetch, QuerySet
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from common.receipts.models import Receipt, ReceiptHead, ReceiptLine
from common.receipts.rules import LINE_FIELDS, RECEIPT_FIELDS, Tenant, chain_hash, text_hash

_BATCH = 2000


@dataclass(frozen=True)
class ChainReport:
    """Outcome of checking one company's chain; `first_bad` is the number of the first broken receipt."""

    company_slug: str
    checked: int
    first_bad: int | None = None
    reason: str = ""

    @property
    def intact(self) -> bool:
        return self.first_bad is None


def with_texts(queryset: QuerySet[Receipt]) -> QuerySet[Receipt]:
    """Receipts with lines and texts loaded in three queries."""
    return queryset.prefetch_related(Prefetch("lines", ReceiptLine.objects.order_by("order", "id")), "texts")


def texts_of(receipt: Receipt) -> dict[tuple[int | None, str], str]:
    """(line id or None, field) -> text, from the prefetched texts."""
    return {(text.line_id, text.field): text.text for text in receipt.texts.all()}


def verify_chain(company: Tenant) -> ChainReport:
    """Recompute every hash of the company's chain; stops at the first broken link and names it.

    Receipts may be written meanwhile: the chain must reach at least the end it had at the start, and at most
    the one it has afterwards.
    """
    due, previous, number = _head(company.pk), "", 0
    for receipt in _in_order(company.pk):
        reason = _fault(receipt, previous, number + 1)
        if not reason and receipt.number == due[0] and receipt.sha256 != due[1]:
            reason = _("not the receipt that was the end of the chain")
        if reason:
            return ChainReport(company.slug, number, receipt.number, reason)
        previous, number = receipt.sha256, number + 1
    last = _head(company.pk)
    if number < due[0]:
        return ChainReport(company.slug, number, number + 1, _("missing at the end of the chain"))
    if number > last[0] or (number == last[0] and previous != last[1]):
        return ChainReport(company.slug, number, number, _("behind the end of the chain"))
    return ChainReport(company.slug, number)


def _head(company_id: int) -> tuple[int, str]:
    head = ReceiptHead.objects.filter(company_id=company_id).values_list("number", "sha256").first()
    return head or (0, "")


def _in_order(company_id: int) -> Iterator[Receipt]:
    queryset = with_texts(Receipt.objects.filter(company_id=company_id).order_by("number", "id"))
    return queryset.iterator(chunk_size=_BATCH)


def _fault(receipt: Receipt, previous: str, expected: int) -> str:
    """Why this receipt is not the right next link; empty when it is."""
    lines = list(receipt.lines.all())
    if receipt.number != expected:
        return _("number %(found)d where %(due)d was due") % {"found": receipt.number, "due": expected}
    if receipt.previous_sha256 != previous:
        return _("it does not continue the previous receipt")
    fields = {name: getattr(receipt, name) for name in RECEIPT_FIELDS}
    line_fields = [{name: getattr(line, name) for name in LINE_FIELDS} for line in lines]
    if chain_hash(fields, line_fields, previous) != receipt.sha256:
        return _("its content does not match its hash")
    if not _texts_match(receipt, lines):
        return _("a text does not match its hash")
    return ""


def _texts_match(receipt: Receipt, lines: list[ReceiptLine]) -> bool:
    hashes: dict[tuple[int | None, str], str] = {(None, "session_analysis"): receipt.session_analysis_sha256}
    for line in lines:
        hashes[line.pk, "content"] = line.content_sha256
        hashes[line.pk, "rejection_reason"] = line.rejection_reason_sha256
    texts = texts_of(receipt)
    wanted = {place for place, digest in hashes.items() if digest}
    # An erased text is empty: its row stays, its hash in the chain stays, only the words are gone.
    return set(texts) == wanted and all(
        not text or text_hash(text) == hashes[place] for place, text in texts.items()
    )


def export_shape(receipt: Receipt) -> dict[str, Any]:
    """The receipt as it is exported (YAML or JSON): one mapping under the key `receipt`."""
    texts = texts_of(receipt)
    analysis = texts.get((None, "session_analysis"))
    follow_up = _follow_up(receipt)
    items = [
        {
            "type": line.type,
            "content": texts.get((line.pk, "content"), ""),
            "target": line.target,
            "risk_level": line.risk_level or None,
            "status": line.status,
            "version": line.document_version,
            "rejection_reason": texts.get((line.pk, "rejection_reason")),
            **(follow_up if line.status in ("applied", "rolled_back") else {}),
        }
        for line in receipt.lines.all()
    ]
    names = ("total", "applied", "rejected", "skipped")
    return {
        "receipt": {
            "type": receipt.type,
            "timestamp": receipt.at.isoformat(),
            "trigger": receipt.trigger,
            "session_analysis": json.loads(analysis) if analysis else None,
            "learning_items": items,
            "metadata": {name: receipt.totals.get(name, 0) for name in names},
        }
    }


def _follow_up(receipt: Receipt) -> dict[str, Any]:
    """What a higher room adds to the exported lines of what was done: the receipt itself stays as written."""
    found: dict[str, Any] = {}
    for name in settings.RECEIPT_FOLLOW_UPS:
        found |= import_string(name)(receipt.pk)
    return found


def as_yaml(receipt: Receipt) -> str:
    """The export shape as YAML, keys in their order, raw Unicode."""
    return yaml.safe_dump(export_shape(receipt), allow_unicode=True, sort_keys=False)

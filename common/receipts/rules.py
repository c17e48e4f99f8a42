"""The hash chain of receipts. Pure. docs/rules.md: receipt hash, receipt totals."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from common.strict_json import canonical

#: line status -> the total it counts in; every line also counts in `total`.
TOTAL_OF_STATUS = {
    "applied": "applied",
    "user_rejected": "rejected",
    "skipped": "skipped",
    "blocked": "blocked",
    "failed": "failed",
    "conflict": "conflict",
    "rolled_back": "rolled_back",
    "archived": "archived",
}

#: Fields of the two tables that enter the hash, in the order of the models.
RECEIPT_FIELDS = (
    "company_id",
    "company_slug",
    "agent_id",
    "agent_name",
    "number",
    "type",
    "trigger",
    "proposal_code",
    "actor_name",
    "channel",
    "at",
    "totals",
    "detail",
    "session_analysis_sha256",
)
LINE_FIELDS = (
    "agent_id",
    "order",
    "type",
    "content_sha256",
    "target",
    "risk_level",
    "status",
    "document_version",
    "new_sha256",
    "rejection_reason_sha256",
)


class Tenant(Protocol):
    """What a receipt needs of a company (the room `companies` stands above this one)."""

    pk: int
    slug: str


@dataclass(frozen=True)
class Line:
    """One line of a receipt before it is stored; `content`, `rejection_reason` are free text (erasable)."""

    type: str
    target: str
    status: str = "applied"
    content: str = ""
    risk_level: str = ""
    document_version: int | None = None
    new_sha256: str = ""
    rejection_reason: str = ""


def text_hash(text: str) -> str:
    """SHA-256 (hex) of a text's UTF-8; empty for no text."""
    return hashlib.sha256(text.encode()).hexdigest() if text else ""


def totals_of(statuses: Iterable[str]) -> dict[str, int]:
    """Counts per outcome, always with total, applied, rejected, skipped, blocked, failed, conflict."""
    counted = Counter(TOTAL_OF_STATUS[status] for status in statuses)
    always = ("applied", "rejected", "skipped", "blocked", "failed", "conflict")
    totals = {"total": sum(counted.values()), **{name: counted.get(name, 0) for name in always}}
    return totals | {name: count for name, count in counted.items() if name not in always}


def chain_hash(fields: Mapping[str, Any], lines: Sequence[Mapping[str, Any]], previous: str) -> str:
    """SHA-256 over canonical JSON of all stored fields and lines plus the previous receipt's hash."""
    body = {**fields, "lines": lines, "previous_sha256": previous}
    return hashlib.sha256(canonical(body)).hexdigest()

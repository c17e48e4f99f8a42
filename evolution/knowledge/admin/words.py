"""Colours and small words of the pages of knowledge."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agents.admin.links import address
from evolution.knowledge.choices import EventKind, Result, Status
from evolution.knowledge.models import Knowledge

STATUS_COLOURS = {
    Status.DRAFT: "info",
    Status.ACTIVE: "success",
    Status.DEPRECATED: "warning",
    Status.ARCHIVED: "warning",
    "quarantined": "danger",
}
RESULT_COLOURS = {Result.SUCCESS: "success", Result.FAILURE: "danger", Result.PARTIAL: "warning"}
EVENT_COLOURS = {
    EventKind.CREATED: "info",
    EventKind.SET: "info",
    EventKind.VERIFIED: "success",
    EventKind.REFERENCED: "success",
    EventKind.APPLIED: "success",
    EventKind.MISLEADING: "danger",
    EventKind.DECAY: "warning",
}


def shown_status(item: Knowledge) -> tuple[str, Any]:
    """(key of `STATUS_COLOURS`, word)."""
    if item.quarantined_at is not None:
        return "quarantined", _("in quarantine")
    return item.status, item.get_status_display()


def number(value: Decimal | None) -> str:
    """0.85, without zeros that say nothing but with two places; a dash for None."""
    if value is None:
        return "–"
    text = f"{value:.3f}"
    return text.removesuffix("0")


def change(delta: Decimal) -> str:
    """+0.10 or −0.20."""
    sign = "−" if delta < 0 else "+"
    return sign + number(abs(delta))


def item_link(pk: int | None, code: str) -> SafeString | str:
    """The code, leading to the item's page while there is one."""
    url = address("admin:knowledge_knowledge_change", pk) if pk else ""
    return format_html('<a class="fieldbook-link" href="{}">{}</a>', url, code) if url else code

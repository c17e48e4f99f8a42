"""Single items with filters: the rows behind each health figure. Nothing here writes."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display
from unfold.paginator import InfinitePaginator

from common.admin import CompanyFilter, ReadOnlyAdmin, visible
from common.receipts.admin import AgentFilter, DayFilter
from evolution.proposals.admin.filters import ConflictFilter, ItemStateFilter
from evolution.proposals.admin.shown import RISK_COLOURS
from evolution.proposals.choices import ItemStatus
from evolution.proposals.models import ProposalItem

_STATUS_COLOURS = {
    ItemStatus.PENDING: "info",
    ItemStatus.APPROVED: "primary",
    ItemStatus.APPLIED: "success",
    ItemStatus.REJECTED: "warning",
    ItemStatus.ROLLED_BACK: "warning",
    ItemStatus.BLOCKED: "danger",
    ItemStatus.CONFLICT: "danger",
    ItemStatus.FAILED: "danger",
}


class AgentOfItemFilter(AgentFilter):
    """By the agent of the item's proposal."""

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        value = self.value()
        if not value:
            return queryset
        is_id = value.isascii() and value.isdigit() and len(value) < 19
        return queryset.filter(proposal__agent_id=int(value)) if is_id else queryset.none()


@admin.register(ProposalItem)
class ProposalItemAdmin(ReadOnlyAdmin):
    """Items of the proposals that the person may see, newest first; each leads to its proposal."""

    company_lookup = "proposal__company"
    list_display = (
        "proposal_link",
        "agent_shown",
        "company_shown",
        "type",
        "content_shown",
        "target_shown",
        "operation",
        "risk_shown",
        "status_shown",
        "has_conflict",
    )
    list_display_links = None
    list_filter = (
        ItemStateFilter,
        ConflictFilter,
        ("risk", ChoicesDropdownFilter),
        ("type", ChoicesDropdownFilter),
        CompanyFilter,
        AgentOfItemFilter,
        ("proposal__created_at", DayFilter),
    )
    list_filter_submit = True
    list_select_related = ("proposal__agent", "proposal__company")
    search_fields = ("content", "target")
    search_help_text = _("Content or target")
    ordering = ("-proposal_id", "number")
    paginator = InfinitePaginator
    fields = ("proposal_link", "type", "content_shown", "target_shown", "operation", "status", "risk")
    readonly_fields = fields

    @display(description=_("proposal"), ordering="proposal_id")
    def proposal_link(self, item: ProposalItem) -> SafeString:
        url = reverse("admin:proposals_proposal_change", args=[item.proposal_id])
        link = '<a class="text-primary-600" href="{}#item-{}">{} · {}</a>'
        return format_html(link, url, item.number, item.proposal.code, item.number)

    @display(description=_("agent"), ordering="proposal__agent__name")
    def agent_shown(self, item: ProposalItem) -> SafeString:
        return visible(item.proposal.subject)

    @display(description=_("company"), ordering="proposal__company__name")
    def company_shown(self, item: ProposalItem) -> SafeString:
        return visible(item.proposal.company.name)

    @display(description=_("content"))
    def content_shown(self, item: ProposalItem) -> SafeString:
        return visible(" ".join((item.content or item.new_text or "").split())[:200])

    @display(description=_("target"), ordering="target")
    def target_shown(self, item: ProposalItem) -> SafeString:
        return visible(item.target)

    @display(description=_("risk"), label=RISK_COLOURS)
    def risk_shown(self, item: ProposalItem) -> tuple[str, str]:
        return item.risk, item.get_risk_display()

    @display(description=_("status"), label=_STATUS_COLOURS)
    def status_shown(self, item: ProposalItem) -> tuple[str, str]:
        return item.status, item.get_status_display()

    @display(description=_("conflict"), label={"yes": "danger"})
    def has_conflict(self, item: ProposalItem) -> tuple[str, Any] | str:
        # A tick in green would read as "all is well".
        return ("yes", _("conflict")) if item.conflicts else "–"

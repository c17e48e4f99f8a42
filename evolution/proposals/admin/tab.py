"""The proposals of one agent, as a tab of its page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from agents.admin.links import address
from agents.admin.tabs import AgentTab
from common.admin import chosen_company, visible
from evolution.proposals.models import Proposal


class ProposalTab(AgentTab):
    """Newest first, whatever became of them."""

    slug = "proposals"
    title = _("Proposals")
    permission = "proposals.view_proposal"
    headings = (_("proposal"), _("title"), _("risk"), _("status"), _("proposed by"), _("when"))

    def queryset(self) -> QuerySet[Proposal]:
        proposals = Proposal.objects.seen_by(self.request.user).filter(agent=self.agent)
        chosen = chosen_company(self.request)
        if chosen:
            proposals = proposals.filter(company__slug=chosen)
        return proposals.order_by("-created_at", "-id")

    def cells(self, row: Proposal) -> Sequence[Any]:
        url = reverse("admin:proposals_proposal_change", args=[row.pk])
        return (
            format_html('<a href="{}">{}</a>', url, row.code),
            visible(row.title),
            row.get_risk_display(),
            row.get_status_display(),
            visible(row.created_by),
            date_format(localtime(row.created_at), "SHORT_DATETIME_FORMAT"),
        )

    def all_url(self) -> str:
        return address("admin:proposals_proposal_changelist", agent__id__exact=self.agent.pk, status="all")

    def buttons(self) -> Iterator[tuple[Any, str]]:
        if self.request.user.has_perm("proposals.add_proposal"):
            yield _("Draft a proposal"), address("admin:proposals_proposal_add", agent=self.agent.pk)

"""Proposals: the work list of what waits, and what can be done with the chosen ones."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import action, display
from unfold.paginator import InfinitePaginator

from common.admin import CompanyFilter, visible
from common.counters.rules import parse_code
from common.receipts.admin import AgentFilter
from common.text import forbidden_character
from evolution.proposals.admin.bulk import BulkDecisions
from evolution.proposals.admin.draft import DraftByHand
from evolution.proposals.admin.filters import SourceFilter, StatusFilter
from evolution.proposals.admin.page import ProposalPage
from evolution.proposals.admin.parameters import ParameterDrafts
from evolution.proposals.admin.reports import Reports
from evolution.proposals.admin.shown import RISK_COLOURS, STATUS_COLOURS
from evolution.proposals.choices import Status
from evolution.proposals.models import PREFIX, WORK_ORDER, Proposal, ProposalItem

#: What both databases can compare a number with.
_MAX_NUMBER = 2**63 - 1


@admin.register(Proposal)
class ProposalAdmin(BulkDecisions, ParameterDrafts, DraftByHand, Reports, ProposalPage):
    """Proposals of the person's companies; riskiest first while they wait, newest first otherwise."""

    list_display = (
        "code_shown",
        "title_shown",
        "agent_shown",
        "company",
        "risk_shown",
        "status_shown",
        "trigger",
        "created_by_shown",
        "seen_count",
        "since",
        "until",
    )
    list_display_links = ("code_shown", "title_shown")
    list_filter = (
        StatusFilter,
        ("risk", ChoicesDropdownFilter),
        ("trigger", ChoicesDropdownFilter),
        CompanyFilter,
        AgentFilter,
        SourceFilter,
    )
    list_filter_submit = True
    list_select_related = ("agent", "company")
    list_fullwidth = True
    search_fields = ("title",)
    search_help_text = _("Code, title or content")
    #: Counting all rows would cost the more, the more there are.
    paginator = InfinitePaginator
    actions = ("approve_chosen", "skip_chosen", "reject_chosen")
    actions_list = ("open_queue",)

    def get_list_display(self, request: HttpRequest) -> list[str]:
        """Without the state where all rows are in the same one."""
        only_waiting = (request.GET.get("status") or Status.PENDING) == Status.PENDING
        return [name for name in self.list_display if not (only_waiting and name == "status_shown")]

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        waiting = request.GET.get("status") or Status.PENDING
        return WORK_ORDER if waiting == Status.PENDING else ("-id",)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet, search_term: str
    ) -> tuple[QuerySet, bool]:
        """By code, else by words in the title or in what an item says."""
        words = search_term.split()
        if not words:
            return queryset, False
        if forbidden_character(search_term):
            return queryset.none(), False
        number = parse_code(PREFIX, search_term)
        if number is not None:
            return queryset.filter(number=number) if number <= _MAX_NUMBER else queryset.none(), False
        for word in words:
            items = ProposalItem.objects.filter(proposal=OuterRef("pk"))
            said = Q(content__icontains=word) | Q(new_text__icontains=word) | Q(target__icontains=word)
            queryset = queryset.filter(Q(title__icontains=word) | Exists(items.filter(said)))
        return queryset, False

    @action(description=_("Open the review queue"), url_path="review", icon="rule", permissions=["view"])
    def open_queue(self, request: HttpRequest) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:proposals_proposal_queue"))

    @display(description=_("proposal"), ordering="number")
    def code_shown(self, proposal: Proposal) -> SafeString:
        return _unbroken(proposal.code)

    @display(description=_("title"), ordering="title")
    def title_shown(self, proposal: Proposal) -> SafeString:
        return format_html('<span class="block min-w-52">{}</span>', visible(proposal.title))

    @display(description=_("agent"), ordering="agent__name")
    def agent_shown(self, proposal: Proposal) -> SafeString:
        return visible(proposal.subject)

    @display(description=_("risk"), ordering="risk_rank", label=RISK_COLOURS)
    def risk_shown(self, proposal: Proposal) -> tuple[str, str]:
        return proposal.risk, proposal.get_risk_display()

    @display(description=_("status"), ordering="status", label=STATUS_COLOURS)
    def status_shown(self, proposal: Proposal) -> tuple[str, str]:
        return proposal.status, proposal.get_status_display()

    @display(description=_("waiting since"), ordering="pending_at")
    def since(self, proposal: Proposal) -> SafeString:
        moment = proposal.pending_at
        return _unbroken(date_format(localtime(moment), "SHORT_DATETIME_FORMAT") if moment else "–")

    @display(description=_("expires"), ordering="expires_at")
    def until(self, proposal: Proposal) -> SafeString:
        moment = proposal.expires_at
        return _unbroken(date_format(localtime(moment), "SHORT_DATE_FORMAT") if moment else "–")

    @display(description=_("proposed by"), ordering="created_by")
    def created_by_shown(self, proposal: Proposal) -> SafeString | Any:
        return visible(proposal.created_by)


def _unbroken(text: str) -> SafeString:
    return format_html('<span class="whitespace-nowrap">{}</span>', text)

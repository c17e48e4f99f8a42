"""The list of knowledge: drafts first, the most trusted on top; and what can be done with the chosen ones."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Case, F, QuerySet, Value, When
from django.http import HttpRequest, HttpResponse
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display
from unfold.paginator import InfinitePaginator

from common.admin import CompanyFilter, chosen_company, visible
from common.receipts.admin import AgentFilter
from common.text import forbidden_character, length
from evolution.knowledge.admin.filters import FOLDED, DraftFilter, SwitchFilter
from evolution.knowledge.admin.page import KnowledgePage
from evolution.knowledge.admin.words import STATUS_COLOURS, number, shown_status
from evolution.knowledge.choices import Status
from evolution.knowledge.models import Knowledge
from evolution.knowledge.models.knowledge import KnowledgeQuerySet
from evolution.knowledge.selectors.listing import (
    LAST_ACTIVITY,
    LONG,
    MAX_QUERY,
    drafts_folded,
    last_activity,
    score_of,
    with_scores,
    with_words,
)

_DRAFTS_FIRST = Case(When(status=Status.DRAFT, then=Value(0)), default=Value(1))


@admin.register(Knowledge)
class KnowledgeAdmin(KnowledgePage):
    """Knowledge of the person's companies."""

    list_display = (
        "code_shown",
        "title_shown",
        "category_shown",
        "status_shown",
        "confidence_shown",
        "score_shown",
        "enabled",
        "source_shown",
        "agent_shown",
        "company",
        "activity_shown",
    )
    list_display_links = ("code_shown", "title_shown")
    list_filter = (
        ("status", ChoicesDropdownFilter),
        ("category", ChoicesDropdownFilter),
        ("source_type", ChoicesDropdownFilter),
        AgentFilter,
        CompanyFilter,
        SwitchFilter,
        DraftFilter,
    )
    list_filter_submit = True
    list_fullwidth = True
    list_before_template = "knowledge/folded.html"
    search_fields = ("title",)
    search_help_text = _("Code, or words of title, summary and details")
    paginator = InfinitePaginator
    actions = (
        "activate_chosen",
        "verify_chosen",
        "deprecate_chosen",
        "restore_chosen",
        "archive_chosen",
        "enable_chosen",
        "disable_chosen",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        queryset = super().get_queryset(request)
        if not self._is_list(request):
            return queryset
        return with_scores(queryset).defer(*LONG, "agent__system_prompt")

    def get_ordering(self, request: HttpRequest) -> tuple[Any, ...]:
        return (_DRAFTS_FIRST.asc(), F("confidence").desc(), F("number").desc(), F("id").desc())

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[KnowledgeQuerySet, bool]:
        """By code and words."""
        if forbidden_character(search_term) or length(search_term) > MAX_QUERY:
            return queryset.none(), False
        return with_words(queryset, search_term), False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """With the number of drafts that are folded away."""
        folded = 0 if FOLDED in request.GET else drafts_folded(request.user, chosen_company(request))
        return super().changelist_view(request, {**(extra_context or {}), "folded": folded})

    @display(description=_("code"), ordering="number")
    def code_shown(self, item: Knowledge) -> SafeString:
        return format_html('<span class="whitespace-nowrap">{}</span>', item.code)

    @display(description=_("title"), ordering="title")
    def title_shown(self, item: Knowledge) -> SafeString:
        return format_html('<span class="block min-w-52">{}</span>', visible(item.title))

    @display(description=_("category"), ordering="category")
    def category_shown(self, item: Knowledge) -> SafeString:
        return format_html('<span class="whitespace-nowrap">{}</span>', item.get_category_display())

    @display(description=_("status"), ordering="status", label=STATUS_COLOURS)
    def status_shown(self, item: Knowledge) -> tuple[str, Any]:
        return shown_status(item)

    @display(description=_("confidence"), ordering="confidence")
    def confidence_shown(self, item: Knowledge) -> str:
        return number(item.confidence)

    @display(description=_("causal score"), ordering="score_thousandths")
    def score_shown(self, item: Knowledge) -> str:
        return number(score_of(item))

    @display(description=_("source"), ordering="source_type")
    def source_shown(self, item: Knowledge) -> SafeString:
        return format_html('<span class="whitespace-nowrap">{}</span>', item.get_source_type_display())

    @display(description=_("agent"), ordering="agent__name")
    def agent_shown(self, item: Knowledge) -> Any:
        return visible(item.agent.name) if item.agent else _("all")

    @display(description=_("last activity"), ordering=LAST_ACTIVITY)
    def activity_shown(self, item: Knowledge) -> SafeString:
        day = date_format(localtime(last_activity(item)), "SHORT_DATE_FORMAT")
        return format_html('<span class="whitespace-nowrap">{}</span>', day)

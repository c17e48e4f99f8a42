"""Recalls by runtimes: the list and a page each. Nothing here writes."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter, DropdownFilter
from unfold.decorators import display
from unfold.paginator import InfinitePaginator

from common.admin import CompanyFilter, ReadOnlyAdmin, visible
from common.marks import lines, table
from common.receipts.admin import AgentFilter, DayFilter
from evolution.lessons.admin.figures import metrics_view
from evolution.lessons.admin.tables import lesson_link
from evolution.lessons.admin.try_recall import try_recall_view
from evolution.lessons.models import RecallLog, RecallOutcome


class HitsFilter(DropdownFilter):
    """With or without a hit."""

    title = _("hits")
    parameter_name = "hits"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("with a hit")), ("no", _("without a hit"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        if self.value() == "yes":
            return queryset.filter(hit_count__gt=0)
        return queryset.filter(hit_count=0) if self.value() == "no" else queryset


class KeptFilter(DropdownFilter):
    """By age; without a choice only what is not archived."""

    title = _("kept")
    parameter_name = "kept"
    all_option = None

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("recent", _("recent")), ("archived", _("archived")), ("all", _("All"))]

    def value(self) -> str:
        return super().value() or "recent"

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        if request.resolver_match and not request.resolver_match.url_name.endswith("_changelist"):
            return queryset
        kept = {"recent": queryset.filter(archived_at=None), "archived": queryset.exclude(archived_at=None)}
        return queryset if self.value() == "all" else kept.get(self.value(), queryset.none())


@admin.register(RecallLog)
class RecallLogAdmin(ReadOnlyAdmin):
    """What was asked and found, newest first."""

    list_display = (
        "created_at",
        "company",
        "agent_shown",
        "purpose",
        "task_shown",
        "hits_shown",
        "reference_shown",
        "asked_by_shown",
    )
    list_filter = (
        HitsFilter,
        ("purpose", ChoicesDropdownFilter),
        CompanyFilter,
        AgentFilter,
        ("created_at", DayFilter),
        KeptFilter,
    )
    list_filter_submit = True
    list_select_related = ("company", "agent")
    search_fields = ("task", "reference")
    search_help_text = _("Task or reference")
    ordering = ("-created_at", "-id")
    paginator = InfinitePaginator
    fields = (
        "created_at",
        "company",
        "agent_shown",
        "purpose",
        "reference_shown",
        "task_shown",
        "tags_shown",
        "files_shown",
        "hits_table",
        "scanned",
        "duration_ms",
        "asked_by_shown",
        "archived_at",
    )
    readonly_fields = fields

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path("try/", view(self.try_view), name="lessons_recalllog_try"),
            path("metrics/", view(self.metrics_view), name="lessons_recalllog_metrics"),
        ]
        return [*own, *super().get_urls()]

    def try_view(self, request: HttpRequest) -> Any:
        """Try recall: the answer with every number explained; leaves no trace."""
        return try_recall_view(self, request)

    def metrics_view(self, request: HttpRequest) -> Any:
        """Does the loop close?"""
        return metrics_view(self, request)

    @display(description=_("agent"), ordering="agent__name")
    def agent_shown(self, log: RecallLog) -> SafeString | str:
        return visible(log.agent.name) if log.agent else "–"

    @display(description=_("task"))
    def task_shown(self, log: RecallLog) -> SafeString | str:
        return visible(" ".join(log.task.split())) if log.task else "–"

    @display(description=_("reference"), ordering="reference")
    def reference_shown(self, log: RecallLog) -> SafeString | str:
        return visible(log.reference) if log.reference else "–"

    @display(description=_("asked by"))
    def asked_by_shown(self, log: RecallLog) -> SafeString:
        return visible(log.asked_by)

    @display(description=_("hits"), ordering="hit_count")
    def hits_shown(self, log: RecallLog) -> str:
        return ", ".join(str(hit.get("lesson", "")) for hit in log.hits[:5]) or "–"

    @display(description=_("tags"))
    def tags_shown(self, log: RecallLog) -> SafeString | str:
        return visible(", ".join(map(str, log.tags))) if log.tags else "–"

    @display(description=_("files"))
    def files_shown(self, log: RecallLog) -> SafeString | str:
        return lines(log.files)

    @display(description=_("hits"))
    def hits_table(self, log: RecallLog) -> SafeString | str:
        """Place, lesson, numbers, and what was said of it later."""
        outcomes = log.outcomes.select_related("lesson").order_by("position", "id")
        return hits_table(list(outcomes))


def hits_table(outcomes: list[RecallOutcome]) -> SafeString | str:
    """A table of recalled lessons."""
    helped = {True: _("helped"), False: _("did not help"), None: _("nobody said")}
    rows = [
        (
            lesson_link(outcome.lesson),
            visible(outcome.lesson.title),
            f"{outcome.score:.2f}",
            f"{outcome.relevance:.2f}",
            helped[outcome.helped],
            visible(outcome.note),
        )
        for outcome in outcomes
    ]
    return table((_("lesson"), _("title"), _("score"), _("relevance"), _("outcome"), _("note")), rows)

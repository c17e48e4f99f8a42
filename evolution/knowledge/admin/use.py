"""Injections, outcomes and the ledger of confidence. Nothing here writes."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter, DropdownFilter
from unfold.decorators import display
from unfold.paginator import InfinitePaginator

from agents.admin.links import address
from common.admin import CompanyFilter, ReadOnlyAdmin, visible
from common.marks import table
from common.receipts.admin import AgentFilter, DayFilter
from evolution.knowledge.admin.words import (
    EVENT_COLOURS,
    RESULT_COLOURS,
    change,
    item_link,
    number,
)
from evolution.knowledge.models import ConfidenceEvent, Injection, Knowledge, Outcome
from evolution.knowledge.rules.injection import USE
from evolution.knowledge.rules.values import knowledge_number


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


@admin.register(Injection)
class InjectionAdmin(ReadOnlyAdmin):
    """What agents were given, newest first."""

    list_display = (
        "created_at",
        "agent_shown",
        "phase_shown",
        "task_shown",
        "use_shown",
        "avoid_shown",
        "is_prompt",
        "asked_by_shown",
        "company",
    )
    list_filter = (AgentFilter, CompanyFilter, ("created_at", DayFilter), KeptFilter)
    list_filter_submit = True
    list_select_related = ("company", "agent")
    search_fields = ("task", "workflow", "conversation_id")
    search_help_text = _("Task, workflow or conversation")
    ordering = ("-created_at", "-id")
    paginator = InfinitePaginator
    fields = (
        "created_at",
        "id_shown",
        "company",
        "agent_shown",
        "prompt_shown",
        "phase_shown",
        "task_shown",
        "workflow_shown",
        "conversation_shown",
        "keywords_shown",
        "items_table",
        "outcomes_table",
        "asked_by_shown",
        "archived_at",
    )
    readonly_fields = fields

    @display(description=_("injection"))
    def id_shown(self, injection: Injection) -> str:
        return str(injection.injection_id)

    @display(description=_("for a prompt"))
    def prompt_shown(self, injection: Injection) -> Any:
        return _("yes") if injection.is_prompt else _("no")

    @display(description=_("agent"), ordering="agent__name")
    def agent_shown(self, injection: Injection) -> SafeString | str:
        return visible(injection.agent.name) if injection.agent else "–"

    @display(description=_("phase"), ordering="phase")
    def phase_shown(self, injection: Injection) -> SafeString | str:
        return visible(injection.phase) if injection.phase else "–"

    @display(description=_("task"))
    def task_shown(self, injection: Injection) -> SafeString | str:
        return visible(injection.task) if injection.task else "–"

    @display(description=_("workflow"))
    def workflow_shown(self, injection: Injection) -> SafeString | str:
        return visible(injection.workflow) if injection.workflow else "–"

    @display(description=_("conversation"))
    def conversation_shown(self, injection: Injection) -> SafeString | str:
        return visible(injection.conversation_id) if injection.conversation_id else "–"

    @display(description=_("keywords"))
    def keywords_shown(self, injection: Injection) -> SafeString | str:
        return visible(", ".join(map(str, injection.keywords))) if injection.keywords else "–"

    @display(description=_("asked by"))
    def asked_by_shown(self, injection: Injection) -> SafeString | str:
        return visible(injection.asked_by) if injection.asked_by else "–"

    @display(description=_("to be used"))
    def use_shown(self, injection: Injection) -> str:
        return _codes(injection, is_use=True)

    @display(description=_("to be avoided"))
    def avoid_shown(self, injection: Injection) -> str:
        return _codes(injection, is_use=False)

    @display(description=_("items"))
    def items_table(self, injection: Injection) -> SafeString | str:
        codes = [str(item.get("id", "")) for item in injection.items]
        numbers = {code: found for code in codes if (found := knowledge_number(code))}
        rows = Knowledge.objects.filter(company=injection.company_id, number__in=numbers.values())
        known = {row.code: row for row in rows.only("pk", "number", "title")}
        shown = [
            (
                item_link(known[code].pk if code in known else None, visible(code)),
                visible(known[code].title) if code in known else "–",
                _("to be used") if item.get("kind") == USE else _("to be avoided"),
                str(item.get("rank", "–")),
            )
            for code, item in zip(codes, injection.items, strict=True)
        ]
        return table((_("code"), _("title"), _("purpose"), _("rank")), shown)

    @display(description=_("outcomes"))
    def outcomes_table(self, injection: Injection) -> SafeString | str:
        rows = [
            (
                item_link(outcome.knowledge_id, outcome.code),
                outcome.get_result_display(),
                visible(outcome.notes) if outcome.notes else "–",
            )
            for outcome in injection.outcomes.order_by("code", "id")
        ]
        return table((_("code"), _("result"), _("notes")), rows)


def _codes(injection: Injection, *, is_use: bool) -> str:
    found = [str(item.get("id", "")) for item in injection.items if (item.get("kind") == USE) == is_use]
    return ", ".join(found[:5]) + (" …" if len(found) > 5 else "") if found else "–"


@admin.register(Outcome)
class OutcomeAdmin(ReadOnlyAdmin):
    """What using knowledge really brought, newest first."""

    list_display = (
        "at",
        "item_shown",
        "result_shown",
        "task_shown",
        "time_saved_minutes",
        "bugs_introduced",
        "created_by_shown",
        "company",
    )
    list_display_links = ("at",)
    list_filter = (("result", ChoicesDropdownFilter), CompanyFilter, ("at", DayFilter))
    list_filter_submit = True
    list_select_related = ("company",)
    search_fields = ("code", "task")
    search_help_text = _("Code of the item (k-001) or task")
    ordering = ("-at", "-id")
    paginator = InfinitePaginator
    fields = (
        "at",
        "company",
        "item_shown",
        "result",
        "task_shown",
        "time_saved_minutes",
        "bugs_introduced",
        "notes_shown",
        "injection_shown",
        "created_by_shown",
        "quarantined_at",
    )
    readonly_fields = fields

    @display(description=_("knowledge"), ordering="code")
    def item_shown(self, outcome: Outcome) -> SafeString | str:
        return item_link(outcome.knowledge_id, outcome.code)

    @display(description=_("result"), ordering="result", label=RESULT_COLOURS)
    def result_shown(self, outcome: Outcome) -> tuple[str, str]:
        return outcome.result, outcome.get_result_display()

    @display(description=_("task"))
    def task_shown(self, outcome: Outcome) -> SafeString | str:
        return visible(outcome.task) if outcome.task else "–"

    @display(description=_("notes"))
    def notes_shown(self, outcome: Outcome) -> SafeString | str:
        shown = format_html('<span class="fieldbook-text">{}</span>', visible(outcome.notes))
        return shown if outcome.notes else "–"

    @display(description=_("injection"))
    def injection_shown(self, outcome: Outcome) -> SafeString | str:
        if outcome.injection is None:
            return "–"
        url = address("admin:knowledge_injection_change", outcome.injection_id)
        return format_html('<a class="fieldbook-link" href="{}">{}</a>', url, outcome.injection.injection_id)

    @display(description=_("reported by"))
    def created_by_shown(self, outcome: Outcome) -> SafeString:
        return visible(outcome.created_by)


@admin.register(ConfidenceEvent)
class ConfidenceEventAdmin(ReadOnlyAdmin):
    """What changed a confidence, newest first; items that were purged keep theirs."""

    list_display = (
        "at",
        "item_shown",
        "kind_shown",
        "delta_shown",
        "before_shown",
        "after_shown",
        "actor_shown",
        "company",
    )
    list_display_links = ("at",)
    list_filter = (("kind", ChoicesDropdownFilter), CompanyFilter, ("at", DayFilter))
    list_filter_submit = True
    list_select_related = ("company",)
    search_fields = ("code", "actor")
    search_help_text = _("Code of the item (k-001), or who changed it")
    ordering = ("-id",)
    paginator = InfinitePaginator
    fields = (
        "at",
        "company",
        "item_shown",
        "kind",
        "delta_shown",
        "before_shown",
        "after_shown",
        "actor_shown",
        "occasion_shown",
    )
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        kept = Knowledge.objects.filter(pk=OuterRef("knowledge_id"))
        return super().get_queryset(request).annotate(is_kept=Exists(kept))

    @display(description=_("knowledge"), ordering="code")
    def item_shown(self, event: Any) -> SafeString | str:
        return item_link(event.knowledge_id if event.is_kept else None, event.code)

    @display(description=_("event"), ordering="kind", label=EVENT_COLOURS)
    def kind_shown(self, event: ConfidenceEvent) -> tuple[str, str]:
        return event.kind, event.get_kind_display()

    @display(description=_("change"), ordering="delta")
    def delta_shown(self, event: ConfidenceEvent) -> str:
        return change(event.delta)

    @display(description=_("before"))
    def before_shown(self, event: ConfidenceEvent) -> str:
        return number(event.before)

    @display(description=_("after"))
    def after_shown(self, event: ConfidenceEvent) -> str:
        return number(event.after)

    @display(description=_("by"))
    def actor_shown(self, event: ConfidenceEvent) -> SafeString:
        return visible(event.actor)

    @display(description=_("occasion"))
    def occasion_shown(self, event: ConfidenceEvent) -> SafeString | str:
        return visible(event.source_id) if event.source_id else "–"

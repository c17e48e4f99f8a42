"""Patterns for staff: the list, where each was seen, its text, and what people decide about it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import action, display

from agents.admin.fields import LinesField, without_detours
from common.admin import CompanyFilter, actor_of, add_form_errors, visible
from common.careful_admin import CarefulAdmin, CarefulForm
from common.companies.models import Company
from common.errors import ApplicationError
from common.receipts.admin import AgentFilter
from common.receipts.models import Receipt
from evolution.patterns.choices import PatternStatus
from evolution.patterns.models import Pattern
from evolution.patterns.rules.values import checked_values
from evolution.patterns.services import storing

_COLOURS = {
    PatternStatus.PENDING: "info",
    PatternStatus.ACTIVE: "success",
    PatternStatus.DEPRECATED: "warning",
}
_TEXT = (
    "name",
    "category",
    "description",
    "keywords",
    "regex",
    "template",
    "template_language",
    "confidence",
)
#: Sightings that a page lists.
_SHOWN = 100


class PatternForm(CarefulForm):
    """A pattern; the same checks as in the service, beside the fields."""

    keywords = LinesField(
        label=_("keywords"), help_text=_("One a line; a file shows the pattern when it holds two of them.")
    )

    class Meta:
        model = Pattern
        fields = ("company", "agent", *_TEXT)

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        try:
            values |= checked_values({name: values[name] for name in _TEXT if name in values})
        except ApplicationError as error:
            add_form_errors(self, error)
        return values

    def _post_clean(self) -> None:
        """The model keeps its stored values: the service compares them with the new ones."""

    def last_change(self) -> tuple[str, datetime] | None:
        receipt = Receipt.objects.filter(company=self.instance.company).about(self.instance.code).first()
        return (receipt.actor_name, receipt.at) if receipt else None


@admin.register(Pattern)
class PatternAdmin(CarefulAdmin):
    """Whoever saves a text stands for it."""

    form = PatternForm
    list_display = (
        "code",
        "name_shown",
        "category",
        "status_shown",
        "confidence",
        "occurrences_shown",
        "company",
        "agent",
        "reported_shown",
        "vouched_shown",
    )
    list_display_links = ("code", "name_shown")
    list_filter = (
        ("status", ChoicesDropdownFilter),
        ("category", ChoicesDropdownFilter),
        CompanyFilter,
        AgentFilter,
    )
    list_select_related = ("company", "agent")
    search_fields = ("name", "description")
    search_help_text = _("Name or description")
    ordering = ("-number", "-id")
    actions = ("promote_chosen", "deprecate_chosen")
    readonly_fields = (
        "status",
        "occurrences_shown",
        "first_seen",
        "reported_shown",
        "vouched_shown",
        "sightings_shown",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).with_occurrences()

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        sets: list[Any] = [(None, {"fields": ("company", "agent", *_TEXT, "seen")})]
        return [*sets, (_("Where it was seen"), {"fields": self.readonly_fields})] if obj else sets

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (*self.readonly_fields, "company") if obj else self.readonly_fields

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """It is deprecated instead: what it was found by would be drafted again."""
        return False

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("patterns.decide_pattern")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        if db_field.name == "company":
            options["queryset"] = Company.objects.written_by(request.user).order_by("slug")
        return super().formfield_for_foreignkey(db_field, request, **options)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        return without_detours(super().formfield_for_dbfield(db_field, request, **options))

    def save_model(self, request: HttpRequest, obj: Pattern, form: Any, change: bool) -> None:
        who = {"actor": actor_of(request), "now": timezone.now()}
        fields = {name: form.cleaned_data[name] for name in _TEXT if name in form.cleaned_data}
        agent = form.cleaned_data.get("agent")
        if change:
            stored = storing.change_pattern(pattern_id=obj.pk, changes={**fields, "agent": agent}, **who)
        else:
            company = form.cleaned_data["company"]
            stored = storing.create_pattern(company=company, values=fields, agent=agent, **who)
        obj.pk, obj.number, obj.name = stored.pk, stored.number, stored.name

    def receipts_of(self, obj: Pattern) -> str:
        return obj.code

    @action(description=_("Promote"), permissions=["decide"])
    def promote_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        lines = [
            _("An active pattern is suggested first. It needs three occurrences and a confidence of 0.7.")
        ]
        return self._decision(request, queryset, storing.promote_pattern, _("Promote these patterns?"), lines)

    @action(description=_("Deprecate"), permissions=["decide"])
    def deprecate_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        lines = [_("A deprecated pattern is suggested no more and not counted further.")]
        return self._decision(
            request, queryset, storing.deprecate_pattern, _("Deprecate these patterns?"), lines
        )

    def _decision(
        self,
        request: HttpRequest,
        queryset: QuerySet,
        decide: Callable[..., Pattern],
        title: Any,
        lines: list[Any],
    ) -> HttpResponse | None:
        def perform(pks: list[int]) -> Any:
            return self._decided(request, pks, decide)

        return self.confirmed_action(request, queryset, title=title, lines=lines, perform=perform)

    def _decided(self, request: HttpRequest, pks: list[int], decide: Callable[..., Pattern]) -> Any:
        done = 0
        for pk in pks:
            try:
                decide(pattern_id=pk, actor=actor_of(request), now=timezone.now())
                done += 1
            except ApplicationError as error:
                messages.error(request, error.message)
        return ngettext("%(done)d pattern changed.", "%(done)d patterns changed.", done) % {"done": done}

    @display(description=_("code"), ordering="number")
    def code(self, pattern: Pattern) -> str:
        return pattern.code

    @display(description=_("name"), ordering="name")
    def name_shown(self, pattern: Pattern) -> SafeString:
        return visible(pattern.name)

    @display(description=_("status"), label=_COLOURS)
    def status_shown(self, pattern: Pattern) -> tuple[str, str]:
        return pattern.status, pattern.get_status_display()

    @display(description=_("occurrences"), ordering="seen")
    def occurrences_shown(self, pattern: Pattern) -> int:
        return pattern.occurrences

    @display(description=_("reported by"))
    def reported_shown(self, pattern: Pattern) -> SafeString:
        return visible(pattern.created_by)

    @display(description=_("vouched for by"))
    def vouched_shown(self, pattern: Pattern) -> SafeString | str:
        return visible(pattern.vouched_by) if pattern.vouched_by else "–"

    @display(description=_("sightings"))
    def sightings_shown(self, pattern: Pattern) -> SafeString | str:
        """The latest, as text: what a repository calls its files is no address."""
        rows = pattern.sightings.all()[:_SHOWN]
        told = (
            (
                visible(row.repository),
                row.commit[:12],
                visible(row.file),
                date_format(localtime(row.at), "SHORT_DATETIME_FORMAT"),
                visible(row.created_by),
            )
            for row in rows
        )
        listed = format_html_join("", "<li>{} {} <code>{}</code> – {} – {}</li>", told)
        return format_html("<ul>{}</ul>", listed) if listed else "–"

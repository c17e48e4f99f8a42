"""Protection rules, which change only here and each time with a receipt; and the log of every check."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from agents.admin.fields import LinesField, without_detours
from agents.admin.filters import AgentFilter
from agents.choices import ProtectionLevel
from agents.models import ProtectedAccess, ProtectedPath
from agents.rules.protection import Outcome
from agents.selectors import rules_without_effect
from agents.services.protection_rules import (
    FIELDS,
    change_protection_rule,
    checked_rule,
    create_protection_rule,
    delete_protection_rule,
)
from common.admin import CompanyFilter, ReadOnlyAdmin, actor_of, add_form_errors, chosen_company, visible
from common.careful_admin import CarefulAdmin, CarefulForm
from common.choices import GLOBAL_SLUG
from common.companies.models import Company
from common.errors import ApplicationError
from common.receipts.models import Receipt


class ProtectedPathForm(CarefulForm):
    """A rule; the same checks as in the service, beside the fields."""

    pattern = forms.CharField(
        label=_("Pattern"),
        strip=False,
        widget=UnfoldAdminTextInputWidget,
        help_text=ProtectedPath._meta.get_field("pattern").help_text,
    )
    section_aliases = LinesField(label=_("Other names of the section"), help_text=_("One a line."))

    class Meta:
        model = ProtectedPath
        fields = FIELDS

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        try:
            values |= checked_rule({name: values[name] for name in FIELDS if name in values})
        except ApplicationError as error:
            add_form_errors(self, error)
        return values

    def last_change(self) -> tuple[str, datetime] | None:
        receipt = Receipt.objects.about(f"protected_paths/{self.instance.pk}/").first()
        return (receipt.actor_name, receipt.at) if receipt else None


@admin.register(ProtectedPath)
class ProtectedPathAdmin(CarefulAdmin):
    """Rules of the person's companies; those for all companies change only by members of `_global`."""

    form = ProtectedPathForm
    list_display = ("pattern_shown", "section_shown", "level", "company_shown", "enabled", "effect")
    list_display_links = ("pattern_shown",)
    list_filter = (("level", ChoicesDropdownFilter), ("enabled", admin.BooleanFieldListFilter))
    list_select_related = ("company",)
    search_fields = ("pattern", "section", "description")
    ordering = ("pattern", "section", "id")
    fieldsets = ((None, {"fields": (*FIELDS, "seen")}),)
    change_form_template = "agents/protected_path_change_form.html"
    change_list_template = "agents/protected_path_change_list.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        rules: QuerySet = admin.ModelAdmin.get_queryset(self, request).select_related("company")
        if not request.user.is_superuser:
            companies = Company.objects.seen_by(request.user)
            rules = rules.filter(Q(company=None) | Q(company__in=companies))
        chosen = chosen_company(request)
        if chosen and self._is_list(request):
            rules = rules.filter(Q(company=None) | Q(company__slug=chosen))
        return rules

    def may_write(self, request: HttpRequest, obj: ProtectedPath | None) -> bool:
        if obj is None or obj.company_id is not None:
            return super().may_write(request, obj)
        return may_rule_all(request)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        options["queryset"] = Company.objects.written_by(request.user).order_by("slug")
        field = super().formfield_for_foreignkey(db_field, request, **options)
        field.required = not may_rule_all(request)
        return field

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        return without_detours(super().formfield_for_dbfield(db_field, request, **options))

    def save_model(self, request: HttpRequest, obj: ProtectedPath, form: Any, change: bool) -> None:
        who = {"actor": actor_of(request), "now": timezone.now()}
        fields = {name: form.cleaned_data[name] for name in FIELDS}
        if change:
            rule = change_protection_rule(rule_id=obj.pk, fields=fields, **who)
        else:
            rule = create_protection_rule(fields=fields, **who)
        obj.pk = rule.pk

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        rule = self.visible_object(request, object_id)
        if not self.has_delete_permission(request, rule):
            raise PermissionDenied
        return self.confirmed(
            request,
            title=_("Delete the rule %(rule)s?") % {"rule": rule},
            lines=[_("What it protected can then be changed by proposals and over the API.")],
            button=_("Delete"),
            obj=rule,
            perform=lambda: self._deleted(request, rule),
            back=reverse("admin:agents_protectedpath_change", args=[rule.pk]),
            dangerous=True,
        )

    def _deleted(self, request: HttpRequest, rule: ProtectedPath) -> HttpResponse:
        delete_protection_rule(rule_id=rule.pk, actor=actor_of(request), now=timezone.now())
        messages.success(request, _("The rule was deleted."))
        return HttpResponseRedirect(reverse("admin:agents_protectedpath_changelist"))

    def receipts_of(self, obj: ProtectedPath) -> str:
        return f"protected_paths/{obj.pk}/"

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Which rules of the page protect nothing is found out once, not per row."""
        page = super().get_changelist_instance(request)
        idle = rules_without_effect(page.result_list)
        for rule in page.result_list:
            rule.is_idle = rule.pk in idle
        return page

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        is_off = not ProtectedPath.objects.filter(enabled=True).exists()
        return super().changelist_view(request, {**(extra_context or {}), "nothing_enabled": is_off})

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Any = None, **options: Any
    ) -> HttpResponse:
        context["is_idle"] = obj is not None and bool(rules_without_effect([obj]))
        return super().render_change_form(request, context, *args, obj=obj, **options)

    @display(description=_("path pattern"), ordering="pattern")
    def pattern_shown(self, rule: ProtectedPath) -> SafeString:
        return visible(rule.pattern)

    @display(description=_("section"), ordering="section")
    def section_shown(self, rule: ProtectedPath) -> SafeString | Any:
        return visible(rule.section) if rule.section else _("whole file")

    @display(description=_("company"), ordering="company__slug")
    def company_shown(self, rule: ProtectedPath) -> Any:
        return rule.company.name if rule.company else _("all")

    @display(description=_("effect"), label={"idle": "warning", "works": "success"})
    def effect(self, rule: ProtectedPath) -> tuple[str, Any]:
        return ("idle", _("protects nothing yet")) if rule.is_idle else ("works", _("protects"))


def may_rule_all(request: HttpRequest) -> bool:
    """Rules for all companies are a matter of `_global`, like all that is shared."""
    return Company.objects.written_by(request.user).filter(slug=GLOBAL_SLUG).exists()


_VERDICT_COLOURS = {
    Outcome.ALLOWED: "success",
    Outcome.BLOCKED: "danger",
    Outcome.NEEDS_OWNER: "warning",
    Outcome.NEEDS_CONFIRMATION: "warning",
}


@admin.register(ProtectedAccess)
class ProtectedAccessAdmin(ReadOnlyAdmin):
    """Every verdict of every check, for ever."""

    list_display = (
        "at",
        "verdict_shown",
        "path_shown",
        "agent_name",
        "request",
        "actor_name",
        "rule_shown",
        "reason",
    )
    list_display_links = ("at",)
    list_filter = (CompanyFilter, AgentFilter, ("verdict", ChoicesDropdownFilter))
    search_fields = ("path", "actor_name", "request", "agent_name")
    ordering = ("-at", "-id")
    fields = (
        "at",
        "verdict",
        "path_shown",
        "company",
        "agent_name",
        "request",
        "actor_name",
        "rule_shown",
        "level_shown",
        "reason",
    )
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        """Those of the person's companies and of `_global`."""
        accesses = super().get_queryset(request)
        if request.user.is_superuser:
            return accesses
        return accesses.filter(company__in=Company.objects.seen_by(request.user))

    @display(description=_("verdict"), ordering="verdict", label=_VERDICT_COLOURS)
    def verdict_shown(self, access: ProtectedAccess) -> tuple[str, str]:
        return access.verdict, access.get_verdict_display()

    @display(description=_("path"), ordering="path")
    def path_shown(self, access: ProtectedAccess) -> SafeString:
        return visible(access.path)

    @display(description=_("rule"), ordering="rule")
    def rule_shown(self, access: ProtectedAccess) -> SafeString:
        return visible(access.rule)

    @display(description=_("level"), ordering="level")
    def level_shown(self, access: ProtectedAccess) -> Any:
        """In words; a check that met no rule has none."""
        return dict(ProtectionLevel.choices).get(access.level, access.level) or "–"

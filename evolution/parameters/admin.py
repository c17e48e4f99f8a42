"""Parameters and their history in the admin: read only. A change is proposed on a page of the proposals."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import DropdownFilter
from unfold.decorators import display
from unfold.paginator import InfinitePaginator
from unfold.widgets import UnfoldAdminSelectWidget

from agents.admin.links import address
from common.admin import CompanyFilter, ReadOnlyAdmin, chosen_company, visible
from common.choices import GLOBAL_SLUG
from common.companies.models import Company
from common.receipts.admin import DayFilter
from evolution.parameters.models import Parameter, ParameterChange
from evolution.parameters.rules.specs import CATEGORIES, SPECS, as_text, checked
from evolution.parameters.selectors import Shown, last_changes, shown_parameters


class CompanyForm(forms.Form):
    """Whose parameters the page shows."""

    company = forms.ChoiceField(label=_("company"), widget=UnfoldAdminSelectWidget)

    def __init__(self, companies: list[Company], company: Company | None) -> None:
        super().__init__(initial={"company": company.slug if company else ""})
        field: Any = self.fields["company"]
        field.choices = [(each.slug, each.name) for each in companies]


@admin.register(Parameter)
class ParameterAdmin(ReadOnlyAdmin):
    """All parameters of one company on a page; a row of the table is only a value that once differed."""

    list_display = ("name", "company", "value_shown")
    fields = ("company", "name", "value_shown")
    readonly_fields = fields

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        companies = self._companies(request)
        company = self._chosen(request, companies)
        may_propose = company is not None and self._may_propose(request, company)
        page = {
            **self.admin_site.each_context(request),
            "title": _("Parameters"),
            "companies": companies,
            "company": company,
            "form": CompanyForm(companies, company),
            "rows": _rows(company, may_propose) if company else [],
            **(extra_context or {}),
        }
        return TemplateResponse(request, "parameters/list.html", page)

    def _companies(self, request: HttpRequest) -> list[Company]:
        """Whose values the person may see; of a company chosen in the header only those."""
        companies: Any = Company.objects.written_by(request.user).order_by("slug")
        chosen = chosen_company(request)
        return [company for company in companies if not chosen or company.slug == chosen]

    def _chosen(self, request: HttpRequest, companies: list[Company]) -> Company | None:
        asked = [company for company in companies if company.slug == request.GET.get("company")]
        own = [company for company in companies if company.slug != GLOBAL_SLUG]
        return next(iter([*asked, *own, *companies]), None)

    def _may_propose(self, request: HttpRequest, company: Company) -> bool:
        may_draft: bool = request.user.has_perm("proposals.add_proposal")
        return may_draft and self.may_write(request, Parameter(company=company))

    @display(description=_("value"))
    def value_shown(self, parameter: Parameter) -> str:
        return as_text(checked(parameter.name, parameter.value))


def _rows(company: Company, may_propose: bool) -> list[dict[str, Any]]:
    last = last_changes(company)
    proposing = "admin:proposals_proposal_parameter"
    return [
        {
            "shown": shown,
            "value": as_text(shown.current),
            "default": as_text(shown.spec.default),
            "bounds": _bounds(shown),
            "last": last.get(shown.name),
            "history_url": address(
                "admin:parameters_parameterchange_changelist", parameter=shown.name, company=company.slug
            ),
            "propose_url": address(proposing, shown.name, company=company.slug) if may_propose else "",
        }
        for shown in shown_parameters(company.pk)
    ]


def _bounds(shown: Shown) -> str:
    if shown.kind == "categories":
        return ", ".join(CATEGORIES)
    return f"{shown.spec.minimum} … {shown.spec.maximum}"


class NameFilter(DropdownFilter):
    """By parameter."""

    title = _("parameter")
    parameter_name = "parameter"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in SPECS]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        name = self.value()
        return queryset.filter(name=name) if name in SPECS else queryset


@admin.register(ParameterChange)
class ParameterChangeAdmin(ReadOnlyAdmin):
    """The history, newest first."""

    list_display = ("at", "name", "change_shown", "company", "proposal_shown", "approver_shown", "reverts")
    list_filter = (NameFilter, CompanyFilter, ("at", DayFilter))
    list_filter_submit = True
    list_select_related = ("company", "reverts")
    ordering = ("-at", "-id")
    paginator = InfinitePaginator
    fields = (
        "at",
        "company",
        "name",
        "change_shown",
        "reason_shown",
        "proposal_shown",
        "approver_shown",
        "reverts",
        "take_back",
    )
    readonly_fields = fields

    @display(description=_("before → after"))
    def change_shown(self, change: ParameterChange) -> str:
        return f"{change.old} → {change.new}"

    @display(description=_("reason"))
    def reason_shown(self, change: ParameterChange) -> SafeString | str:
        return visible(change.reason) if change.reason else "–"

    @display(description=_("approved by"))
    def approver_shown(self, change: ParameterChange) -> SafeString | str:
        return visible(change.approver) if change.approver else "–"

    @display(description=_("proposal"), ordering="proposal_code")
    def proposal_shown(self, change: ParameterChange) -> SafeString | str:
        url = address("admin:proposals_proposal_changelist", q=change.proposal_code, status="all")
        if not (url and change.proposal_code):
            return change.proposal_code or "–"
        return format_html('<a class="fieldbook-link" href="{}">{}</a>', url, change.proposal_code)

    @display(description=_("take back"))
    def take_back(self, change: ParameterChange) -> SafeString | str:
        url = address("admin:proposals_proposal_take_back", change.pk)
        label = _("Propose to take this change back")
        return format_html('<a class="fieldbook-button" href="{}">{}</a>', url, label) if url else "–"

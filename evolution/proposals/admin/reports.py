"""The audit view and the health figures, each with the rows behind it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.core.validators import MaxValueValidator, MinValueValidator
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import urlencode
from django.utils.timezone import get_current_timezone, make_aware
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from agents.admin.links import address
from agents.models import Agent
from common.admin import FieldbookAdmin, chosen_company, visible
from common.choices import GLOBAL_SLUG
from common.companies.models import Company
from evolution.proposals.choices import ItemStatus
from evolution.proposals.selectors import Figure, Window, audit, audit_entries, health
from evolution.proposals.stability import stable_agents
from evolution.proposals.views.reports import AUDIT_STATES, FIRST_YEAR, LAST_YEAR, audit_csv

PAGE = 50
_DAYS = (MinValueValidator(date(FIRST_YEAR, 1, 1)), MaxValueValidator(date(LAST_YEAR, 12, 31)))
#: What each figure counts, and when it is healthy.
FORMULAS = {
    "adoption_rate": _("Items ever applied, of all items that were applied or rejected. Healthy above 60 %."),
    "conflict_rate": _("Items that had a conflict, of all items drafted. Healthy below 10 %."),
    "rollback_rate": _("Items rolled back, of all items ever applied. Healthy below 5 %."),
    "personality_stability": _(
        "Agents whose blocked sections are still what staff saved last, of all agents that have such sections. "
        "Healthy at 100 %."
    ),
}


class DayInput(UnfoldAdminTextInputWidget):
    """A day, with the browser's own calendar."""

    input_type = "date"


class WindowForm(forms.Form):
    """Company, agent and days; a company chosen in the header is the only one offered."""

    company = forms.ModelChoiceField(
        label=_("company"), queryset=Company.objects.none(), widget=UnfoldAdminSelectWidget, empty_label=None
    )
    agent = forms.ModelChoiceField(
        label=_("agent"),
        queryset=Agent.objects.none(),
        required=False,
        widget=UnfoldAdminSelectWidget,
        empty_label=_("All"),
    )
    since = forms.DateField(label=_("drafted from"), required=False, widget=DayInput, validators=_DAYS)
    until = forms.DateField(label=_("drafted to"), required=False, widget=DayInput, validators=_DAYS)

    def __init__(self, request: HttpRequest) -> None:
        companies: Any = Company.objects.seen_by(request.user).order_by("slug")
        chosen = chosen_company(request)
        offered = companies.filter(slug=chosen) if chosen else companies
        own = offered.exclude(slug=GLOBAL_SLUG)
        first = own.filter(members=request.user).first() or own.first() or offered.first()
        sent = request.GET.dict()
        super().__init__({"company": first.pk if first else "", **sent})
        fields: Any = self.fields
        fields["company"].queryset = offered
        fields["company"].label_from_instance = lambda company: company.name
        fields["agent"].queryset = Agent.objects.seen_by(request.user).order_by("name", "id")
        fields["agent"].label_from_instance = lambda agent: agent.name

    def window(self) -> Window | None:
        """What the report is about; None when the form is not understood."""
        if not self.is_valid():
            return None
        fields = self.cleaned_data
        return Window(
            company=fields["company"],
            agent_id=fields["agent"].pk if fields["agent"] else None,
            since=_midnight(fields["since"]),
            until=_midnight(fields["until"] + timedelta(days=1) if fields["until"] else None),
        )


class AuditForm(WindowForm):
    """The same, by the day of the decision, and the outcome."""

    since = forms.DateField(label=_("decided from"), required=False, widget=DayInput, validators=_DAYS)
    until = forms.DateField(label=_("decided to"), required=False, widget=DayInput, validators=_DAYS)
    status = forms.ChoiceField(
        label=_("status"),
        required=False,
        widget=UnfoldAdminSelectWidget,
        choices=[("", _("All")), *[(state, ItemStatus(state).label) for state in AUDIT_STATES]],
    )


@dataclass(frozen=True)
class ShownFigure:
    """One figure with its formula in words and the address of the rows behind it."""

    figure: Figure
    formula: Any
    url: str

    @property
    def percent(self) -> str:
        value = self.figure.value
        return "" if value is None else f"{value * 100:.1f} %".replace(".0 %", " %")


class Reports(FieldbookAdmin):
    """Two pages that only read."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("audit/", view(self.audit_view), name="proposals_proposal_audit"),
            path("health/", view(self.health_view), name="proposals_proposal_health"),
            *super().get_urls(),
        ]

    def audit_view(self, request: HttpRequest) -> HttpResponse:
        """What became of each learning point, newest first; `?export=csv` for a table."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        form = AuditForm(request)
        window = form.window()
        items = None
        if window is not None:
            status = form.cleaned_data["status"]
            items = audit(window, ItemStatus(status) if status else None)
            if request.GET.get("export") == "csv":
                return audit_csv(items)
        rows: Any = Paginator(items if items is not None else [], PAGE).get_page(request.GET.get("page"))
        entries = list(audit_entries(rows.object_list))
        page = {
            **self._report(request, _("Audit"), form),
            "page": rows,
            "rows": [
                (entry, visible(entry.content), _proposal_url(item.proposal_id))
                for entry, item in zip(entries, rows.object_list, strict=True)
            ],
        }
        return TemplateResponse(request, "proposals/audit.html", page)

    def health_view(self, request: HttpRequest) -> HttpResponse:
        """The four figures; `?part=figures` gives only them, for the start page."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        form = WindowForm(request)
        window = form.window()
        figures: list[ShownFigure] = []
        unstable: list[tuple[Any, str]] = []
        if window is not None:
            states = stable_agents(window.company, window.agent_id)
            stability = (sum(states.values()), len(states))
            figures = [_shown(figure, window) for figure in health(window, stability)]
            changed = [pk for pk, is_stable in states.items() if not is_stable]
            agents = Agent.objects.filter(pk__in=changed).order_by("name", "id")
            unstable = [
                (visible(agent.name), address("admin:agents_agent_change", agent.pk)) for agent in agents
            ]
        part = request.GET.get("part") == "figures"
        page = {
            **self._report(request, _("Health"), form),
            "figures": figures,
            "unstable": unstable,
            # On the start page nothing else says which of several companies the figures are about.
            "figures_of": visible(window.company.name) if window and part else "",
            "health_url": reverse("admin:proposals_proposal_health"),
        }
        template = "proposals/figures.html" if part else "proposals/health.html"
        return TemplateResponse(request, template, page)

    def _report(self, request: HttpRequest, title: Any, form: forms.Form) -> dict[str, Any]:
        kept = {name: value for name, value in request.GET.dict().items() if name not in ("page", "export")}
        return {
            **self.admin_site.each_context(request),
            "title": title,
            "form": form,
            "kept": urlencode(kept),
        }


def _midnight(day: date | None) -> datetime | None:
    return make_aware(datetime.combine(day, time.min), get_current_timezone()) if day else None


def _proposal_url(pk: int) -> str:
    return reverse("admin:proposals_proposal_change", args=[pk])


def _shown(figure: Figure, window: Window) -> ShownFigure:
    """The figure with a link to the items that its numerator counts; stability has agents instead."""
    query: dict[str, Any] = {"company": window.company.slug, **figure.rows}
    if window.agent_id is not None:
        query["agent__id__exact"] = window.agent_id
    if window.since is not None:
        query["proposal__created_at_from"] = window.since.astimezone(get_current_timezone()).date()
    if window.until is not None:
        last = window.until.astimezone(get_current_timezone()) - timedelta(days=1)
        query["proposal__created_at_to"] = last.date()
    url = address("admin:proposals_proposalitem_changelist", **query) if figure.rows else ""
    return ShownFigure(figure, FORMULAS[figure.key], url)

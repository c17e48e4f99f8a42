"""The two pages that draft a proposal about a parameter: another value, and the way back of a change."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from agents.admin.links import address
from common.admin import CountedTextarea, FieldbookAdmin, actor_of, add_form_errors, chosen_company
from common.choices import GLOBAL_SLUG
from common.companies.models import Company
from common.errors import ApplicationError, invalid
from evolution.parameters.models import ParameterChange
from evolution.parameters.rules.specs import CATEGORIES, SPECS, Spec, as_text, checked, from_text
from evolution.parameters.selectors import value_of
from evolution.proposals.admin.draft import told_of
from evolution.proposals.services.drafting import MAX_CONTENT
from evolution.proposals.sources.parameters import propose_parameter, propose_revert


class ParameterForm(forms.Form):
    """Another value of one parameter, and why."""

    company = forms.ModelChoiceField(
        label=_("company"),
        queryset=Company.objects.none(),
        widget=UnfoldAdminSelectWidget,
        empty_label=None,
        to_field_name="slug",
    )
    value = forms.Field(label=_("new value"))
    reason = forms.CharField(
        label=_("reason"),
        strip=False,
        widget=CountedTextarea(MAX_CONTENT, rows=3),
        help_text=_("Whoever approves reads this, and it stays in the history."),
    )

    def __init__(self, *args: Any, request: HttpRequest, spec: Spec, **options: Any) -> None:
        super().__init__(*args, **options)
        self.spec = spec
        companies: Any = Company.objects.written_by(request.user).order_by("slug")
        fields: Any = self.fields
        fields["company"].queryset = companies
        fields["company"].label_from_instance = lambda company: company.name
        asked = [request.GET.get("company", ""), chosen_company(request)]
        by_slug = {company.slug: company for company in companies}
        found = [by_slug[slug] for slug in asked if slug in by_slug]
        own = [company for slug, company in by_slug.items() if slug != GLOBAL_SLUG]
        #: Whose value the page shows.
        self.start = next(iter([*found, *own, *by_slug.values()]), None)
        self.initial.setdefault("company", self.start.slug if self.start else None)
        fields["value"] = self._value_field(fields["value"].label)

    def _value_field(self, label: Any) -> forms.Field:
        if self.spec.kind == "categories":
            words = [(word, word) for word in CATEGORIES]
            boxes = UnfoldAdminCheckboxSelectMultipleWidget
            return forms.MultipleChoiceField(label=label, required=False, choices=words, widget=boxes)
        limits = {"minimum": self.spec.minimum, "maximum": self.spec.maximum}
        return forms.CharField(
            label=label,
            max_length=40,
            widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal", "autocomplete": "off"}),
            help_text=_("A number from %(minimum)s to %(maximum)s.") % limits,
        )

    def clean_value(self) -> Any:
        """The value as the rules read it; what it may not be is told beside the field."""
        raw = self.cleaned_data["value"]
        try:
            return checked(self.spec.name, raw) if isinstance(raw, list) else from_text(self.spec.name, raw)
        except ApplicationError as error:
            raise forms.ValidationError(str(error.message)) from error


class ParameterDrafts(FieldbookAdmin):
    """Pages of the proposals; the page of the parameters leads to them."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path("parameter/<slug:name>/", view(self.parameter_view), name="proposals_proposal_parameter"),
            path(
                "take-back/<int:change_id>/", view(self.take_back_view), name="proposals_proposal_take_back"
            ),
        ]
        return [*own, *super().get_urls()]

    def parameter_view(self, request: HttpRequest, name: str) -> HttpResponse:
        """Opened: the value, its bounds and a form. Sent: the proposal is drafted."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if name not in SPECS:
            raise Http404
        form = ParameterForm(request.POST or None, request=request, spec=SPECS[name])
        if request.method == "POST" and form.is_valid():
            answer = self._proposed(request, form)
            if answer is not None:
                return answer
        company = form.start
        page = {
            **self.admin_site.each_context(request),
            "title": _("Propose a change of %(name)s") % {"name": name},
            "form": form,
            "spec": form.spec,
            "company": company,
            "current": as_text(value_of(company.pk, name)) if company else "",
            "default": as_text(form.spec.default),
            "back": address("admin:parameters_parameter_changelist"),
        }
        return TemplateResponse(request, "proposals/parameter.html", page)

    def _proposed(self, request: HttpRequest, form: ParameterForm) -> HttpResponse | None:
        """To the proposal; None after a refusal, which the form then shows."""
        fields = form.cleaned_data
        try:
            drafted = propose_parameter(
                company=fields["company"],
                name=form.spec.name,
                value=fields["value"],
                reason=fields["reason"],
                actor=actor_of(request),
                now=timezone.now(),
            )
        except ApplicationError as error:
            add_form_errors(form, error if error.errors else invalid("/value", error.message))
            return None
        return _to_proposal(told_of(request, drafted).pk)

    def take_back_view(self, request: HttpRequest, change_id: int) -> HttpResponse:
        """Draft the way back of one change; nothing changes before somebody approves it."""
        seen = ParameterChange.objects.seen_by(request.user).select_related("company")
        change = seen.filter(pk=change_id).first() if change_id < 2**63 else None
        if change is None:
            raise Http404
        if not (self.has_add_permission(request) and self.may_write(request, change)):
            raise PermissionDenied
        return self.confirmed(
            request,
            title=_("Propose to take the change of %(name)s back?") % {"name": change.name},
            lines=[
                _("A proposal is drafted that makes %(old)s the value again; somebody must approve it.")
                % {"old": as_text(checked(change.name, change.old))}
            ],
            button=_("Draft"),
            perform=lambda: self._taken_back(request, change),
            back=address("admin:parameters_parameterchange_change", change.pk),
        )

    def _taken_back(self, request: HttpRequest, change: ParameterChange) -> HttpResponse:
        drafted = propose_revert(
            change=change, company=change.company, reason="", actor=actor_of(request), now=timezone.now()
        )
        return _to_proposal(told_of(request, drafted).pk)


def _to_proposal(pk: int) -> HttpResponse:
    return HttpResponseRedirect(reverse("admin:proposals_proposal_change", args=[pk]))

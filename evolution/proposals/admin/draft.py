"""A proposal drafted by a person: any agent they may see, any target; it goes the same way as a runtime's."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from agents.models import Agent
from common.admin import CountedTextarea, FieldbookAdmin, actor_of, add_form_errors, chosen_company
from common.choices import GLOBAL_SLUG
from common.companies.models import Company
from common.errors import ApplicationError
from evolution.proposals.choices import ItemType, Kind, Operation, Trigger
from evolution.proposals.models import Proposal
from evolution.proposals.services.drafting import (
    MAX_CONTENT,
    MAX_TITLE,
    Draft,
    Drafted,
    ItemDraft,
    draft_proposal,
)

#: The texts that a change of an agent's body can be, by the type of what was learnt.
_KINDS = {
    ItemType.EXPERIENCE: Kind.EXPERIENCE,
    ItemType.PARAMETER: Kind.PARAMETER,
    ItemType.ROLE: Kind.ROLE,
    ItemType.WORKFLOW: Kind.WORKFLOW_CHANGE,
}


class DraftForm(forms.Form):
    """One change. What exactly is allowed where, the service knows."""

    agent = forms.ModelChoiceField(
        label=_("agent"), queryset=Agent.objects.none(), widget=UnfoldAdminSelectWidget
    )
    company = forms.ModelChoiceField(
        label=_("company"),
        queryset=Company.objects.none(),
        widget=UnfoldAdminSelectWidget,
        help_text=_("Whose proposal it is; for a shared agent it may then change users/… documents only."),
    )
    type = forms.ChoiceField(label=_("type"), choices=ItemType.choices, widget=UnfoldAdminSelectWidget)
    operation = forms.ChoiceField(
        label=_("operation"), choices=Operation.choices, widget=UnfoldAdminSelectWidget
    )
    target = forms.CharField(
        label=_("target"),
        required=False,
        strip=False,
        max_length=255,
        widget=UnfoldAdminTextInputWidget,
        help_text=_(
            "principles.md, memory/notes.md, users/USER/profile.md, system_prompt, experiences/NUMBER …; "
            "empty for a new experience."
        ),
    )
    new_target = forms.CharField(
        label=_("new path"),
        required=False,
        strip=False,
        max_length=255,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Only for a rename."),
    )
    content = forms.CharField(
        label=_("content"),
        required=False,
        strip=False,
        widget=CountedTextarea(MAX_CONTENT, rows=3),
        help_text=_("One thing to remember; it is put where such things stand in the target."),
    )
    new_text = forms.CharField(
        label=_("or the whole new text"),
        required=False,
        strip=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 8, "spellcheck": "false"}),
        help_text=_("Replaces the whole target; the content above is then only a summary."),
    )
    title = forms.CharField(
        label=_("title"),
        required=False,
        max_length=MAX_TITLE,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Empty: the content's first line."),
    )
    rationale = forms.CharField(
        label=_("rationale"),
        required=False,
        strip=False,
        max_length=10_000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
    )

    def __init__(self, *args: Any, request: HttpRequest, **options: Any) -> None:
        super().__init__(*args, **options)
        user, chosen = request.user, chosen_company(request)
        agents: Any = Agent.objects.live().seen_by(user).select_related("company").order_by("name", "id")
        companies: Any = Company.objects.written_by(user).order_by("slug")
        fields: Any = self.fields
        fields["agent"].queryset = agents
        fields["agent"].label_from_instance = lambda agent: f"{agent.name} ({agent.company.slug})"
        fields["company"].queryset = companies
        start = companies.filter(slug=chosen).first() or companies.exclude(slug=GLOBAL_SLUG).first()
        self.initial.setdefault("company", start.pk if start else None)
        self.initial.setdefault("operation", Operation.UPDATE)

    def clean(self) -> dict[str, Any]:
        fields = super().clean() or self.cleaned_data
        agent, company = fields.get("agent"), fields.get("company")
        if agent and company and agent.company_id != company.pk and not agent.company.is_global:
            self.add_error("company", _("This agent belongs to another company; choose that one."))
        return fields

    def draft(self) -> Draft:
        """What the service is asked to store."""
        fields = self.cleaned_data
        item = ItemDraft(
            type=fields["type"],
            content=fields["content"],
            target=fields["target"],
            operation=fields["operation"],
            new_text=fields["new_text"].replace("\r\n", "\n") or None,
            new_target=fields["new_target"],
        )
        return Draft(
            kind=_KINDS.get(fields["type"], Kind.LEARNING),
            trigger=Trigger.MANUAL,
            items=[item],
            title=fields["title"],
            rationale=fields["rationale"],
        )


class DraftByHand(FieldbookAdmin):
    """The add page."""

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        agent = request.GET.get("agent", "")
        form = DraftForm(request.POST or None, request=request, initial={"agent": agent})
        if request.method == "POST" and form.is_valid():
            proposal = self._drafted(request, form)
            if proposal is not None:
                return HttpResponseRedirect(reverse("admin:proposals_proposal_change", args=[proposal.pk]))
        page = {
            **self.admin_site.each_context(request),
            "title": _("Draft a proposal"),
            "form": form,
            "back": reverse("admin:proposals_proposal_changelist"),
            **(extra_context or {}),
        }
        return TemplateResponse(request, "proposals/draft.html", page)

    def _drafted(self, request: HttpRequest, form: DraftForm) -> Proposal | None:
        """The new proposal, or the one that says the same; None after a refusal, which the form then shows."""
        fields = form.cleaned_data
        try:
            drafted = draft_proposal(
                company=fields["company"],
                agent=fields["agent"],
                draft=form.draft(),
                actor=actor_of(request),
                now=timezone.now(),
            )
        except ApplicationError as error:
            add_item_errors(form, error)
            return None
        return told_of(request, drafted)


def told_of(request: HttpRequest, drafted: Drafted) -> Proposal:
    """The new proposal, or the one that says the same; the person is told which."""
    if drafted.proposal is None:
        known = drafted.known[0]
        told = _("%(code)s says this already (%(status)s); nothing new was stored.")
        names = {"code": known.code, "status": known.get_status_display()}
        messages.warning(request, told % names)
        return known
    messages.success(request, _("%(code)s was drafted.") % {"code": drafted.proposal.code})
    return drafted.proposal


def add_item_errors(form: forms.Form, error: ApplicationError) -> None:
    """The faults of the one item beside the fields of the form."""
    faults = [
        type(fault)(fault.pointer.removeprefix("/items/0"), fault.code, fault.detail)
        for fault in error.errors
    ]
    add_form_errors(form, ApplicationError(error.code, error.message, errors=faults))

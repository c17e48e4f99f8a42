"""The staff page "Preview prompt": what a runtime would get, and why a section is not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views import View
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from agents.models import Agent
from common.admin import add_form_errors, chosen_company
from common.companies.models import Company
from common.errors import ApplicationError
from common.marks import visible
from common.text import estimated_tokens, show_hidden
from prompt.rules.requests import checked_request
from prompt.rules.values import REASON_LABELS
from prompt.sections import SECTIONS
from prompt.services import Prompt, preview_prompt

#: What both databases can compare an id with.
_MAX_ID = 2**63 - 1


class PreviewForm(forms.Form):
    """The request to preview; limits are those of the API."""

    user_id = forms.CharField(
        label=_("User id"),
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Adds this user's preferences and memory."),
    )
    task = forms.CharField(
        label=_("Task"),
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        help_text=_("What the runtime is about to do. Some sections come only with a task or a phase."),
    )
    phase = forms.CharField(
        label=_("Phase"),
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("The step of the work, for example analysis or delivery."),
    )
    company = forms.ChoiceField(
        label=_("Company"),
        widget=UnfoldAdminSelectWidget,
        help_text=_("For whom the agent works in this preview."),
    )

    def __init__(self, *args: Any, companies: list[Company], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["company"].choices = [(company.slug, company.name) for company in companies]  # type: ignore[attr-defined]


@dataclass(frozen=True)
class ShownSection:
    """A section as the page shows it, hidden characters made visible."""

    key: str
    title: str
    text: str
    chars: int
    tokens: int
    shortened: bool


class PromptPreviewView(View):
    """GET only, and nothing is recorded. Needs the permission to view agents; an agent out of sight is a 404."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        if not request.user.has_perm("agents.view_agent"):  # type: ignore[union-attr]
            raise PermissionDenied
        agents = Agent.objects.live().seen_by(request.user).select_related("company")
        agent = agents.filter(pk=pk).first() if pk <= _MAX_ID else None
        if agent is None:
            raise Http404
        companies = _companies(agent, request.user)
        start = {"company": _start(agent, companies, request)}
        form = PreviewForm({**start, **request.GET.dict()}, companies=companies)
        prompt = _prompt(agent, form, companies) if form.is_valid() else None
        context = {
            **admin.site.each_context(request),
            "title": ": ".join([str(_("Preview prompt")), show_hidden(agent.name)]),
            "agent": agent,
            "agent_url": reverse("admin:agents_agent_change", args=[agent.pk]),
            "form": form,
            **(_shown(prompt) if prompt else {}),
        }
        return TemplateResponse(request, "prompt/preview.html", context)


preview = PromptPreviewView.as_view()


def _companies(agent: Agent, user: Any) -> list[Company]:
    """For which companies this agent can be previewed: a shared one for all that the person may see."""
    seen = Company.objects.seen_by(user).order_by("slug")
    return list(seen) if agent.company.is_global else [agent.company]


def _start(agent: Agent, companies: list[Company], request: HttpRequest) -> str:
    chosen = chosen_company(request)
    return chosen if chosen in {company.slug for company in companies} else agent.company.slug


def _prompt(agent: Agent, form: PreviewForm, companies: list[Company]) -> Prompt | None:
    fields = form.cleaned_data
    company = next(company for company in companies if company.slug == fields["company"])
    try:
        wanted = checked_request({name: fields[name] or None for name in ("user_id", "task", "phase")})
        return preview_prompt(agent_id=agent.pk, company=company, request=wanted, now=timezone.now())
    except ApplicationError as error:
        add_form_errors(form, error)
        return None


def _shown(prompt: Prompt) -> dict[str, Any]:
    rendered, language = prompt.rendered, prompt.agent.language
    headings = {section.key: section.en if language == "en" else section.zh for section in SECTIONS}
    titles = {key: heading or str(_("Role definition")) for key, heading in headings.items()}
    sections = [
        ShownSection(
            section.key,
            section.heading or titles[section.key],
            visible(section.text),
            section.chars,
            section.estimated_tokens,
            section.shortened,
        )
        for section in rendered.sections
    ]
    return {
        "sections": sections,
        "left_out": [(titles[key], REASON_LABELS[reason]) for key, reason in rendered.left_out],
        "warnings": rendered.warnings,
        "chars": len(rendered.text),
        "tokens": estimated_tokens(rendered.text),
        "version": prompt.agent.version,
    }

"""Try recall: ask as a runtime would, and see why each lesson is there. Reads only, and leaves no trace."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from agents.admin.links import address
from agents.models import Agent
from agents.selectors import get_agent
from common.admin import FieldbookAdmin, add_form_errors, chosen_company, visible
from common.choices import GLOBAL_SLUG
from common.companies.models import Company
from common.errors import ApplicationError
from evolution.lessons.admin.words import BANDS, DIMENSIONS, PARTS, REASONS, TOLD
from evolution.lessons.choices import Status
from evolution.lessons.rules.recall_request import MAX_TOP_K, TOP_K, checked_request
from evolution.lessons.selectors.recall import Match, Recalled, recall_lessons

SENT = ("task", "tags", "top_k", "min_relevance", "include_archived", "include_superseded", "why_not")


class TryForm(forms.Form):
    """The request of a recall."""

    company = forms.ModelChoiceField(
        label=_("company"), queryset=Company.objects.none(), widget=UnfoldAdminSelectWidget, empty_label=None
    )
    agent = forms.ModelChoiceField(
        label=_("agent"),
        queryset=Agent.objects.none(),
        required=False,
        widget=UnfoldAdminSelectWidget,
        empty_label=_("all agents"),
    )
    task = forms.CharField(
        label=_("task"),
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text=_("What is about to be done; the first line counts as its title."),
    )
    tags = forms.CharField(
        label=_("tags"),
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("With commas between them."),
    )
    files = forms.CharField(
        label=_("files"),
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text=_("One a line."),
    )
    top_k = forms.IntegerField(
        label=_("at most"),
        required=False,
        min_value=1,
        max_value=MAX_TOP_K,
        widget=UnfoldAdminTextInputWidget,
    )
    min_relevance = forms.FloatField(
        label=_("least relevance"),
        required=False,
        min_value=0,
        max_value=1,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("From 0 to 1; 0 shows all that has anything in common."),
    )
    include_archived = forms.BooleanField(
        label=_("archived ones too"), required=False, widget=UnfoldBooleanSwitchWidget
    )
    include_superseded = forms.BooleanField(
        label=_("superseded ones too"), required=False, widget=UnfoldBooleanSwitchWidget
    )
    why_not = forms.CharField(
        label=_("why not this lesson?"),
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("A code such as EXP-001."),
    )

    def __init__(self, request: HttpRequest) -> None:
        companies: Any = Company.objects.seen_by(request.user).order_by("slug")
        chosen = chosen_company(request)
        offered = companies.filter(slug=chosen) if chosen else companies
        own = offered.exclude(slug=GLOBAL_SLUG)
        first = own.filter(members=request.user).first() or own.first() or offered.first()
        start = {"company": first.pk if first else "", "top_k": TOP_K, "min_relevance": 0.3}
        super().__init__({**start, **request.GET.dict()})
        fields: Any = self.fields
        fields["company"].queryset = offered
        fields["company"].label_from_instance = lambda company: company.name
        fields["agent"].queryset = Agent.objects.live().seen_by(request.user).order_by("name", "id")
        fields["agent"].label_from_instance = lambda agent: agent.name

    def recalled(self) -> Recalled | None:
        """The answer; None with the faults beside their fields."""
        if not self.is_valid():
            return None
        fields = self.cleaned_data
        try:
            asked = checked_request(
                {**{name: fields[name] for name in SENT}, "files": _lines(fields["files"])}
            )
            agent = get_agent(fields["company"], fields["agent"].pk) if fields["agent"] else None
            return recall_lessons(company=fields["company"], request=asked, now=timezone.now(), agent=agent)
        except ApplicationError as error:
            add_form_errors(self, error)
            return None


def try_recall_view(page: FieldbookAdmin, request: HttpRequest) -> HttpResponse:
    """The form, and below it the answer to what was sent."""
    if not request.user.has_perm("lessons.view_lesson"):
        raise PermissionDenied
    form = TryForm(request)
    is_asked = any(request.GET.get(name) for name in ("task", "tags", "files"))
    recalled = form.recalled() if is_asked else None
    if not is_asked:
        form.is_valid()
    context = {
        **page.admin_site.each_context(request),
        "title": _("Try recall"),
        "form": form,
        "recalled": recalled,
        "shown": [shown_match(match) for match in recalled.matches] if recalled else [],
        "why_not": _why_not(recalled),
    }
    return TemplateResponse(request, "lessons/try_recall.html", context)


def shown_match(match: Match) -> dict[str, Any]:
    """A lesson with every number of it in plain words."""
    lesson, relevance = match.lesson, match.relevance
    return {
        "code": lesson.code,
        "url": address("admin:lessons_lesson_change", lesson.pk),
        "title": visible(lesson.title),
        "takeaway": visible(lesson.takeaway),
        "severity": lesson.severity,
        "band": match.band,
        "band_label": BANDS[match.band],
        "relevance": f"{relevance.value:.2f}",
        "score": f"{match.score.total:.2f}",
        "recency": f"{match.score.recency:.2f}",
        "sum": f"{sum(match.score.parts.values()):.2f}",
        "dimensions": [
            (*DIMENSIONS[name], f"{value:.2f}", f"{relevance.weights[name]:.1f}")
            for name, value in relevance.scores.items()
        ],
        "parts": [(PARTS[name], f"{match.score.parts[name]:.2f}") for name in PARTS],
    }


def _why_not(recalled: Recalled | None) -> dict[str, Any] | None:
    if recalled is None or recalled.why_not is None:
        return None
    told = recalled.why_not
    more = [(TOLD[name], _shown(name, value)) for name, value in told.items() if name in TOLD]
    return {"code": told["id"], "reason": REASONS[told["reason"]], "more": more}


def _shown(name: str, value: Any) -> Any:
    if name == "state":
        return dict(Status.choices).get(value, value)
    return f"{value:.2f}" if name == "relevance" else value


def _lines(text: str) -> list[str]:
    """One path a line; a single line may hold several with commas."""
    lines = text.splitlines()
    return lines if len(lines) > 1 else text.split(",")

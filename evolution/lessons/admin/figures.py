"""The metrics of lessons: a page, and a strip for the start page. Reads only."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.core.validators import MaxValueValidator, MinValueValidator
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.timezone import get_current_timezone, make_aware
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from agents.admin.links import address
from common.admin import FieldbookAdmin, chosen_company
from common.choices import GLOBAL_SLUG
from common.companies.models import Company
from evolution.lessons.choices import Category, Severity, Source, Status
from evolution.lessons.selectors.metrics import Span, lesson_metrics

_DAYS = (MinValueValidator(date(1970, 1, 1)), MaxValueValidator(date(9000, 12, 31)))
LABELS = {
    "category": (_("category"), dict(Category.choices)),
    "severity": (_("severity"), dict(Severity.choices)),
    "status": (_("status"), dict(Status.choices)),
    "source": (_("source"), dict(Source.choices)),
}


class DayInput(UnfoldAdminTextInputWidget):
    """A day, with the browser's own calendar."""

    input_type = "date"


class SpanForm(forms.Form):
    """Company and days; a company chosen in the header is the only one offered."""

    company = forms.ModelChoiceField(
        label=_("company"), queryset=Company.objects.none(), widget=UnfoldAdminSelectWidget, empty_label=None
    )
    since = forms.DateField(label=_("from"), required=False, widget=DayInput, validators=_DAYS)
    until = forms.DateField(label=_("to"), required=False, widget=DayInput, validators=_DAYS)

    def __init__(self, request: HttpRequest) -> None:
        companies: Any = Company.objects.seen_by(request.user).order_by("slug")
        chosen = chosen_company(request)
        offered = companies.filter(slug=chosen) if chosen else companies
        own = offered.exclude(slug=GLOBAL_SLUG)
        first = own.filter(members=request.user).first() or own.first() or offered.first()
        super().__init__({"company": first.pk if first else "", **request.GET.dict()})
        field: Any = self.fields["company"]
        field.queryset = offered
        field.label_from_instance = lambda company: company.name

    def span(self) -> Span | None:
        """What the figures are about; None when the form is not understood."""
        if not self.is_valid():
            return None
        fields = self.cleaned_data
        until = fields["until"] + timedelta(days=1) if fields["until"] else None
        return Span(company=fields["company"], since=_midnight(fields["since"]), until=_midnight(until))


def metrics_view(page: FieldbookAdmin, request: HttpRequest) -> HttpResponse:
    """The figures; `?part=figures` gives only them, for the start page."""
    if not request.user.has_perm("lessons.view_lesson"):
        raise PermissionDenied
    form = SpanForm(request)
    span = form.span()
    found = lesson_metrics(span, timezone.now()) if span else None
    is_part = request.GET.get("part") == "figures"
    context = {
        **page.admin_site.each_context(request),
        "title": _("Lessons in figures"),
        "form": form,
        "figures": _figures(found) if found else [],
        "counts": _counts(found) if found and not is_part else [],
    }
    template = "lessons/figures.html" if is_part else "lessons/metrics.html"
    return TemplateResponse(request, template, context)


def _figures(found: dict[str, Any]) -> list[dict[str, Any]]:
    judged = found["confirmed"] + found["rejected"]
    told = found["helped"] + found["not_helped"]
    return [
        _figure(
            _("Coverage"),
            found["coverage"],
            found["recalls_with_hit"],
            found["recalls"],
            _("Recalls with a hit."),
        ),
        _figure(
            _("Confirmed"), found["confirmed_ratio"], found["confirmed"], judged, _("Drafts that staff kept.")
        ),
        _figure(
            _("Helped"), found["helped_ratio"], found["helped"], told, _("Recalled lessons that helped.")
        ),
        {
            "label": _("Came back"),
            "value": str(found["recurrence"]),
            "detail": f"{found['recurrence']} / {found['captures']}",
            "hint": _("Captures like an active lesson of the 30 days before."),
        },
        {
            "label": _("Drafts waiting"),
            "value": str(found["drafts_waiting"]),
            "detail": _age(found["oldest_draft_days"]),
            "hint": _("Captured, and not yet confirmed by a person."),
            "url": address("admin:lessons_lesson_changelist", status__exact=Status.DRAFT.value),
        },
    ]


def _figure(label: Any, value: float | None, part: int, whole: int, hint: Any) -> dict[str, Any]:
    percent = "" if value is None else f"{value * 100:.1f} %".replace(".0 %", " %")
    return {"label": label, "value": percent, "detail": f"{part} / {whole}", "hint": hint}


def _age(days: int | None) -> Any:
    return "–" if days is None else _("the oldest for %(days)d days") % {"days": days}


def _counts(found: dict[str, Any]) -> list[tuple[Any, list[tuple[Any, int]]]]:
    return [
        (title, [(labels.get(word, word), count) for word, count in found["counts"][name].items()])
        for name, (title, labels) in LABELS.items()
    ]


def _midnight(day: date | None) -> datetime | None:
    return make_aware(datetime.combine(day, time.min), get_current_timezone()) if day else None

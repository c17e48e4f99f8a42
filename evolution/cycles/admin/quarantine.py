"""Quarantines for staff: what is held and why, lifting, and a form that first shows what it would hold."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import DropdownFilter
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from agents.admin.links import address
from common.admin import (
    CompanyFilter,
    ReadOnlyAdmin,
    actor_of,
    add_form_errors,
    chosen_company,
    visible,
)
from common.companies.models import ApiKey, Company
from common.errors import ApplicationError
from common.marks import table
from common.text import show_hidden
from evolution.cycles.models import Quarantine, QuarantineQuerySet
from evolution.cycles.services.quarantine import Found, find, lift_quarantine, quarantine_key

ADD, CHANGE = "cycles.add_quarantine", "cycles.change_quarantine"
#: What is held, in plain words.
KINDS: dict[str, Any] = {
    "lesson": _("lessons"),
    "learning_item": _("reports in the learning queue"),
    "knowledge": _("items of knowledge, with the warnings that came of them"),
    "outcome": _("outcomes"),
    "pattern": _("patterns"),
    "sighting": _("sightings of patterns"),
    "proposal": _("waiting proposals"),
    "experience": _("experiences that came of them (switched off)"),
}
#: From when the form looks, unless the person says.
_LOOK_BACK = timedelta(days=7)


class StateFilter(DropdownFilter):
    """In force or lifted."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("force", _("in force")), ("lifted", _("is lifted"))]

    def queryset(self, request: HttpRequest, queryset: QuarantineQuerySet) -> QuarantineQuerySet:
        found = {
            "": lambda: queryset,
            "force": queryset.in_force,
            "lifted": lambda: queryset.exclude(lifted_at=None),
        }
        return found.get(self.value() or "", queryset.none)()


class MomentInput(UnfoldAdminTextInputWidget):
    """Day and time, with the browser's own calendar."""

    input_type = "datetime-local"

    def format_value(self, value: Any) -> str | None:
        return f"{value:%Y-%m-%dT%H:%M}" if isinstance(value, datetime) else super().format_value(value)


class HoldForm(forms.Form):
    """Which key, from when on, why."""

    key = forms.ModelChoiceField(
        label=_("API key"), queryset=ApiKey.objects.none(), widget=UnfoldAdminSelectWidget
    )
    since = forms.DateTimeField(
        label=capfirst(_("brought since")),
        widget=MomentInput,
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
        help_text=_("Everything that the key brought from this time on."),
    )
    reason = forms.CharField(
        label=capfirst(_("reason")),
        max_length=2000,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("The next person reads it."),
    )

    def __init__(self, request: HttpRequest) -> None:
        now = timezone.now()
        start = {"since": localtime(now - _LOOK_BACK).replace(second=0, microsecond=0)}
        asked = {"key": request.GET.get("key", "")}
        super().__init__(request.POST if request.method == "POST" else None, initial=start | asked)
        companies: Any = Company.objects.written_by(request.user)
        chosen = chosen_company(request)
        if chosen:
            companies = companies.filter(slug=chosen)
        keys = ApiKey.objects.filter(company__in=companies).select_related("company")
        field: Any = self.fields["key"]
        field.queryset = keys.order_by("company__slug", "name", "id")
        field.label_from_instance = lambda key: f"{show_hidden(key.name)} ({key.prefix}) – {key.company.name}"

    def clean_since(self) -> Any:
        since = self.cleaned_data["since"]
        if since > timezone.now():
            raise forms.ValidationError(_("This time is still to come."))
        return since


@admin.register(Quarantine)
class QuarantineAdmin(ReadOnlyAdmin):
    """Newest first; what was held stays on record after it was lifted."""

    list_display = (
        "key_shown",
        "company",
        "state_shown",
        "since",
        "held_shown",
        "reason_shown",
        "created_by_shown",
        "created_shown",
    )
    list_filter = (StateFilter, CompanyFilter)
    list_filter_submit = True
    list_select_related = ("company",)
    search_fields = ("key_name", "reason")
    search_help_text = _("Name of the key or reason")
    ordering = ("-created_at", "-id")
    actions_list = ("open_hold",)
    change_form_template = "cycles/quarantine_change_form.html"
    fields = (
        "key_shown",
        "company",
        "state_word",
        "since",
        "reason_shown",
        "held_table",
        "created_by_shown",
        "created_shown",
        "lifted_by_shown",
        "lifted_at",
        "lift_reason_shown",
    )
    readonly_fields = fields

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path("hold/", view(self.hold_view), name="cycles_quarantine_hold"),
            path("<int:pk>/lift/", view(self.lift_view), name="cycles_quarantine_lift"),
        ]
        return [*own, *super().get_urls()]

    def receipts_of(self, obj: Quarantine) -> str:
        return f"key:{obj.key_id}"

    def has_hold_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(ADD)

    @action(description=_("Put a key into quarantine"), url_path="new", icon="gpp_bad", permissions=["hold"])
    def open_hold(self, request: HttpRequest) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:cycles_quarantine_hold"))

    def hold_view(self, request: HttpRequest) -> HttpResponse:
        """Key, time and reason; sent once it shows what it would hold, sent again with that seen it does it."""
        if not request.user.has_perm(ADD):
            raise PermissionDenied
        form = HoldForm(request)
        found: Found | None = None
        if request.method == "POST" and form.is_valid():
            values = form.cleaned_data
            found = find(values["key"], values["since"])
            if request.POST.get("seen") == _seen(found):
                try:
                    return self._held(request, values)
                except ApplicationError as error:
                    add_form_errors(form, error)
        page = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Put a key into quarantine"),
            "form": form,
            "found": None if found is None else kinds_of(found.counts),
            "applied": found.applied if found else (),
            "seen": _seen(found) if found else "",
            "is_outdated": found is not None and form.is_valid() and bool(request.POST.get("seen")),
            "back": reverse("admin:cycles_quarantine_changelist"),
        }
        return TemplateResponse(request, "cycles/hold.html", page)

    def _held(self, request: HttpRequest, values: Mapping[str, Any]) -> HttpResponse:
        row, found = quarantine_key(
            key=values["key"],
            since=values["since"],
            reason=values["reason"],
            actor=actor_of(request),
            now=timezone.now(),
        )
        told = _("All that %(key)s brought is in quarantine. The key itself still works until it is revoked.")
        messages.success(request, told % {"key": show_hidden(row.key_name)})
        for code in found.applied:
            told = _("%(code)s was applied: look at it, and roll it back if need be.")
            messages.warning(request, told % {"code": code})
        return HttpResponseRedirect(reverse("admin:cycles_quarantine_change", args=[row.pk]))

    def lift_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Bring everything back, with a reason."""
        row = self.visible_object(request, str(pk))
        if not request.user.has_perm(CHANGE):
            raise PermissionDenied
        page = reverse("admin:cycles_quarantine_change", args=[row.pk])
        if row.lifted_at is not None:
            messages.error(request, _("This quarantine was lifted already."))
            return HttpResponseRedirect(page)
        return self.confirmed(
            request,
            title=_("Lift the quarantine of %(key)s?") % {"key": show_hidden(row.key_name)},
            lines=[_("All that it holds, and no other quarantine does, comes back as it was before.")],
            names=[f"{label}: {count}" for label, count in kinds_of(row.counts)],
            button=_("Lift"),
            obj=row,
            back=page,
            perform=lambda: self._lifted(request, row),
            template="admin/confirm_reason.html",
            context={"asks_why": True},
        )

    def _lifted(self, request: HttpRequest, row: Quarantine) -> Any:
        reason = request.POST.get("reason", "")
        lift_quarantine(quarantine_id=row.pk, reason=reason, actor=actor_of(request), now=timezone.now())
        return _("The quarantine is lifted.")

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Any = None, **options: Any
    ) -> HttpResponse:
        if obj is not None:
            may_lift = obj.lifted_at is None and request.user.has_perm(CHANGE)
            sees_key = request.user.has_perm("companies.view_apikey") and obj.key_id
            context |= {
                "lift_url": reverse("admin:cycles_quarantine_lift", args=[obj.pk])
                if may_lift and self.may_write(request, obj)
                else "",
                "key_url": address("admin:companies_apikey_change", obj.key_id) if sees_key else "",
            }
        return super().render_change_form(request, context, *args, obj=obj, **options)

    @display(description=_("API key"), ordering="key_name")
    def key_shown(self, row: Quarantine) -> SafeString:
        return visible(row.key_name)

    @display(description=_("state"), label={"force": "danger", "lifted": "success"})
    def state_shown(self, row: Quarantine) -> tuple[str, Any]:
        return ("force", _("in force")) if row.lifted_at is None else ("lifted", _("is lifted"))

    @display(description=_("state"))
    def state_word(self, row: Quarantine) -> Any:
        return self.state_shown(row)[1]

    @display(description=_("held"))
    def held_shown(self, row: Quarantine) -> Any:
        return sum(row.counts.values())

    @display(description=_("held"))
    def held_table(self, row: Quarantine) -> Any:
        return table((_("what"), _("how many")), kinds_of(row.counts)) if row.counts else _("nothing")

    @display(description=_("reason"))
    def reason_shown(self, row: Quarantine) -> SafeString:
        return visible(row.reason)

    @display(description=_("put there by"))
    def created_by_shown(self, row: Quarantine) -> SafeString:
        return visible(row.created_by)

    @display(description=_("in quarantine since"), ordering="created_at")
    def created_shown(self, row: Quarantine) -> str:
        return date_format(localtime(row.created_at), "DATETIME_FORMAT")

    @display(description=_("lifted by"))
    def lifted_by_shown(self, row: Quarantine) -> SafeString | str:
        return visible(row.lifted_by) if row.lifted_by else "–"

    @display(description=_("reason of the lifting"))
    def lift_reason_shown(self, row: Quarantine) -> SafeString | str:
        return visible(row.lift_reason) if row.lift_reason else "–"


def kinds_of(counts: Mapping[str, int]) -> list[tuple[Any, ...]]:
    """(what, how many) in the order of `KINDS`, without zeros."""
    return [(label, counts[kind]) for kind, label in KINDS.items() if counts.get(kind)]


def _seen(found: Found) -> str:
    """What a person saw that would be held: another finding has another text."""
    told = [f"{kind}={count}" for kind, count in sorted(found.counts.items())]
    return ";".join([*told, *found.applied]) or "nothing"

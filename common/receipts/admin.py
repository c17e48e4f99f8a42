"""Receipts in the admin: lists, pages, exports and the check of the chain. Nothing here writes."""

from __future__ import annotations

import json
from datetime import datetime, time, timedelta
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.dateparse import parse_date
from django.utils.html import format_html
from django.utils.timezone import get_current_timezone, make_aware
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter, DropdownFilter, RangeDateFilter
from unfold.decorators import action, display

from common.admin import CompanyFilter, ReadOnlyAdmin, chosen_company, visible
from common.receipts.choices import CHANNELS, LINE_TYPES, TOTALS, TRIGGERS, LineStatus
from common.receipts.models import Receipt, ReceiptLine
from common.receipts.selectors import as_yaml, export_shape, texts_of, verify_chain, with_texts

_COMPANIES = Receipt._meta.get_field("company").related_model._default_manager
_AGENTS = Receipt._meta.get_field("agent").related_model._default_manager
#: Agents offered by the filter; others are reached from their own page.
_OFFERED = 200
_SPOKEN = {"": _("(erased)"), "True": _("yes"), "False": _("no")}
_STATUS_COLOURS = {
    LineStatus.APPLIED: "success",
    LineStatus.USER_REJECTED: "warning",
    LineStatus.SKIPPED: "info",
    LineStatus.BLOCKED: "danger",
    LineStatus.CONFLICT: "danger",
    LineStatus.FAILED: "danger",
    LineStatus.ROLLED_BACK: "warning",
    LineStatus.ARCHIVED: "info",
}


def company_name(receipt: Receipt) -> str:
    """The name as it is now; a receipt itself keeps the slug, which never changes."""
    return receipt.company.name


class DayFilter(RangeDateFilter):
    """From the first to the last of two local days, both included."""

    def queryset(self, request: HttpRequest, queryset: models.QuerySet) -> models.QuerySet:
        first, last = self._day("from"), self._day("to")
        if first is not None:
            queryset = queryset.filter(**{f"{self.field_path}__gte": first})
        if last is not None:
            queryset = queryset.filter(**{f"{self.field_path}__lt": last + timedelta(days=1)})
        return queryset

    def _day(self, end: str) -> datetime | None:
        """Local midnight of the day that was typed; None for none, nonsense, or a year no receipt has."""
        typed = str(self.used_parameters.get(f"{self.field_path}_{end}") or "").replace("/", "-")
        try:
            day = parse_date(typed)
        except ValueError:
            return None
        if day is None or not 1970 <= day.year <= 9000:
            return None
        return make_aware(datetime.combine(day, time.min), get_current_timezone())


class AgentFilter(DropdownFilter):
    """By agent, offering only those the person may see."""

    title = _("agent")
    parameter_name = "agent__id__exact"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        agents = _AGENTS.seen_by(request.user).order_by("name", "id")[:_OFFERED]
        return [
            (str(pk), f"{name} ({slug})")
            for pk, name, slug in agents.values_list("pk", "name", "company__slug")
        ]

    def has_output(self) -> bool:
        """Also where no agent is offered: a value in the address must never be ignored."""
        return True

    def queryset(self, request: HttpRequest, queryset: models.QuerySet) -> models.QuerySet:
        value = self.value()
        if not value:
            return queryset
        is_id = value.isascii() and value.isdecimal() and len(value) < 19
        return queryset.filter(agent_id=int(value)) if is_id else queryset.none()


@admin.register(Receipt)
class ReceiptAdmin(ReadOnlyAdmin):
    """What was changed, by whom, when; newest first."""

    list_display = ("number_link", "at", "of_company", "actor_name", "type", "what", "agent_name", "counts")
    list_filter = (CompanyFilter, ("type", ChoicesDropdownFilter), AgentFilter, ("at", DayFilter))
    list_filter_submit = True
    search_fields = ("lines__target", "actor_name", "agent_name", "proposal_code")
    search_help_text = _("Target, person, agent or proposal")
    ordering = ("-at", "-id")
    actions_list = ("verify",)
    actions_detail = ("export_yaml", "export_json")
    change_form_outer_after_template = "admin/receipts/lines.html"
    fields = (
        ("number", "of_company"),
        ("at", "actor_name"),
        ("door", "type"),
        ("what", "agent_name"),
        ("proposal_code", "counts"),
    )
    readonly_fields = ("of_company", "door", "what", "counts")

    def get_queryset(self, request: HttpRequest) -> models.QuerySet:
        return super().get_queryset(request).select_related("company")

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> HttpResponse:
        receipt = self.get_object(request, str(object_id)) if object_id else None
        page = receipt_page(receipt) if receipt else {}
        return super().changeform_view(request, object_id, form_url, {**(extra_context or {}), **page})

    @display(description=_("number"), ordering="number")
    def number_link(self, obj: Receipt) -> str:
        return f"#{obj.number}"

    @display(description=_("company"), ordering="company_slug")
    def of_company(self, obj: Receipt) -> str:
        return company_name(obj)

    @display(description=_("door"))
    def door(self, obj: Receipt) -> str:
        return str(CHANNELS.get(obj.channel, obj.channel))

    @display(description=_("occasion"))
    def what(self, obj: Receipt) -> str:
        return str(TRIGGERS.get(obj.trigger, obj.trigger))

    @display(description=_("totals"))
    def counts(self, obj: Receipt) -> str:
        """The counts that are not zero."""
        return " · ".join(f"{TOTALS.get(name, name)} {count}" for name, count in obj.totals.items() if count)

    @action(description=_("Export as YAML"), url_path="export-yaml", icon="download", permissions=["view"])
    def export_yaml(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._export(request, object_id, "yaml")

    @action(description=_("Export as JSON"), url_path="export-json", icon="download", permissions=["view"])
    def export_json(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._export(request, object_id, "json")

    def _export(self, request: HttpRequest, object_id: str, kind: str) -> HttpResponse:
        found = self.visible_object(request, object_id)
        receipt = with_texts(Receipt.objects.filter(pk=found.pk)).get()
        if kind == "yaml":
            text, content_type = as_yaml(receipt), "application/yaml"
        else:
            text = json.dumps(export_shape(receipt), ensure_ascii=False, indent=2) + "\n"
            content_type = "application/json"
        response = HttpResponse(text, content_type=f"{content_type}; charset=utf-8")
        name = f"receipt-{receipt.company_slug}-{receipt.number}.{kind}"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response

    @action(description=_("Verify the chain"), url_path="verify", icon="verified", permissions=["view"])
    def verify(self, request: HttpRequest) -> HttpResponse:
        """Recomputes the chain of the company asked for; changes nothing, so GET is enough."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        companies = list(_COMPANIES.seen_by(request.user).order_by("slug"))
        asked = request.GET.get("company") or chosen_company(request)
        if len(companies) == 1:
            asked = companies[0].slug
        rows = [(company, verify_chain(company) if company.slug == asked else None) for company in companies]
        page = {
            **self.admin_site.each_context(request),
            "title": _("Verify the chain of receipts"),
            "opts": self.opts,
            "rows": rows,
        }
        return TemplateResponse(request, "admin/receipts/verify.html", page)


def receipt_page(receipt: Receipt) -> dict[str, Any]:
    """What the page of a receipt shows below its fields: the lines with their texts, then the proof."""
    loaded = with_texts(Receipt.objects.filter(pk=receipt.pk)).get()
    texts = texts_of(loaded)
    lines = [
        {
            "line": line,
            "type": LINE_TYPES.get(line.type, line.type),
            "target": visible(line.target),
            "content": _text(texts, line.pk, "content"),
            "reason": _text(texts, line.pk, "rejection_reason"),
        }
        for line in loaded.lines.all()
    ]
    detail = json.dumps(loaded.detail, ensure_ascii=False, indent=2, sort_keys=True) if loaded.detail else ""
    return {
        "receipt_lines": lines,
        "receipt_detail": visible(detail),
        "receipt_analysis": _text(texts, None, "session_analysis"),
    }


def _text(texts: dict[tuple[int | None, str], str], line_id: int | None, field: str) -> Any:
    text = texts.get((line_id, field))
    return "" if text is None else _shown(text)


def _shown(text: str) -> Any:
    """A stored text as staff read it: erased, a switch, or as it is."""
    return _SPOKEN[text] if text in _SPOKEN else visible(text)


@admin.register(ReceiptLine)
class ReceiptLineAdmin(ReadOnlyAdmin):
    """Single lines, newest first; each leads to its receipt."""

    company_lookup = "receipt__company"
    list_display = (
        "receipt_link",
        "at",
        "company",
        "agent_name",
        "kind",
        "target_shown",
        "content",
        "outcome",
    )
    list_display_links = None
    list_filter = (CompanyFilter, AgentFilter, ("status", ChoicesDropdownFilter), ("receipt__at", DayFilter))
    list_filter_submit = True
    list_select_related = ("receipt__company",)
    search_fields = ("target", "receipt__actor_name", "receipt__agent_name")
    search_help_text = _("Target, person or agent")
    ordering = ("-receipt_id", "order", "id")
    fields = (
        "receipt_link",
        "at",
        "company",
        "agent_name",
        "kind",
        "target_shown",
        "content",
        "outcome",
        "rejection_reason",
        "risk_level",
        "document_version",
        "new_sha256",
    )
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> models.QuerySet:
        return super().get_queryset(request).prefetch_related("texts")

    @display(description=_("receipt"), ordering="receipt_id")
    def receipt_link(self, obj: ReceiptLine) -> str:
        url = reverse("admin:receipts_receipt_change", args=[obj.receipt_id])
        return format_html('<a class="text-primary-600" href="{}">#{}</a>', url, obj.receipt.number)

    @display(description=_("when"), ordering="receipt__at")
    def at(self, obj: ReceiptLine) -> datetime:
        return obj.receipt.at

    @display(description=_("company"))
    def company(self, obj: ReceiptLine) -> str:
        return company_name(obj.receipt)

    @display(description=_("agent"))
    def agent_name(self, obj: ReceiptLine) -> str:
        return obj.receipt.agent_name

    @display(description=_("type"), ordering="type")
    def kind(self, obj: ReceiptLine) -> str:
        return str(LINE_TYPES.get(obj.type, obj.type))

    @display(description=_("target"), ordering="target")
    def target_shown(self, obj: ReceiptLine) -> Any:
        return visible(obj.target)

    @display(description=_("content"))
    def content(self, obj: ReceiptLine) -> Any:
        return self._text_of(obj, "content")

    @display(description=_("reason of the rejection"))
    def rejection_reason(self, obj: ReceiptLine) -> Any:
        return self._text_of(obj, "rejection_reason")

    def _text_of(self, obj: ReceiptLine, field: str) -> Any:
        found = [text.text for text in obj.texts.all() if text.field == field]
        return _shown(found[0][:300]) if found else "–"

    @display(description=_("status"), ordering="status", label=_STATUS_COLOURS)
    def outcome(self, obj: ReceiptLine) -> tuple[str, str]:
        return obj.status, obj.get_status_display()

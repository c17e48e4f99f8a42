"""Filters of the proposal lists. None lists rows of companies that the person may not see."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import DropdownFilter

from common.text import forbidden_character
from evolution.proposals.choices import ItemStatus, Status

EVER_APPLIED, BROKEN = "ever_applied", "broken"


class StatusFilter(DropdownFilter):
    """By state; without a choice only what waits."""

    title = _("status")
    parameter_name = "status"
    all_option = None

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            (Status.PENDING, _("waiting")),
            *[(value, label) for value, label in Status.choices if value != Status.PENDING],
            (BROKEN, _("could not be applied")),
            ("all", _("All")),
        ]

    def value(self) -> str:
        return super().value() or Status.PENDING

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        value = self.value()
        if value == "all":
            return queryset
        if value == BROKEN:
            return queryset.filter(status__in=[Status.CONFLICT, Status.FAILED])
        return queryset.filter(status=value) if value in Status.values else queryset.none()


class SourceFilter(DropdownFilter):
    """By who proposed it, reached through a link; it offers no list of names."""

    title = _("proposed by")
    parameter_name = "source"

    def has_output(self) -> bool:
        return bool(self.value())

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        value = request.GET.get(self.parameter_name, "")
        return [(value, value)] if value else []

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        value = self.value()
        if not value:
            return queryset
        return queryset.none() if forbidden_character(value) else queryset.filter(created_by=value)


class ItemStateFilter(DropdownFilter):
    """By state of the item; "ever applied" counts what was rolled back later, as the health figures do."""

    title = _("status")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [*ItemStatus.choices, (EVER_APPLIED, _("ever applied")), ("decided", _("applied or rejected"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        value = self.value()
        applied = [ItemStatus.APPLIED, ItemStatus.ROLLED_BACK]
        if not value:
            return queryset
        if value == EVER_APPLIED:
            return queryset.filter(status__in=applied)
        if value == "decided":
            return queryset.filter(status__in=[*applied, ItemStatus.REJECTED])
        return queryset.filter(status=value) if value in ItemStatus.values else queryset.none()


class ConflictFilter(DropdownFilter):
    """With or without a conflict."""

    title = _("conflict")
    parameter_name = "conflicts"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("with a conflict")), ("no", _("without a conflict"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        if self.value() == "yes":
            return queryset.exclude(conflicts=[])
        return queryset.filter(conflicts=[]) if self.value() == "no" else queryset

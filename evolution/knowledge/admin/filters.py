"""Filters of the list of knowledge."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import DropdownFilter

from evolution.knowledge.models.knowledge import KnowledgeQuerySet
from evolution.knowledge.selectors.listing import low_drafts

FOLDED = "drafts"


class DraftFilter(DropdownFilter):
    """Drafts of little confidence are folded away until somebody asks for them."""

    title = _("drafts of little confidence")
    parameter_name = FOLDED
    all_option = None

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("folded", _("folded away")), ("all", _("shown too")), ("low", _("only these"))]

    def value(self) -> str:
        return super().value() or "folded"

    def queryset(self, request: HttpRequest, queryset: KnowledgeQuerySet) -> KnowledgeQuerySet:
        if request.resolver_match and not request.resolver_match.url_name.endswith("_changelist"):
            return queryset
        value = self.value()
        if value == "all":
            return queryset
        if value not in ("folded", "low"):
            return queryset.none()
        low = low_drafts()
        return queryset.filter(low) if value == "low" else queryset.exclude(low)


class SwitchFilter(DropdownFilter):
    """Handed out or not."""

    title = _("enabled")
    parameter_name = "on"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("yes")), ("no", _("no"))]

    def queryset(self, request: HttpRequest, queryset: KnowledgeQuerySet) -> KnowledgeQuerySet:
        value = self.value()
        if not value:
            return queryset
        return queryset.filter(enabled=value == "yes") if value in ("yes", "no") else queryset.none()

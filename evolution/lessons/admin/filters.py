"""Filters of the list of lessons. None lists rows or words of companies that the person may not see."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import DropdownFilter, TextFilter

from common.text import forbidden_character
from evolution.lessons.admin.shown import WORDS
from evolution.lessons.choices import Severity
from evolution.lessons.models.lesson import LessonQuerySet
from evolution.lessons.selectors.drafts import complete, expiring, incomplete
from evolution.lessons.selectors.lessons import with_tag

#: Words that an import kept as they were written.
OTHER = "other"


class WordFilter(DropdownFilter):
    """By a field whose words are listed; "other" finds what an import kept as it was written."""

    field = ""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [*WORDS[self.field].items(), (OTHER, _("other"))]

    def queryset(self, request: HttpRequest, queryset: LessonQuerySet) -> LessonQuerySet:
        value, known = self.value(), WORDS[self.field]
        if not value:
            return queryset
        if value == OTHER:
            return queryset.exclude(**{f"{self.field}__in": list(known)})
        return queryset.filter(**{self.field: value}) if value in known else queryset.none()


class TypeFilter(WordFilter):
    title, parameter_name, field = _("type"), "type", "type"


class SeverityFilter(WordFilter):
    title, parameter_name, field = _("severity"), "severity", "severity"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(Severity.choices)


class CategoryFilter(WordFilter):
    title, parameter_name, field = _("category"), "category", "category"


class TagFilter(TextFilter):
    """By one tag, in whatever spelling."""

    title = _("tag")
    parameter_name = "tag"

    def queryset(self, request: HttpRequest, queryset: LessonQuerySet) -> LessonQuerySet:
        tag = (self.value() or "").strip()
        if not tag:
            return queryset
        return queryset.none() if forbidden_character(tag) else with_tag(queryset, tag)


class CompleteFilter(DropdownFilter):
    """By whether it has what an active lesson needs."""

    title = _("completeness")
    parameter_name = "parts"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("incomplete", _("incomplete")), ("complete", _("complete"))]

    def queryset(self, request: HttpRequest, queryset: LessonQuerySet) -> LessonQuerySet:
        found = {"": lambda rows: rows, "incomplete": incomplete, "complete": complete}
        return found.get(self.value() or "", LessonQuerySet.none)(queryset)


class ExpiryFilter(DropdownFilter):
    """By how long an active lesson stays in view."""

    title = _("expires")
    parameter_name = "expires"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("soon", _("expiring in 30 days")),
            ("over", _("over, not archived yet")),
            ("never", _("never")),
        ]

    def queryset(self, request: HttpRequest, queryset: LessonQuerySet) -> LessonQuerySet:
        value, today = self.value(), timezone.localdate()
        if not value:
            return queryset
        if value == "soon":
            return expiring(queryset, today)
        if value == "over":
            return queryset.expired(today)
        return queryset.active().filter(expires_on=None) if value == "never" else queryset.none()

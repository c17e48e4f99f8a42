"""The list of lessons: drafts first, then the newest; and what can be done with the chosen ones."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Case, F, QuerySet, Value, When
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import action, display
from unfold.paginator import InfinitePaginator

from common.admin import MAX_SELECTED, CompanyFilter, visible
from common.receipts.admin import AgentFilter
from common.text import forbidden_character, length
from evolution.lessons.admin.desk import DraftsDesk
from evolution.lessons.admin.files import zip_response
from evolution.lessons.admin.filters import (
    CategoryFilter,
    CompleteFilter,
    ExpiryFilter,
    SeverityFilter,
    TagFilter,
    TypeFilter,
)
from evolution.lessons.admin.page import whole
from evolution.lessons.admin.shown import SEVERITY_COLOURS, STATUS_COLOURS, word
from evolution.lessons.choices import Severity, Status
from evolution.lessons.models import Lesson
from evolution.lessons.models.lesson import LessonQuerySet
from evolution.lessons.selectors.drafts import LONG
from evolution.lessons.selectors.lessons import MAX_QUERY, with_words

#: Drafts in front of all others.
_DRAFTS_FIRST = Case(When(status=Status.DRAFT, then=Value(0)), default=Value(1))
_SEVERITY = Case(When(severity=Severity.LOW, then=0), When(severity=Severity.HIGH, then=2), default=1)


@admin.register(Lesson)
class LessonAdmin(DraftsDesk):
    """Lessons of the person's companies."""

    list_display = (
        "code_shown",
        "title_shown",
        "type_shown",
        "severity_shown",
        "category_shown",
        "status_shown",
        "expires_shown",
        "recalled_count",
        "helped_count",
        "company",
    )
    list_display_links = ("code_shown", "title_shown")
    list_filter = (
        ("status", ChoicesDropdownFilter),
        TypeFilter,
        SeverityFilter,
        CategoryFilter,
        ("source", ChoicesDropdownFilter),
        TagFilter,
        CompanyFilter,
        AgentFilter,
        CompleteFilter,
        ExpiryFilter,
    )
    list_filter_submit = True
    list_fullwidth = True
    list_select_related = ("company",)
    search_fields = ("title",)
    search_help_text = _("Code, or words of title, parts and trigger")
    paginator = InfinitePaginator
    actions = (
        "confirm_chosen",
        "reject_chosen",
        "archive_chosen",
        "restore_chosen",
        "promote_chosen",
        "export_chosen",
    )
    actions_list = ("open_desk",)

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        queryset = super().get_queryset(request)
        return queryset.defer(*LONG) if self._is_list(request) else queryset

    def get_ordering(self, request: HttpRequest) -> tuple[Any, ...]:
        return (_DRAFTS_FIRST.asc(), F("number").desc(), F("id").desc())

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[LessonQuerySet, bool]:
        """By code and words, as the API searches."""
        if forbidden_character(search_term) or length(search_term) > MAX_QUERY:
            return queryset.none(), False
        return with_words(queryset, search_term), False

    @action(description=_("Export the chosen ones as EXP-*.md"), permissions=["view"])
    def export_chosen(self, request: HttpRequest, queryset: LessonQuerySet) -> HttpResponse | None:
        lessons = whole(queryset.defer(None)).order_by("company_id", "number", "id")[: MAX_SELECTED + 1]
        if len(lessons) > MAX_SELECTED:
            messages.error(
                request, _("At most %(limit)d rows at once; choose fewer.") % {"limit": MAX_SELECTED}
            )
            return None
        return zip_response(list(lessons))

    @action(description=_("Open the drafts desk"), url_path="drafts", icon="inbox", permissions=["view"])
    def open_desk(self, request: HttpRequest) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:lessons_lesson_desk"))

    @display(description=_("lesson"), ordering="number")
    def code_shown(self, lesson: Lesson) -> SafeString:
        return format_html('<span class="whitespace-nowrap">{}</span>', lesson.code)

    @display(description=_("title"), ordering="title")
    def title_shown(self, lesson: Lesson) -> SafeString:
        return format_html('<span class="block min-w-52">{}</span>', visible(lesson.title))

    @display(description=_("type"), ordering="type")
    def type_shown(self, lesson: Lesson) -> Any:
        return word(lesson, "type")

    @display(description=_("severity"), ordering=_SEVERITY, label=SEVERITY_COLOURS)
    def severity_shown(self, lesson: Lesson) -> tuple[str, Any]:
        return lesson.severity, word(lesson, "severity")

    @display(description=_("category"), ordering="category")
    def category_shown(self, lesson: Lesson) -> SafeString:
        return format_html('<span class="whitespace-nowrap">{}</span>', visible(lesson.category))

    @display(description=_("status"), ordering="status", label=STATUS_COLOURS)
    def status_shown(self, lesson: Lesson) -> tuple[str, str]:
        if lesson.quarantined_at is not None:
            return "quarantined", str(_("in quarantine"))
        return lesson.status, lesson.get_status_display()

    @display(description=_("expires"), ordering="expires_on")
    def expires_shown(self, lesson: Lesson) -> SafeString:
        day = date_format(lesson.expires_on, "SHORT_DATE_FORMAT") if lesson.expires_on else "–"
        return format_html('<span class="whitespace-nowrap">{}</span>', day)

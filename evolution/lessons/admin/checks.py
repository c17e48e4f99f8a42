"""Checks of changes: by reference, with what was open and what was answered. Nothing here writes."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display
from unfold.paginator import InfinitePaginator

from common.admin import CompanyFilter, ReadOnlyAdmin, visible
from common.marks import lines, table
from common.receipts.admin import DayFilter
from evolution.lessons.admin.tables import lesson_link
from evolution.lessons.choices import Verdict
from evolution.lessons.models import ChangeCheck, LessonCheck

_COLOURS = {Verdict.PASS: "success", Verdict.ATTENTION: "warning"}


@admin.register(ChangeCheck)
class ChangeCheckAdmin(ReadOnlyAdmin):
    """The last check of each change, newest first."""

    list_display = (
        "reference_shown",
        "verdict_shown",
        "subject_shown",
        "lessons_shown",
        "company",
        "updated_at",
        "checked_by_shown",
    )
    list_filter = (("verdict", ChoicesDropdownFilter), CompanyFilter, ("updated_at", DayFilter))
    list_filter_submit = True
    list_select_related = ("company",)
    search_fields = ("reference", "subject")
    search_help_text = _("Reference or subject")
    ordering = ("-updated_at", "-id")
    paginator = InfinitePaginator
    fields = (
        "reference_shown",
        "company",
        "verdict",
        "subject_shown",
        "lessons_table",
        "missing_shown",
        "fix_shown",
        "answers_table",
        "files_shown",
        "created_at",
        "updated_at",
        "checked_by_shown",
    )
    readonly_fields = fields

    @display(description=_("reference"), ordering="reference")
    def reference_shown(self, check: ChangeCheck) -> SafeString:
        return visible(check.reference)

    @display(description=_("verdict"), ordering="verdict", label=_COLOURS)
    def verdict_shown(self, check: ChangeCheck) -> tuple[str, str]:
        return check.verdict, check.get_verdict_display()

    @display(description=_("subject"))
    def subject_shown(self, check: ChangeCheck) -> SafeString | str:
        return visible(check.subject) if check.subject else "–"

    @display(description=_("lessons"))
    def lessons_shown(self, check: ChangeCheck) -> str:
        return ", ".join(str(lesson["id"]) for lesson in _lessons(check)[:5]) or "–"

    @display(description=_("asked by"))
    def checked_by_shown(self, check: ChangeCheck) -> SafeString:
        return visible(check.checked_by)

    @display(description=_("changed files"))
    def files_shown(self, check: ChangeCheck) -> SafeString | str:
        return lines(check.modified_files)

    @display(description=_("not cited"))
    def missing_shown(self, check: ChangeCheck) -> str:
        return ", ".join(map(str, check.result.get("missing_citations", []))) or "–"

    @display(description=_("a fix without a lesson"))
    def fix_shown(self, check: ChangeCheck) -> Any:
        return _("yes") if check.result.get("fix_without_lesson") else _("no")

    @display(description=_("lessons that it meets"))
    def lessons_table(self, check: ChangeCheck) -> SafeString | str:
        rows = [
            (
                lesson["id"],
                visible(str(lesson["title"])),
                lines(lesson["matched_files"]),
                lines(item["text"] for item in lesson["open_items"]),
            )
            for lesson in _lessons(check)
        ]
        return table((_("lesson"), _("title"), _("files"), _("open items")), rows)

    @display(description=_("answers"))
    def answers_table(self, check: ChangeCheck) -> SafeString | str:
        answers = LessonCheck.objects.filter(company=check.company_id, reference=check.reference)
        rows = [
            (
                lesson_link(answer.lesson),
                visible(_item(answer)),
                _("done") if answer.done else _("open"),
                visible(answer.note),
                visible(answer.answered_by),
            )
            for answer in answers.select_related("lesson").order_by("lesson__number", "item")
        ]
        return table((_("lesson"), _("item"), _("status"), _("note"), _("answered by")), rows)


def _lessons(check: ChangeCheck) -> list[dict[str, Any]]:
    return check.result.get("lessons", [])


def _item(answer: LessonCheck) -> str:
    items = answer.lesson.checklist
    return str(items[answer.item]["text"]) if answer.item < len(items) else str(answer.item)

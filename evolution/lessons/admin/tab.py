"""The lessons of one agent, as a tab of its page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import QuerySet
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from agents.admin.links import address
from agents.admin.tabs import AgentTab
from common.admin import chosen_company, visible
from evolution.lessons.admin.shown import word
from evolution.lessons.models import Lesson
from evolution.lessons.selectors.drafts import LONG


class LessonTab(AgentTab):
    """Those of this agent alone, newest first; those of all agents are in the list."""

    slug = "lessons"
    title = _("Lessons")
    permission = "lessons.view_lesson"
    headings = (_("lesson"), _("title"), _("severity"), _("status"), _("expires"), _("recalls"), _("helped"))
    empty = _("No lesson is about this agent alone; those of the company hold for all its agents.")

    def queryset(self) -> QuerySet[Lesson]:
        lessons = Lesson.objects.seen_by(self.request.user).filter(agent=self.agent)
        chosen = chosen_company(self.request)
        if chosen:
            lessons = lessons.filter(company__slug=chosen)
        return lessons.defer(*LONG).order_by("-number", "-id")

    def cells(self, row: Lesson) -> Sequence[Any]:
        url = address("admin:lessons_lesson_change", row.pk)
        return (
            format_html('<a href="{}">{}</a>', url, row.code),
            visible(row.title),
            word(row, "severity"),
            row.get_status_display(),
            date_format(row.expires_on, "SHORT_DATE_FORMAT") if row.expires_on else "–",
            row.recalled_count,
            row.helped_count,
        )

    def all_url(self) -> str:
        return address("admin:lessons_lesson_changelist", agent__id__exact=self.agent.pk)

    def buttons(self) -> Iterator[tuple[Any, str]]:
        if self.request.user.has_perm("lessons.add_lesson"):
            yield _("Write a lesson"), address("admin:lessons_lesson_add", agent=self.agent.pk)

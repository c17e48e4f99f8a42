"""Small things on read-only pages."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString

from agents.admin.links import address
from evolution.lessons.models import Lesson


def lesson_link(lesson: Lesson) -> SafeString | str:
    """The code, leading to the lesson's page where there is one."""
    url = address("admin:lessons_lesson_change", lesson.pk)
    return format_html('<a class="fieldbook-link" href="{}">{}</a>', url, lesson.code) if url else lesson.code

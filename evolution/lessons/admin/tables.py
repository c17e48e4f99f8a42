"""Small tables and lists on read-only pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from agents.admin.links import address
from common.admin import visible
from evolution.lessons.models import Lesson


def table(titles: Any, rows: list[tuple[Any, ...]]) -> SafeString | str:
    """A small table; a dash without rows."""
    if not rows:
        return "–"
    head = format_html_join("", '<th scope="col">{}</th>', ((title,) for title in titles))
    body = [format_html_join("", "<td>{}</td>", ((cell,) for cell in row)) for row in rows]
    return format_html(
        '<div class="fieldbook-scroll"><table class="fieldbook-table"><thead><tr>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>",
        head,
        format_html_join("", "<tr>{}</tr>", ((row,) for row in body)),
    )


def lines(texts: Iterable[Any]) -> SafeString | str:
    """One text a line; a dash without any."""
    return format_html_join("", "{}<br>", ((visible(str(text)),) for text in texts)) or "–"


def lesson_link(lesson: Lesson) -> SafeString | str:
    """The code, leading to the lesson's page where there is one."""
    url = address("admin:lessons_lesson_change", lesson.pk)
    return format_html('<a class="fieldbook-link" href="{}">{}</a>', url, lesson.code) if url else lesson.code

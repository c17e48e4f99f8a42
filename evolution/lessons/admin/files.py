"""Lessons as files to download."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpResponse
from django.utils.http import content_disposition_header

from evolution.lessons.markdown import write_lesson
from evolution.lessons.models import Lesson
from evolution.lessons.services.exporting import zipped
from evolution.lessons.services.records import record_of


def file_response(lesson: Lesson) -> HttpResponse:
    """EXP-NNN.md."""
    text = write_lesson(record_of(lesson))
    return _download(text.encode(), "text/markdown; charset=utf-8", f"{lesson.code}.md")


def zip_response(lessons: Sequence[Lesson]) -> HttpResponse:
    """EXP-NNN.md of each; in a folder a company where they belong to several."""
    return _download(zipped(lessons), "application/zip", "lessons.zip")


def _download(content: bytes, content_type: str, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = content_disposition_header(True, name)
    return response

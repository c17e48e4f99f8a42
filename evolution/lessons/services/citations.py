"""Who cites a lesson: written by higher rooms, so that what is under discussion is not archived."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from common.companies.models import Company
from evolution.lessons.models import Lesson, LessonCitation
from evolution.lessons.rules.kinds import lesson_number


@transaction.atomic
def cite_lessons(*, company: Company, reference: str, codes: Iterable[str]) -> list[str]:
    """Say that `reference` (e.g. EP-007) cites exactly the lessons of these codes, openly; the codes that exist.

    Those that it cited before and does not any more are forgotten. Sent twice it changes nothing.
    """
    numbers = [number for number in map(lesson_number, codes) if number]
    lessons = list(Lesson.objects.of_company(company).filter(number__in=numbers).order_by("pk"))
    mine = LessonCitation.objects.filter(lesson__company=company, reference=reference)
    mine.exclude(lesson__in=lessons).delete()
    LessonCitation.objects.bulk_create(
        [LessonCitation(lesson=lesson, reference=reference, is_open=True) for lesson in lessons],
        update_conflicts=True,
        unique_fields=["lesson", "reference"],
        update_fields=["is_open"],
    )
    found = {lesson.number: lesson.code for lesson in lessons}
    return [found[number] for number in dict.fromkeys(numbers) if number in found]


def close_citations(*, company: Company, reference: str) -> int:
    """`reference` is decided: its citations stay on record and hold no lesson any more. How many were open."""
    mine = LessonCitation.objects.filter(lesson__company=company, reference=reference, is_open=True)
    return mine.update(is_open=False)


def open_references(lesson: Lesson) -> list[str]:
    """What cites the lesson and is not decided, in order."""
    cited = lesson.citations.filter(is_open=True).order_by("reference")
    return list(cited.values_list("reference", flat=True))

"""What waits for people among the lessons: drafts in their order, what is incomplete, what expires soon."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from django.db.models import Func, IntegerField, Q

from common.queues import COUNTED, Queue, around
from evolution.lessons.models import Lesson
from evolution.lessons.models.lesson import LessonQuerySet
from evolution.lessons.rules.kinds import Category
from evolution.lessons.rules.lifecycle import MIN_CHECKS, SEVERAL

#: What a row of a list never shows and may be long.
LONG = ("what", "when", "how", "takeaway", "checklist", "extras", "references", "related_files")
#: Days in which a lesson "expires soon".
SOON = 30


class ListLength(Func):
    """How many entries a JSON list has."""

    function = "JSON_ARRAY_LENGTH"
    output_field = IntegerField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, function="JSONB_ARRAY_LENGTH", **context)


def incomplete(lessons: LessonQuerySet) -> LessonQuerySet:
    """Those that lack what an active lesson needs; the same as `rules.lifecycle.completeness_faults` says."""
    return lessons.alias(check_count=ListLength("checklist")).filter(_incomplete())


def complete(lessons: LessonQuerySet) -> LessonQuerySet:
    """Those that lack nothing."""
    return lessons.alias(check_count=ListLength("checklist")).exclude(_incomplete())


def _incomplete() -> Q:
    blank = Q(what="") | Q(when="") | Q(how="") | Q(takeaway="")
    no_rule = Q(category=Category.RULE, rule_experience=None, rule_document=None)
    return blank | Q(check_count__lt=MIN_CHECKS) | Q(takeaway__regex=SEVERAL) | no_rule


def expiring(lessons: LessonQuerySet, today: date) -> LessonQuerySet:
    """Active ones whose last day is one of the next 30, today included."""
    return lessons.active().filter(expires_on__gte=today, expires_on__lte=today + timedelta(days=SOON))


def drafts_for(user: Any, company_slug: str = "") -> LessonQuerySet:
    """Drafts of the companies that the person is a member of, or of the one named."""
    drafts = Lesson.objects.drafts().written_by(user)
    return drafts.filter(company__slug=company_slug) if company_slug else drafts


def drafts_waiting(user: Any, company_slug: str = "") -> int:
    """How many of these there are, up to 1,001. One query."""
    return drafts_for(user, company_slug).order_by()[: COUNTED + 1].count()


def draft_queue(waiting: LessonQuerySet, current: Lesson | None) -> Queue[Lesson]:
    """The drafts around `current`, oldest first, without their long texts."""
    rows = waiting.select_related("agent", "company").defer(*LONG)
    return around(rows, current, order=("id",), beside=lambda row, side: Q(**{f"id__{side}": row.pk}))

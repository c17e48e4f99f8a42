"""Does the loop close? Figures over recalls, captures and decisions. docs/rules.md: lesson metrics."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db.models import Count, Min, Q, QuerySet

from common.companies.models import Company
from evolution.lessons.choices import Source, Status
from evolution.lessons.models import Lesson, RecallLog, RecallOutcome
from evolution.lessons.models.lesson import LessonQuerySet
from evolution.lessons.rules.metrics import (
    RECURRENCE_WINDOW,
    Dated,
    confirmed_ratio,
    coverage,
    helped_ratio,
    recurrences,
)
from evolution.lessons.selectors.lessons import LIBRARY

#: Lessons that nobody typed.
CAPTURED = (Source.COMMIT, Source.CHURN, Source.RULE_FILE, Source.LABEL)
COUNTED = ("category", "severity", "status", "source")


@dataclass(frozen=True)
class Span:
    """What the figures are about: a company, perhaps an agent, times from `since` (inclusive) to `until`."""

    company: Company
    agent_id: int | None = None
    since: datetime | None = None
    until: datetime | None = None

    def of(self, name: str) -> Q:
        """Rows whose time `name` lies in the span."""
        wanted = Q()
        wanted &= Q(**{f"{name}__gte": self.since}) if self.since else Q()
        return wanted & (Q(**{f"{name}__lt": self.until}) if self.until else Q())


def lesson_metrics(span: Span, now: datetime) -> dict[str, Any]:
    """The figures; a ratio is None where there is nothing to divide by. Six queries and one for each count.

    Recalls and outcomes count by their own time, decisions by when they were taken, captures and lessons by when
    they were stored; drafts are those that wait now.
    """
    lessons = Lesson.objects.of_company(span.company).for_agent(span.agent_id)
    drafts = lessons.drafts().aggregate(waiting=Count("pk"), oldest=Min("created_at"))
    oldest = drafts["oldest"]
    return {
        **_recalls(span),
        **_recurrence(lessons, span),
        **_decisions(lessons, span),
        **_outcomes(span),
        "counts": {name: _counts(lessons.filter(span.of("created_at")), name) for name in COUNTED},
        "drafts_waiting": drafts["waiting"],
        "oldest_draft_days": max((now - oldest).days, 0) if oldest else None,
    }


def _recalls(span: Span) -> dict[str, Any]:
    logs = RecallLog.objects.filter(span.of("created_at"), company=span.company)
    if span.agent_id is not None:
        logs = logs.filter(agent_id=span.agent_id)
    found = logs.aggregate(recalls=Count("pk"), recalls_with_hit=Count("pk", filter=Q(hit_count__gt=0)))
    return {"coverage": coverage(found["recalls_with_hit"], found["recalls"]), **found}


def _recurrence(lessons: LessonQuerySet, span: Span) -> dict[str, Any]:
    """Rejected captures say nothing about what came back."""
    captures = lessons.filter(span.of("created_at"), source__in=CAPTURED).exclude(status=Status.REJECTED)
    captured = _dated(captures)
    found: list[tuple[int, int]] = []
    if captured:
        first, last = min(one.date for one in captured), max(one.date for one in captured)
        # The calendar begins on a day before which there is none.
        start = max(first, date.min + RECURRENCE_WINDOW) - RECURRENCE_WINDOW
        near = lessons.active().filter(date__gte=start, date__lte=last)
        found = recurrences(captured, _dated(near))
    return {"recurrence": len(found), "captures": len(captured)}


def _dated(lessons: LessonQuerySet) -> list[Dated]:
    rows = lessons.values_list("number", "date", "tags", "related_files").iterator(chunk_size=2000)
    return [Dated(number, day, tuple(tags), tuple(files)) for number, day, tags, files in rows]


def _decisions(lessons: LessonQuerySet, span: Span) -> dict[str, Any]:
    decided = lessons.filter(span.of("decided_at")).exclude(decided_at=None)
    found = decided.aggregate(
        confirmed=Count("pk", filter=Q(status__in=LIBRARY)),
        rejected=Count("pk", filter=Q(status=Status.REJECTED)),
    )
    return {"confirmed_ratio": confirmed_ratio(found["confirmed"], found["rejected"]), **found}


def _outcomes(span: Span) -> dict[str, Any]:
    rows: QuerySet = RecallOutcome.objects.filter(span.of("reported_at"), recall__company=span.company)
    if span.agent_id is not None:
        rows = rows.filter(recall__agent_id=span.agent_id)
    found = rows.aggregate(yes=Count("pk", filter=Q(helped=True)), no=Count("pk", filter=Q(helped=False)))
    yes, no = found["yes"], found["no"]
    return {"helped_ratio": helped_ratio(yes, no), "helped": yes, "not_helped": no}


def _counts(lessons: LessonQuerySet, name: str) -> dict[str, int]:
    rows = lessons.order_by().values(name).annotate(count=Count("pk")).values_list(name, "count")
    return dict(sorted(rows))

"""Take lessons out of view whose time is over, and the least recalled ones above the cap."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from common.actors import Actor
from common.archive import BATCH
from common.companies.models import Company
from common.receipts.choices import LineStatus, ReceiptType
from common.receipts.rules import Line
from common.receipts.services import write_receipt
from evolution.lessons.choices import ArchiveReason, Category, Status
from evolution.lessons.models import Lesson, LessonCitation
from evolution.lessons.models.lesson import LessonQuerySet
from evolution.lessons.rules.kinds import lesson_code
from evolution.lessons.rules.lifetime import NEVER_ARCHIVED
from evolution.lessons.services.indexing import note_archived
from evolution.lessons.services.locking import lock_company

#: Lessons that a receipt names one by one; of more it holds the counts and a digest of all numbers.
MOST_LINES = 500
#: Codes that a report names.
MOST_NAMED = 100


@dataclass
class ArchiveReport:
    """What was, or would be, archived; `cited` are codes of lessons that are due and stay."""

    expired: int = 0
    least_recalled: int = 0
    codes: list[str] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)
    cited_count: int = 0

    @property
    def archived(self) -> int:
        return self.expired + self.least_recalled


@dataclass
class _Run:
    actor: Actor
    now: datetime
    limit: int | None
    dry_run: bool
    progress: Callable[[int], Any]
    report: ArchiveReport = field(default_factory=ArchiveReport)

    @property
    def today(self) -> date:
        return timezone.localdate(self.now)

    @property
    def room(self) -> int:
        """How many more may be archived, at most a batch."""
        return BATCH if self.limit is None else min(BATCH, self.limit - self.report.archived)


def archive_lessons(
    *,
    actor: Actor,
    now: datetime,
    company: Company | None = None,
    limit: int | None = None,
    dry_run: bool = False,
    progress: Callable[[int], Any] = lambda done: None,
) -> ArchiveReport:
    """Archive the lessons of one or all companies whose time is over on the local day of `now`, then the least
    recalled PRACT-EXP above LESSONS_PRACT_CAP. Rules, calibrations and cited lessons stay.

    In batches of 10,000, each in a transaction with its receipt, so a run that was broken off is simply started
    again, and two at once archive nothing twice. A trial run counts the same and changes nothing.
    docs/rules.md: lesson archive.
    """
    run = _Run(actor, now, limit, dry_run, progress)
    companies = Company.objects.order_by("pk") if company is None else [company]
    for each in companies:
        if run.room > 0:
            _archive_company(run, each)
    return run.report


def due(company: Company, today: date) -> LessonQuerySet:
    """The company's active lessons whose time is over, cited ones too. docs/rules.md: lesson archive."""
    return Lesson.objects.of_company(company).expired(today).exclude(category__in=NEVER_ARCHIVED)


def free(lessons: LessonQuerySet) -> LessonQuerySet:
    """Those that nothing undecided cites."""
    return lessons.exclude(_is_cited())


def _is_cited() -> Exists:
    return Exists(LessonCitation.objects.filter(lesson=OuterRef("pk"), is_open=True))


def above_cap(company: Company, today: date) -> tuple[LessonQuerySet, int]:
    """Free PRACT-EXP that stay after the expired ones went, least recalled first, and how many are too many."""
    practice = Lesson.objects.of_company(company).active().filter(category=Category.PRACTICE)
    staying = practice.exclude(pk__in=free(due(company, today)).values("pk"))
    ordered = free(staying).order_by(F("last_recalled_at").asc(nulls_first=True), "date", "number")
    return ordered, max(staying.count() - settings.LESSONS_PRACT_CAP, 0)


def _archive_company(run: _Run, company: Company) -> None:
    cited = due(company, run.today).filter(_is_cited()).order_by("number").values_list("number", flat=True)
    run.report.cited_count += cited.count()
    run.report.cited += _named(list(cited[:MOST_NAMED]), run.report.cited)
    for step in (_expire, _archive_least_recalled):
        for moved in step(run, company):
            run.progress(moved)
            if run.room < 1:
                return


def _expire(run: _Run, company: Company) -> Iterator[int]:
    waiting = free(due(company, run.today))
    if run.dry_run:
        yield _counted(run, waiting.order_by("number"), ArchiveReason.EXPIRED, waiting.count())
        return
    while moved := _archive_batch(run, company, lambda: waiting.order_by("pk"), ArchiveReason.EXPIRED):
        yield moved


def _archive_least_recalled(run: _Run, company: Company) -> Iterator[int]:
    if run.dry_run:
        ordered, too_many = above_cap(company, run.today)
        yield _counted(run, ordered, ArchiveReason.LEAST_RECALLED, min(too_many, ordered.count()))
        return

    def next_ones() -> Any:
        ordered, too_many = above_cap(company, run.today)
        return ordered[:too_many]

    while moved := _archive_batch(run, company, next_ones, ArchiveReason.LEAST_RECALLED):
        yield moved


def _counted(run: _Run, rows: LessonQuerySet, reason: ArchiveReason, count: int) -> int:
    """What a trial run would move of `count` rows."""
    moved = count if run.limit is None else min(count, run.limit - run.report.archived)
    _count(run, reason, moved, list(rows.values_list("number", flat=True)[: min(moved, MOST_NAMED)]))
    return moved


@transaction.atomic
def _archive_batch(run: _Run, company: Company, rows: Callable[[], Any], reason: ArchiveReason) -> int:
    """Archive the first of `rows`, which are asked for once nobody else can change them; how many."""
    lock_company(company.pk)
    found = list(rows()[: run.room].values_list("pk", "number"))
    if not found:
        return 0
    pks = [pk for pk, _number in found]
    moved = Lesson.objects.filter(pk__in=pks, status=Status.ACTIVE).update(
        status=Status.ARCHIVED,
        archived_at=run.now,
        archive_reason=reason,
        updated_at=run.now,
        version=F("version") + 1,
    )
    note_archived(company, pks)
    numbers = [number for _pk, number in found]
    _write_receipt(run, company, numbers, reason)
    _count(run, reason, moved, numbers[:MOST_NAMED])
    return moved


def _count(run: _Run, reason: ArchiveReason, moved: int, numbers: Sequence[int]) -> None:
    if reason == ArchiveReason.EXPIRED:
        run.report.expired += moved
    else:
        run.report.least_recalled += moved
    run.report.codes += _named(numbers, run.report.codes)


def _named(numbers: Sequence[int], known: Sequence[str]) -> list[str]:
    return [lesson_code(number) for number in numbers[: max(MOST_NAMED - len(known), 0)]]


def _write_receipt(run: _Run, company: Company, numbers: Sequence[int], reason: ArchiveReason) -> None:
    named = numbers if len(numbers) <= MOST_LINES else ()
    digest = hashlib.sha256(",".join(map(str, sorted(numbers))).encode()).hexdigest()
    write_receipt(
        company=company,
        actor=run.actor,
        type=ReceiptType.ARCHIVE,
        trigger="lessons_expired",
        at=run.now,
        lines=[
            Line(
                type="lesson",
                target=lesson_code(number),
                status=LineStatus.ARCHIVED,
                content=str(reason.value),
            )
            for number in named
        ],
        detail={
            "archived": len(numbers),
            "reason": reason.value,
            "numbers_sha256": digest,
            "cited": run.report.cited_count,
        },
    )

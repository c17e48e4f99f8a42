"""Read a repository from where the last run ended, and capture what its new commits tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from common.actors import Actor
from common.companies.models import Company
from common.errors import ApplicationError
from common.receipts.choices import ReceiptType
from common.receipts.rules import Line
from common.receipts.services import write_receipt
from evolution.lessons.gitlog import Batch, GitRepository, Step, next_batch, since
from evolution.lessons.models import Repository
from evolution.lessons.rules.capture_request import CaptureRequest
from evolution.lessons.rules.churn import MAX_DRAFTS
from evolution.lessons.rules.commits import Commit, Skip
from evolution.lessons.services.capture_report import CaptureReport
from evolution.lessons.services.capturing import Capturing, capture
from evolution.lessons.services.repositories import locked_repository, open_repository, repository_named

#: Commits of one run unless it was asked otherwise, and of one transaction.
MOST = 1000
#: How far back a history is read whose last read commit is gone.
LOST = timedelta(days=30)
#: Commits of before that are read again, because a file may have been changed often across runs.
MOST_CONTEXT = 2000


@dataclass(frozen=True)
class Asked:
    """What a run was asked for. `since`: read from behind this commit instead of from the last one read."""

    actor: Actor
    now: datetime
    since: str = ""
    most: int = MOST
    strict: bool = False
    dry_run: bool = False
    progress: Callable[[int], Any] = lambda done: None


@dataclass
class Plan:
    """Batches to read, oldest first; `walked` is the whole history, parents first; `new` are those not yet read."""

    batches: Sequence[Batch] = ()
    walked: Sequence[Step] = ()
    new: frozenset[str] = frozenset()
    note: str = ""


def scan_repository(*, repository_id: int, asked: Asked) -> CaptureReport:
    """Capture from at most `most` new commits, the oldest first; the rest waits for the next run.

    git is read outside of transactions; each thousand commits is stored in one of its own, with the place that
    was reached and a receipt, so that a run that is broken off goes on there. Two runs at once create nothing
    twice. Where the last commit read is gone, the last 30 days are read, all of them. A trial run stores nothing.
    Errors: VALIDATION_ERROR for what cannot be read, naming it; nothing is stored then. NOT_FOUND.
    docs/rules.md: capture cursor.
    """
    repository = Repository.objects.filter(pk=repository_id).first()
    if repository is None:
        raise ApplicationError("NOT_FOUND", _("There is no repository of this name."))
    source = open_repository(repository)
    plan = _plan(source, repository, asked)
    scan = _Scan(repository, source, asked, plan)
    return scan.run()


def _plan(source: GitRepository, repository: Repository, asked: Asked) -> Plan:
    if asked.since:
        source.check_has(asked.since)
    head, start = source.head(), asked.since or repository.cursor_sha
    if head is None:
        return Plan(note="empty")
    if head == start:
        return Plan()
    walked = source.walk(head)
    if start and not asked.since and not (source.has(start) and source.is_ancestor(start, head)):
        lately = since(walked, asked.now - LOST)
        return Plan(_lost(lately, start, head), walked, frozenset(lately), "cursor_lost")
    steps = source.walk(head, start) if start else walked
    new = frozenset(step.sha for step in steps)
    return Plan(list(_batches(steps, start or None, asked.most)), walked, new)


def _batches(steps: Sequence[Step], cursor: str | None, most: int) -> Iterator[Batch]:
    while steps and most > 0:
        batch = next_batch(steps, cursor, min(most, MOST))
        if not batch.shas:
            return
        yield batch
        done = len(batch.shas)
        steps, cursor, most = steps[done:], batch.cursor, most - done


def _lost(shas: Sequence[str], cursor: str, head: str) -> list[Batch]:
    """The cursor stays lost until all are read: a run that is broken off begins anew."""
    starts = range(0, len(shas), MOST)
    parts = [
        Batch(list(shas[start : start + MOST]), cursor, max(len(shas) - start - MOST, 0)) for start in starts
    ]
    return [*(parts[:-1]), Batch(parts[-1].shas if parts else [], head, 0)]


class _Scan:
    """One run over one repository."""

    def __init__(self, repository: Repository, source: GitRepository, asked: Asked, plan: Plan) -> None:
        self.pk, self.path = repository.pk, repository.path
        self.cursor = repository.cursor_sha
        self.window = timedelta(days=repository.churn_window_days)
        self.source, self.asked, self.plan = source, asked, plan
        self.report = CaptureReport()
        self.known: set[str] = set()
        self.ahead = set(plan.new)
        self.committed_at = {step.sha: step.committed_at for step in plan.walked}

    def run(self) -> CaptureReport:
        if self.plan.note:
            self.report.note(self.plan.note)
        if self.source.is_shallow:
            self.report.note("shallow")
        for batch in self.plan.batches:
            self._read(batch)
            if "overtaken" in self.report.notes:
                break
        if not self.plan.batches:
            self._finish()
        return self.report

    def _read(self, batch: Batch) -> None:
        context = list(self.source.read(self._context(batch.shas)))
        self.source.unreadable.clear()
        commits = list(self.source.read(batch.shas))
        with transaction.atomic():
            self._store(batch, commits, context)
            if self.asked.dry_run:
                transaction.set_rollback(True)
        self.ahead.difference_update(batch.shas)
        self.asked.progress(len(batch.shas))

    def _context(self, shas: Sequence[str]) -> list[str]:
        """The commits read before that lie within the churn window before these."""
        if not shas:
            return []
        oldest = min(self.committed_at[sha] for sha in shas) - self.window.total_seconds()
        before = [
            step.sha
            for step in self.plan.walked
            if step.sha not in self.ahead and step.committed_at >= oldest
        ]
        return before[-MOST_CONTEXT:]

    def _store(self, batch: Batch, commits: Sequence[Commit], context: Sequence[Commit]) -> None:
        repository = locked_repository(self.pk)
        run = Capturing(
            repository,
            self.asked.actor,
            self.asked.now,
            strict=self.asked.strict,
            drafts_left=MAX_DRAFTS - sum(made.source == "churn" for made in self.report.made),
            known=self.known,
        )
        part = capture(run, commits, context=context)
        part.skipped += [Skip(sha, "unreadable") for sha in self.source.unreadable]
        part.scanned += len(self.source.unreadable)
        self.known = run.known
        self.report.add(part)
        self.report.left = batch.left
        if repository.cursor_sha == self.cursor and repository.path == self.path:
            repository.cursor_sha = batch.cursor or ""
            self.cursor = self.cursor if self.asked.dry_run else repository.cursor_sha
        else:
            self.report.note("overtaken")
        self._save(repository)
        if part.made or (part.scanned and "overtaken" not in self.report.notes):
            write_capture_receipt(repository, part, self.asked.actor, self.asked.now)

    def _finish(self) -> None:
        """Nothing new: only that it was looked is kept."""
        if self.asked.dry_run:
            return
        with transaction.atomic():
            self._save(locked_repository(self.pk))

    def _save(self, repository: Repository) -> None:
        repository.last_scan_at = self.asked.now
        repository.last_report = self.report.as_json(self.asked.now)
        repository.save(update_fields=["cursor_sha", "last_scan_at", "last_report"])


@transaction.atomic
def capture_pushed(
    *,
    company: Company,
    request: CaptureRequest,
    actor: Actor,
    now: datetime,
    bound_to: Agent | None = None,
) -> CaptureReport:
    """Capture from commits that a runtime sends, by the same rules; sent twice it captures nothing more.

    `bound_to`: the agent of the caller's key; its drafts are about that agent.
    Errors: NOT_FOUND for an unknown repository, STATE_CONFLICT for one that is switched off.
    docs/rules.md: pushed commits.
    """
    found = repository_named(company, request.repository, bound_to.pk if bound_to else None)
    repository = locked_repository(found.pk)
    if not repository.enabled:
        raise ApplicationError(
            "STATE_CONFLICT", _("%s is switched off; staff can switch it on.") % repository.name
        )
    run = Capturing(repository, actor, now, agent=bound_to)
    report = capture(run, request.commits, is_labelled=request.is_labelled)
    known = sum(skip.reason == "already_captured" for skip in report.skipped)
    if report.made or known < report.scanned:
        repository.last_report = report.as_json(now) | {"pushed": True}
        repository.save(update_fields=["last_report"])
        write_capture_receipt(repository, report, actor, now)
    return report


def write_capture_receipt(repository: Repository, report: CaptureReport, actor: Actor, now: datetime) -> None:
    """The receipt of a run: counts, the repository, and a line for each draft."""
    agent = repository.agent
    lines = [Line(type="repository", target=f"repositories/{repository.pk}/{repository.name}")]
    lines += [Line(type="lesson", target=made.lesson.code, content=made.lesson.title) for made in report.made]
    write_receipt(
        company=repository.company,
        actor=actor,
        type=ReceiptType.CAPTURE,
        trigger="commits_captured",
        at=now,
        agent_id=agent.pk if agent else None,
        agent_name=agent.name if agent else "",
        lines=lines,
        detail={**report.counts(), "cursor_sha": repository.cursor_sha},
    )

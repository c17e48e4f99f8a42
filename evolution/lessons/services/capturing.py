"""Make drafts of commits, of often changed files, of rule files and of labelled pull requests: each once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.choices import Language
from agents.models import Agent
from common.actors import Actor
from common.errors import ApplicationError
from common.redaction import redact
from common.text import is_blank
from evolution.lessons.choices import Source
from evolution.lessons.models import CapturedCommit, Lesson, Repository
from evolution.lessons.rules import commits as rules
from evolution.lessons.rules.churn import (
    COOLDOWN,
    IGNORED,
    MAX_DRAFTS,
    ChurnHit,
    ChurnLimits,
    churn_references,
    churn_title,
    find_churn,
)
from evolution.lessons.rules.commits import Commit, Skip, capture_commit, same_commit_key
from evolution.lessons.rules.kinds import MAX_FILES, Category, Severity, is_severe_enough, lesson_code
from evolution.lessons.rules.paths import MAX_PATH, normalise_paths
from evolution.lessons.rules.rule_files import RuleFile, rule_files, rule_title
from evolution.lessons.rules.subjects import first_line, judge_subject
from evolution.lessons.rules.values import MAX_REFERENCES, shortened
from evolution.lessons.services.capture_report import CaptureReport, Made
from evolution.lessons.services.storing import Capture, create_lesson

#: Keys looked for by one query.
_QUERY = 500


@dataclass
class Capturing:
    """One run over a repository whose row the caller holds locked; `drafts_left` of churn.

    `agent`: of whom the drafts are; None leaves it to the repository.
    """

    repository: Repository
    actor: Actor
    now: datetime
    strict: bool = False
    drafts_left: int = MAX_DRAFTS
    agent: Agent | None = None
    known: set[str] = field(default_factory=set)
    report: CaptureReport = field(default_factory=CaptureReport)
    new: dict[str, Lesson | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.agent = self.agent or self.repository.agent
        if self.agent is not None and self.agent.deleted_at is not None:
            message = _("The agent of %s was deleted; choose another on the page of the repository.")
            raise ApplicationError("STATE_CONFLICT", message % self.repository.name)

    @property
    def language(self) -> str:
        return self.agent.language if self.agent else Language.ZH

    def is_wanted(self, severity: str) -> bool:
        return is_severe_enough(severity, self.repository.min_severity) and is_severe_enough(
            severity, settings.LESSONS_MIN_SEVERITY
        )

    def is_known(self, *keys: str) -> bool:
        return any(key in self.known or key in self.new for key in keys)


def capture(
    run: Capturing, commits: Sequence[Commit], *, context: Sequence[Commit] = (), is_labelled: bool = False
) -> CaptureReport:
    """Make the drafts that these commits give, oldest first, in the caller's transaction.

    `context`: commits of before, whose changes count for churn and give nothing else. `is_labelled`: a person asked
    for a lesson about these commits. What was captured once, is never captured again.
    docs/rules.md: commit grammar, churn, rule files, pushed commits, capture runs.
    """
    run.known |= _known_keys(run.repository, _keys_of(commits))
    run.known |= _rule_keys(run.repository)
    run.report.scanned += len(commits)
    for commit in commits:
        _capture_one(run, commit)
        _capture_rules(run, commit)
    if is_labelled:
        _capture_label(run, commits)
    _capture_churn(run, commits, context)
    CapturedCommit.objects.bulk_create(
        CapturedCommit(repository=run.repository, key=key, lesson=lesson, at=run.now)
        for key, lesson in run.new.items()
    )
    run.known |= run.new.keys()
    run.new.clear()
    return run.report


def _capture_one(run: Capturing, commit: Commit) -> None:
    found = capture_commit(commit)
    if isinstance(found, Skip):
        run.report.skipped.append(found)
        return
    keys = (commit.sha, _twin(commit))
    if run.is_known(*keys):
        run.report.skipped.append(Skip(commit.sha, "already_captured"))
    elif not run.is_wanted(found.severity):
        run.report.skipped.append(Skip(commit.sha, "below_min_severity"))
    else:
        lesson = _draft_of_commit(run, found)
        if lesson is None:
            run.report.skipped.append(Skip(commit.sha, "not_storable"))
            return
        run.new |= dict.fromkeys(keys, lesson)


def _draft_of_commit(run: Capturing, found: rules.Capture) -> Lesson | None:
    reverted = _captured_as(run.repository, found.reverts)
    related = [lesson_code(reverted.number)] if reverted else []
    values = {
        "title": found.subject if is_blank(found.title) else found.title,
        "severity": found.severity,
        "category": Category.PRACTICE,
        "trigger": found.trigger,
        "date": _day(found.author_date, run.now),
        "tags": found.tags,
        "related_files": found.related_files,
        **{name: getattr(found, name) for name in ("what", "when", "how", "takeaway")},
        "references": found.references,
        "related": list(dict.fromkeys([*related, *found.related_codes]))[:MAX_REFERENCES],
    }
    origin = Capture(
        repository=run.repository,
        sha=found.sha,
        subject=found.subject,
        reverts_sha=found.reverts,
        confidence=found.confidence,
        files_left_out=found.files_left_out,
        redactions=found.redactions,
    )
    return _draft(run, values, origin, Source.COMMIT, found.warnings)


def _captured_as(repository: Repository, sha: str) -> Lesson | None:
    """The lesson that this commit (perhaps with a shortened name) gave."""
    if not sha:
        return None
    lessons = Lesson.objects.filter(repository=repository, source=Source.COMMIT)
    named = lessons.filter(sha=sha) if len(sha) >= 40 else lessons.filter(sha__startswith=sha)
    return named.order_by("number").first()


def _capture_rules(run: Capturing, commit: Commit) -> None:
    for file in rule_files(commit):
        key = _path_key("rule", file.path)
        if run.is_known(key):
            run.report.passed_over["rule_already_captured"] += 1
        elif not run.is_wanted(Severity.MEDIUM):
            run.report.passed_over["rule_below_min_severity"] += 1
        else:
            lesson = _draft_of_rule(run, commit, file)
            if lesson is not None:
                run.new[key] = lesson


def _draft_of_rule(run: Capturing, commit: Commit, file: RuleFile) -> Lesson | None:
    subject = redact(first_line(commit.subject))
    values = {
        "title": rule_title(RuleFile(redact(file.path).text, file.reason), run.language),
        "severity": Severity.MEDIUM,
        "category": Category.RULE,
        "trigger": f"commit {commit.sha[:7]}",
        "date": _day(commit.author_date, run.now),
        "related_files": [file.path] if len(file.path) <= MAX_PATH else [],
    }
    origin = Capture(
        repository=run.repository, sha=commit.sha, subject=subject.text, redactions=subject.counts
    )
    return _draft(run, values, origin, Source.RULE_FILE)


def _capture_label(run: Capturing, commits: Sequence[Commit]) -> None:
    """One draft for all the commits, unless one of them gave or gives a draft anyhow."""
    told = [commit for commit in commits if not commit.is_merge and not commit.is_boundary] or list(commits)
    if not told:
        return
    keys = [f"label {commit.sha}" for commit in told]
    if run.is_known(*keys, *(commit.sha for commit in told)):
        run.report.passed_over["label_already_captured"] += 1
        return
    if not run.is_wanted(Severity.MEDIUM):
        run.report.passed_over["label_below_min_severity"] += 1
        return
    lesson = _draft_of_label(run, told)
    if lesson is not None:
        run.new |= dict.fromkeys(keys, lesson)
        run.report.skipped = [skip for skip in run.report.skipped if skip.sha != told[-1].sha]


def _draft_of_label(run: Capturing, told: Sequence[Commit]) -> Lesson | None:
    last = told[-1]
    subject = redact(first_line(last.subject))
    body = rules.body_parts(redact(last.body[: rules.MAX_BODY]).text)
    paths = normalise_paths(file.path for commit in told for file in commit.files)
    kept = [path for path in paths if len(path) <= MAX_PATH][:MAX_FILES]
    values = {
        "title": shortened(judge_subject(subject.text).title or subject.text or last.sha, rules.MAX_TITLE),
        "severity": Severity.MEDIUM,
        "category": Category.PRACTICE,
        "trigger": f"commit {last.sha[:7]}",
        "date": _day(last.author_date, run.now),
        "related_files": kept,
        "references": [commit.sha for commit in told[-MAX_REFERENCES:]],
        **body,
    }
    origin = Capture(
        repository=run.repository,
        sha=last.sha,
        subject=subject.text,
        files_left_out=len(paths) - len(kept),
        redactions=subject.counts,
    )
    return _draft(run, values, origin, Source.LABEL)


def _capture_churn(run: Capturing, commits: Sequence[Commit], context: Sequence[Commit]) -> None:
    repository = run.repository
    limits = ChurnLimits(
        threshold=repository.churn_threshold,
        window_days=repository.churn_window_days,
        is_strict=run.strict or repository.churn_strict,
        ignored=(*IGNORED, *repository.churn_ignore),
        max_drafts=max(run.drafts_left, 0),
    )
    fresh = {commit.sha for commit in commits}
    found = find_churn([*context, *commits], limits, run.now, _drafted(run), fresh)
    if not run.is_wanted(Severity.LOW):
        run.report.passed_over["churn_below_min_severity"] += len(found.hits) + found.left_out
        return
    run.report.add_churn(found)
    today = timezone.localdate(run.now)
    # What the cap leaves out rests as well: the same commits sent again must give nothing new.
    run.new |= {f"{_path_key('churn', path)} {today}": None for path in found.left_out_paths}
    for hit in found.hits:
        key = f"{_path_key('churn', hit.path)} {today}"
        lesson = None if run.is_known(key) else _draft_of_churn(run, hit)
        if lesson is not None:
            run.new[key] = lesson
            run.drafts_left -= 1


def _draft_of_churn(run: Capturing, hit: ChurnHit) -> Lesson | None:
    path, days = redact(hit.path).text, run.repository.churn_window_days
    values = {
        "title": churn_title(path, days, hit.count, run.language),
        "severity": Severity.LOW,
        "category": Category.PRACTICE,
        "trigger": f"commit {hit.commits[-1][:7]}",
        "date": _day(hit.last, run.now),
        "related_files": [hit.path] if len(hit.path) <= MAX_PATH else [],
        "references": churn_references(hit),
    }
    origin = Capture(repository=run.repository, sha=hit.commits[-1])
    return _draft(run, values, origin, Source.CHURN)


def _draft(
    run: Capturing, values: Mapping[str, Any], origin: Capture, source: Source, warnings: Iterable[str] = ()
) -> Lesson | None:
    """The stored draft; None for what cannot be one, which stops nothing."""
    try:
        lesson = create_lesson(
            company=run.repository.company,
            values=values,
            actor=run.actor,
            now=run.now,
            agent=run.agent,
            source=source,
            capture=origin,
        )
    except ApplicationError as error:
        if error.code != "VALIDATION_ERROR":
            raise
        return None
    if warnings:
        lesson.warnings = list(warnings)
        lesson.save(update_fields=["warnings"])
    run.report.made.append(Made(lesson, origin.sha, source))
    run.report.redactions.update(lesson.redactions)
    return lesson


def _day(moment: datetime | None, now: datetime) -> date:
    """The local day of a moment; today for none, and for one at the end of the calendar."""
    try:
        return timezone.localdate(moment or now)
    except OverflowError:
        return timezone.localdate(now)


def _twin(commit: Commit) -> str:
    """The key by which the rebased twin of a commit is known. docs/rules.md: rebased twins."""
    subject, moment = same_commit_key(commit.subject, commit.author_date)
    # Without a date two equal subjects may be two commits.
    told = f"{subject}\n{moment or commit.sha}"
    return f"twin {hashlib.sha256(told.encode()).hexdigest()}"


def _path_key(kind: str, path: str) -> str:
    return f"{kind} {shortened(redact(path).text, MAX_PATH)}"


def _keys_of(commits: Iterable[Commit]) -> list[str]:
    return [key for commit in commits for key in (commit.sha, _twin(commit), f"label {commit.sha}")]


def _known_keys(repository: Repository, keys: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for start in range(0, len(keys), _QUERY):
        rows = CapturedCommit.objects.filter(repository=repository, key__in=keys[start : start + _QUERY])
        found |= set(rows.values_list("key", flat=True))
    return found


def _rule_keys(repository: Repository) -> set[str]:
    rows = CapturedCommit.objects.filter(repository=repository, key__startswith="rule ")
    return set(rows.values_list("key", flat=True))


class _Resting(dict[str, datetime]):
    """Redacted path -> when it last gave a draft, asked for by the path as it is."""

    def get(self, path: str, default: Any = None) -> Any:
        return super().get(_path_key("churn", path).removeprefix("churn "), default)


def _drafted(run: Capturing) -> _Resting:
    """The files that gave a draft lately, in this run too."""
    rows = CapturedCommit.objects.filter(
        repository=run.repository, key__startswith="churn ", at__gte=run.now - COOLDOWN
    )
    before = {_churned(key): at for key, at in rows.order_by("at").values_list("key", "at")}
    return _Resting(before | {_churned(key): run.now for key in run.known if key.startswith("churn ")})


def _churned(key: str) -> str:
    """The path of a key `churn <path> <day>`."""
    return key.removeprefix("churn ").rpartition(" ")[0]

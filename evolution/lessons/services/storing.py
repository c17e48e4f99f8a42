"""Make lessons and change what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from common.actors import Actor
from common.companies.models import Company
from common.counters.services import next_number
from common.errors import ApplicationError, invalid
from common.redaction import redact, redact_value
from evolution.lessons.choices import Source, Status
from evolution.lessons.models import PREFIX, Lesson, Repository
from evolution.lessons.rules.kinds import Category, LessonType, Severity
from evolution.lessons.rules.lifecycle import Completeness, check_complete, completeness_faults
from evolution.lessons.rules.lifetime import expires_on
from evolution.lessons.rules.values import (
    LIMITS,
    LINES,
    PARTS,
    check_signal,
    checked_values,
    shortened,
)
from evolution.lessons.services.indexing import index_new, reindex
from evolution.lessons.services.links import found_among, rules_of, supersede
from evolution.lessons.services.locking import locked, write
from evolution.lessons.services.receipts import write_lesson_receipt
from evolution.lessons.services.records import digest

#: Fields that are links and not columns.
_LINKS = ("related", "supersedes", "rule_experience", "rule_document")
_DEFAULTS = {"type": LessonType.BUG_FIX, "severity": Severity.MEDIUM, "category": Category.PRACTICE}


@dataclass(frozen=True)
class Capture:
    """Where a captured lesson comes from; `redactions` counts what was taken out of it before, by kind."""

    repository: Repository | None = None
    sha: str = ""
    subject: str = ""
    reverts_sha: str = ""
    confidence: float | None = None
    files_left_out: int = 0
    redactions: Mapping[str, int] = field(default_factory=dict)


@transaction.atomic
def create_lesson(
    *,
    company: Company,
    values: Mapping[str, Any],
    actor: Actor,
    now: datetime,
    agent: Agent | None = None,
    source: str = Source.MANUAL,
    status: str = Status.DRAFT,
    capture: Capture | None = None,
) -> Lesson:
    """Store a lesson under the company's next number, with secrets taken out first; no receipt for a draft.

    `values`: the fields of docs/api.md "Lessons"; dates as `date`, `related` and `supersedes` as codes. A
    related lesson that is not there is kept as a reference. `agent` must be visible to the company. `status`
    is draft, or active for a complete lesson.
    Errors: VALIDATION_ERROR, LESSON_INCOMPLETE, NOT_FOUND, LESSON_SUPERSEDE_CYCLE, STATE_CONFLICT.
    """
    fields = checked_values({"title": "", **values})
    number = next_number(company_id=company.pk, prefix=PREFIX)
    lesson = Lesson(
        company=company,
        agent=agent,
        number=number,
        status=status,
        source=source,
        created_by=actor.name[:200],
        created_by_key_id=actor.key_id,
    )
    related = _fill(lesson, fields, now)
    _keep_origin(lesson, capture or Capture())
    if status == Status.ACTIVE:
        check_complete(completeness_of(lesson))
    lesson.save(force_insert=True)
    if related:
        lesson.related.set(related)
    superseded = supersede(lesson, fields.get("supersedes"), now=now)
    index_new(lesson)
    reindex(*superseded)
    return lesson


def _fill(lesson: Lesson, fields: Mapping[str, Any], now: datetime) -> list[Lesson]:
    """Set the fields of a new lesson, without secrets; the lessons that it is related to."""
    columns, redactions = redacted({name: value for name, value in fields.items() if name not in _LINKS})
    columns |= rules_of(lesson.company, fields)
    for name, value in {**_DEFAULTS, "date": timezone.localdate(now), **columns}.items():
        setattr(lesson, name, value)
    related, missing = found_among(lesson.company, fields.get("related") or ())
    lesson.references = [*lesson.references, *missing]
    lesson.redactions = redactions
    check_signal(vars(lesson))
    for name, value in _expiry(lesson, fields).items():
        setattr(lesson, name, value)
    return related


def _keep_origin(lesson: Lesson, capture: Capture) -> None:
    subject = redact(capture.subject)
    lesson.repository, lesson.sha = capture.repository, capture.sha
    lesson.subject, lesson.reverts_sha = shortened(subject.text, 500), capture.reverts_sha
    lesson.capture_confidence, lesson.files_left_out = capture.confidence, capture.files_left_out
    taken_out = Counter(lesson.redactions) + Counter(capture.redactions) + Counter(subject.counts)
    lesson.redactions = dict(taken_out)


@transaction.atomic
def change_lesson(
    *,
    lesson_id: int,
    changes: Mapping[str, Any],
    actor: Actor,
    now: datetime,
    expected: Collection[int] | None = None,
) -> Lesson:
    """Change fields of a lesson, with secrets taken out first; a receipt unless it is a draft.

    `changes` as `values` of `create_lesson`, and `agent` as a row. What is complete stays complete. A key
    changes only drafts that a key reported. `expires_manual` false makes the expiry automatic again.
    Errors: as `create_lesson`; SCOPE_MISSING for keys, VERSION_MISMATCH, STATE_CONFLICT for a rejected one.
    """
    lesson = locked(lesson_id, expected)
    _check_may_change(lesson, actor)
    fields = checked_values(changes)
    before, incomplete = digest(lesson), _missing(lesson)
    columns, related = _wanted(lesson, changes, fields)
    changed = _apply(lesson, columns, fields)
    check_signal(vars(lesson))
    if lesson.status != Status.DRAFT and _missing(lesson) - incomplete:
        check_complete(completeness_of(lesson))
    linked = related is not None and set(related) != set(lesson.related.all())
    if linked:
        lesson.related.set(related or ())
    others = supersede(lesson, fields["supersedes"], now=now) if "supersedes" in fields else []
    if changed or linked:
        write(lesson, now=now, **changed)
    reindex(lesson, *others)
    after = digest(lesson)
    if lesson.status != Status.DRAFT and (changed or linked or others or after != before):
        write_lesson_receipt(
            [lesson, *others],
            actor=actor,
            now=now,
            trigger="lesson_changed",
            digests={lesson.pk: after},
            detail={"version": lesson.version, "before_sha256": before, "after_sha256": after},
        )
    return lesson


def _wanted(
    lesson: Lesson, changes: Mapping[str, Any], fields: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Lesson] | None]:
    """The columns that a change asks for, without secrets, and the related lessons (None: as they are)."""
    columns, counts = redacted({name: value for name, value in fields.items() if name not in _LINKS})
    columns |= rules_of(lesson.company, fields)
    if "agent" in changes:
        columns["agent"] = changes["agent"]
    if counts:
        columns["redactions"] = dict(Counter(lesson.redactions) + Counter(counts))
    if "related" not in fields:
        return columns, None
    if lesson.number in fields["related"]:
        raise invalid("/related", _("A lesson is not related to itself: leave %s out.") % lesson.code)
    related, missing = found_among(lesson.company, fields["related"])
    references = [*columns.get("references", lesson.references), *missing]
    columns["references"] = list(dict.fromkeys(references))
    return columns, related


def completeness_of(lesson: Lesson) -> Completeness:
    """What is looked at before a lesson may become active."""
    return Completeness(
        **{name: getattr(lesson, name) for name in PARTS},
        checks=[item["text"] for item in lesson.checklist],
        category=lesson.category,
        has_rule=bool(lesson.rule_experience_id or lesson.rule_document_id),
    )


def redacted(columns: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, int]]:
    """The columns without secrets and personal data, and how many were taken out, by kind.

    What grew beyond its limit by that is cut. Whoever writes: a lesson is exported and recalled by others.
    """
    counts: Counter[str] = Counter()
    result: dict[str, Any] = {}
    for name, value in columns.items():
        if name == "related_files":
            result[name] = list(dict.fromkeys(_redacted_path(path, counts) for path in value))
        elif name in ("tags", "references"):
            result[name] = [shortened(_redacted(text, counts), LIMITS[name]) for text in value]
        elif name == "checklist":
            limit = LIMITS[name]
            result[name] = [
                {**item, "text": shortened(_redacted(item["text"], counts), limit)} for item in value
            ]
        elif name == "extras":
            found = redact_value(value)
            counts.update(found.counts)
            result[name] = found.value
        elif name in (*LINES, *PARTS):
            result[name] = shortened(_redacted(value, counts), LIMITS[name])
        else:
            result[name] = value
    return result, dict(counts)


def _redacted(text: str, counts: Counter[str]) -> str:
    found = redact(text)
    counts.update(found.counts)
    return found.text


def _redacted_path(path: str, counts: Counter[str]) -> str:
    """A path without secrets; an e-mail address stays, because a folder may be named so."""
    found = redact(path)
    if set(found.counts) <= {"email"}:
        return path
    counts.update(found.counts)
    return shortened(found.text, LIMITS["related_files"])


def _check_may_change(lesson: Lesson, actor: Actor) -> None:
    if lesson.status == Status.REJECTED:
        raise ApplicationError(
            "STATE_CONFLICT",
            _("%(code)s was rejected and cannot be changed.") % {"code": lesson.code},
            extra={"status": lesson.status},
        )
    if actor.key_id is None:
        return
    if lesson.status != Status.DRAFT or lesson.source != Source.API:
        raise ApplicationError(
            "SCOPE_MISSING", _("A key may change only drafts that a key reported; sign in as staff.")
        )


def _apply(lesson: Lesson, columns: dict[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Set the columns on the lesson (not yet stored), the expiry with them; those that differ."""
    columns.pop("expires_on", None)
    columns.pop("expires_manual", None)
    before = {name: getattr(lesson, name) for name in (*columns, "expires_on", "expires_manual")}
    for name, value in columns.items():
        setattr(lesson, name, value)
    moves = any(name in columns and columns[name] != before[name] for name in ("date", "category"))
    if moves or "expires_on" in fields or "expires_manual" in fields:
        # Otherwise it stays: that of a restored lesson counts from another day.
        columns |= _expiry(lesson, fields)
    for name, value in columns.items():
        setattr(lesson, name, value)
    return {name: value for name, value in columns.items() if before[name] != value}


def _expiry(lesson: Lesson, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Expiry and whether it was set by hand, for the lesson's date and category. docs/rules.md: lesson expiry."""
    computed = expires_on(lesson.date, lesson.category)
    if fields.get("expires_manual") is False:
        return {"expires_on": computed, "expires_manual": False}
    if "expires_on" in fields:
        return {"expires_on": fields["expires_on"], "expires_manual": fields["expires_on"] != computed}
    if lesson.expires_manual:
        return {"expires_on": lesson.expires_on, "expires_manual": True}
    return {"expires_on": computed, "expires_manual": False}


def _missing(lesson: Lesson) -> set[str]:
    return {fault.pointer for fault in completeness_faults(completeness_of(lesson))}

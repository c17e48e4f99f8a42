"""Bring an existing library in: new lessons, the same again (skipped), and with `update` what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from agents.services.importing import ImportLine, ImportReport, Outcome
from common.actors import Actor
from common.companies.models import Company
from common.counters.services import next_number, raise_to
from common.errors import ApplicationError
from common.text import forbidden_character
from evolution.lessons.choices import ArchiveReason, Source, Status
from evolution.lessons.markdown import write_lesson
from evolution.lessons.models import PREFIX, Lesson
from evolution.lessons.rules.kinds import MAX_IMPORTED, lesson_code
from evolution.lessons.rules.lifetime import expires_on
from evolution.lessons.rules.records import LessonRecord
from evolution.lessons.rules.values import LIMITS
from evolution.lessons.selectors.lessons import lessons_of
from evolution.lessons.services.folder import Item
from evolution.lessons.services.indexing import reindex
from evolution.lessons.services.links import resolve, unlink
from evolution.lessons.services.locking import lock_company, write
from evolution.lessons.services.receipts import write_lesson_receipt
from evolution.lessons.services.records import SAME, WAITING, record_of, split_references
from evolution.lessons.services.storing import redacted

#: Lessons that share a transaction and a receipt.
BATCH = 100
#: What a row of an index says; a file says the rest.
ROW_FIELDS = {
    "title": "title",
    "type": "type",
    "severity": "severity",
    "category": "category",
    "date": "date",
    "tags": "tags",
    "related_files": "related_files",
    "takeaway": "key_lesson",
}
MAX_FILES = 200


@dataclass
class Import:
    """What an import was asked for, and what it has met so far."""

    company: Company
    actor: Actor
    now: datetime
    agent: Agent | None = None
    update: bool = False
    taken: dict[int, str] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    report: ImportReport = field(default_factory=ImportReport)
    #: Lessons that were there when the batch began.
    known: dict[int, Lesson] = field(default_factory=dict)

    @property
    def today(self) -> date:
        return timezone.localdate(self.now)


def import_lessons(
    *,
    items: Sequence[Item],
    company: Company,
    actor: Actor,
    now: datetime,
    agent: Agent | None = None,
    update: bool = False,
    dry_run: bool = False,
    progress: Callable[[int], Any] = lambda done: None,
) -> ImportReport:
    """Store what `read_folder` found; every item is reported, found = imported + skipped + failed.

    A lesson that is there with other content is skipped, unless `update`. A faulty one fails alone. A trial run
    goes the same way and keeps nothing. Links are made once both ends are there; until then they are kept.
    """
    run = Import(company, actor, now, agent, update)
    with transaction.atomic() if dry_run else nullcontext():
        _raise_counter(items, company)
        for batch in _batches(items):
            _import_batch(run, batch)
            progress(len(batch))
        _link(run)
        if dry_run:
            transaction.set_rollback(True)
    return run.report


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]


def _raise_counter(items: Iterable[Item], company: Company) -> None:
    """Before the first lesson is numbered: a document of others must not take the number of a file."""
    numbers = [item.record.number for item in items if item.record and item.record.number]
    numbers = [number for number in numbers if number <= MAX_IMPORTED]
    if numbers:
        raise_to(company_id=company.pk, prefix=PREFIX, number=max(numbers))


@transaction.atomic
def _import_batch(run: Import, batch: Sequence[Item]) -> None:
    lock_company(run.company.pk)
    numbers = [item.record.number for item in batch if item.record and item.record.number]
    known = lessons_of(run.company).filter(number__in=numbers)
    run.known = {lesson.number: lesson for lesson in known}
    stored = []
    for item in batch:
        line, lesson = _import_item(run, item)
        run.report.lines.append(line)
        if lesson is not None:
            stored.append(lesson)
    if stored:
        reindex(*stored)
        write_lesson_receipt(
            stored,
            actor=run.actor,
            now=run.now,
            trigger="lessons_imported",
            detail={"lessons": len(stored)},
        )


def _import_item(run: Import, item: Item) -> tuple[ImportLine, Lesson | None]:
    record = item.record
    if record is None:
        return ImportLine(
            Outcome.FAILED if item.failed else Outcome.SKIPPED, item.source, reason=item.reason
        ), None
    told = (item.source, f"{record.code} {record.title}".strip())
    warnings = tuple(record.warnings)
    again = _met_before(run, item)
    if again:
        return ImportLine(Outcome.SKIPPED, *told, again, warnings), None
    try:
        with transaction.atomic():
            lesson, reason = _stored(run, item, record)
    except ApplicationError as error:
        return ImportLine(Outcome.FAILED, *told, str(error.message), warnings), None
    if lesson is None:
        return ImportLine(Outcome.SKIPPED, *told, reason, warnings), None
    return ImportLine(
        Outcome.IMPORTED, item.source, f"{lesson.code} {lesson.title}", reason, warnings
    ), lesson


def _met_before(run: Import, item: Item) -> str:
    """Why this item is another's twin in the same import; empty when it is not."""
    assert item.record is not None
    number = item.record.number
    met: dict[Any, str] = run.taken if number else run.hashes
    key = number or item.sha256
    if key in met:
        values = {"code": item.record.code, "source": met[key]}
        told = _("%(code)s was in %(source)s already") if number else _("the same text as %(source)s")
        return str(told % values)
    met[key] = item.source
    return ""


def _stored(run: Import, item: Item, record: LessonRecord) -> tuple[Lesson | None, str]:
    """The lesson that was stored, or None and why not."""
    if record.number is None:
        lessons = Lesson.objects.of_company(run.company)
        known = lessons.filter(source=Source.IMPORT, sha=item.sha256).first()
        if known is not None:
            return None, str(_("it was imported before, as %(code)s") % {"code": known.code})
        return _created(run, item, record), ""
    if record.number > MAX_IMPORTED:
        told = {"code": record.code, "most": lesson_code(MAX_IMPORTED)}
        raise ApplicationError(
            "VALIDATION_ERROR", _("%(code)s is above %(most)s; give it a lower number") % told
        )
    existing = run.known.get(record.number)
    if existing is None:
        return _created(run, item, record), ""
    wanted = _completed(record, existing, is_row=item.is_row)
    columns = columns_of(wanted, run.today)
    candidate = record_of(Lesson(number=existing.number, **columns))
    if write_lesson(candidate) == write_lesson(record_of(existing)):
        return None, str(_("it is there already"))
    if not run.update:
        return None, str(_("it is there already with other content; --update takes this one"))
    # As it is now: an earlier one of the batch may have freed it from its successor.
    existing = lessons_of(run.company).get(pk=existing.pk)
    _update(existing, wanted, columns, run)
    return existing, str(_("updated"))


def _created(run: Import, item: Item, record: LessonRecord) -> Lesson:
    number = record.number or next_number(company_id=run.company.pk, prefix=PREFIX)
    lesson = Lesson(
        company=run.company,
        agent=run.agent,
        number=number,
        source=Source.IMPORT,
        sha=item.sha256,
        subject=item.source[:500] if item.sha256 else "",
        warnings=list(record.warnings),
        created_by=run.actor.name[:200],
        created_by_key_id=run.actor.key_id,
        **columns_of(record, run.today),
    )
    if lesson.status == Status.ARCHIVED:
        lesson.archived_at, lesson.archive_reason = run.now, ArchiveReason.IMPORTED
    lesson.save(force_insert=True)
    return lesson


def columns_of(record: LessonRecord, today: date) -> dict[str, Any]:
    """The record as columns, without secrets and within their limits. Links wait in references and extras."""
    day = record.date or today
    names = [name for name in SAME if name != "number"]
    columns: dict[str, Any] = {name: getattr(record, name) for name in names}
    columns["date"] = day
    if record.date is None and not record.expires_manual:
        columns["expires_on"] = expires_on(day, record.category)
    columns |= {name: str(columns[name])[:40] for name in ("type", "category", "signal")}
    files = [path for path in record.related_files if len(path) <= LIMITS["related_files"]]
    columns |= {
        "tags": list(record.tags),
        "related_files": files[:MAX_FILES],
        "files_left_out": len(record.related_files) - len(files[:MAX_FILES]),
        "checklist": [{"text": check.text, "done": check.done} for check in record.checklist],
        "references": [*record.references, *(lesson_code(number) for number in record.related)],
        "extras": dict(record.extras),
    }
    _check_characters([columns, record.warnings])
    columns, counts = redacted(columns)
    links = {"supersedes": record.supersedes, "superseded_by": record.superseded_by}
    columns["extras"] |= {name: lesson_code(number) for name, number in links.items() if number}
    return {**columns, "redactions": counts}


def _check_characters(value: Any) -> None:
    """Errors: VALIDATION_ERROR for a character that no database stores (an escape in a front matter can hide one)."""
    if isinstance(value, dict):
        for key, item in value.items():
            _check_characters(str(key))
            _check_characters(item)
    elif isinstance(value, list):
        for item in value:
            _check_characters(item)
    elif isinstance(value, str) and (found := forbidden_character(value)):
        raise ApplicationError("VALIDATION_ERROR", _("it contains %s; remove this character") % found)


def _completed(record: LessonRecord, existing: Lesson, *, is_row: bool) -> LessonRecord:
    """The record as it is to be compared with the lesson that is there: what it does not say stays as it is."""
    known = record_of(existing)
    if is_row:
        missing = {warning.partition(":")[2] for warning in record.warnings}
        said = [name for name, key in ROW_FIELDS.items() if key not in missing]
        changes_of_row = {name: getattr(record, name) for name in said} | _expiry(record, known)
        if record.status != Status.ACTIVE:
            changes_of_row["status"] = record.status
        record = replace(known, **changes_of_row)
    changes: dict[str, Any] = {}
    if record.date is None:
        changes |= {
            "date": known.date,
            "expires_on": known.expires_on,
            "expires_manual": known.expires_manual,
        }
    if set(record.related) <= set(known.related):
        # The other end may have said it.
        changes["related"] = known.related
    if record.superseded_by is None and known.superseded_by:
        changes["superseded_by"] = known.superseded_by
        if record.status == Status.ACTIVE and known.status == Status.SUPERSEDED:
            changes["status"] = known.status
    if known.status in (Status.DRAFT, Status.REJECTED):
        # Only a person confirms.
        changes["status"] = known.status
    return replace(record, **changes)


def _expiry(record: LessonRecord, known: LessonRecord) -> dict[str, Any]:
    source = known if "missing:expires" in record.warnings else record
    return {"expires_on": source.expires_on, "expires_manual": source.expires_manual}


def _update(existing: Lesson, wanted: LessonRecord, columns: dict[str, Any], run: Import) -> None:
    """Take over what the record says; its links are made anew."""
    current = existing.supersedes
    if current is not None and current.number != wanted.supersedes:
        reindex(*unlink(existing, now=run.now))
    elif current is not None:
        columns["extras"].pop("supersedes", None)
    if columns["status"] == Status.ARCHIVED and existing.status != Status.ARCHIVED:
        columns |= {"archived_at": run.now, "archive_reason": ArchiveReason.IMPORTED}
    elif columns["status"] != Status.ARCHIVED:
        columns |= {"archived_at": None, "archive_reason": ""}
    gone = [other for other in existing.related.all() if other.number not in wanted.related]
    existing.related.remove(*gone)
    write(existing, now=run.now, **columns, warnings=list(wanted.warnings))


def _link(run: Import) -> None:
    """Make the links between lessons that are there now, batch by batch."""
    lessons = Lesson.objects.of_company(run.company).filter(number__in=list(run.taken)).order_by("number")
    rows = lessons.values_list("pk", "references", "extras")
    pks = [
        pk for pk, references, extras in rows if split_references(references)[0] or set(WAITING) & set(extras)
    ]
    for start in range(0, len(pks), BATCH):
        with transaction.atomic():
            lock_company(run.company.pk)
            for pk in pks[start : start + BATCH]:
                # One by one: the link before may have changed this lesson too.
                lesson = Lesson.objects.select_related("company").get(pk=pk)
                reindex(*resolve(lesson, now=run.now))

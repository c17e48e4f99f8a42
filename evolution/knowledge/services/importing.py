"""Bring a folder of knowledge in: staff vouch for it, so its items are active."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, time
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agents.models import Agent
from agents.services.importing import ImportLine, ImportReport, Outcome
from common.actors import Actor
from common.archive import in_batches
from common.companies.models import Company
from common.counters.services import next_number, raise_to
from common.errors import ApplicationError
from common.file_reading import display_path, list_files, read_text_file
from evolution.knowledge.choices import KnowledgeSource, Status
from evolution.knowledge.markdown import is_knowledge_file, read_knowledge, write_knowledge
from evolution.knowledge.models import PREFIX, Knowledge
from evolution.knowledge.rules.records import KnowledgeRecord
from evolution.knowledge.rules.values import MAX_IMPORTED, TEXT_FIELDS, checked_values, title_key
from evolution.knowledge.selectors.knowledge import same_finding
from evolution.knowledge.selectors.shown import shown_sha256
from evolution.knowledge.services.locking import lock_parent
from evolution.knowledge.services.receipts import write_knowledge_receipt
from evolution.knowledge.services.storing import redacted, store_new

MARKDOWN = (".md", ".markdown")
#: Files that share a transaction and a receipt.
BATCH = 100


@dataclass(frozen=True)
class Item:
    """What stands in one file, or why it cannot be read (`failed`) or is no knowledge."""

    source: str
    record: KnowledgeRecord | None = None
    reason: str = ""
    failed: bool = False


@dataclass
class _Run:
    company: Company
    agent: Agent | None
    actor: Actor
    now: datetime
    #: Number in the files -> where it was met, what was said there, and the item it stands for.
    met: dict[int, tuple[str, str]] = field(default_factory=dict)
    items: dict[int, int] = field(default_factory=dict)
    #: Items with the place of their line in the report, and what they are related to.
    links: list[tuple[int, int, dict[int, str]]] = field(default_factory=list)
    report: ImportReport = field(default_factory=ImportReport)


def read_folder(path: Path) -> list[Item]:
    """Every Markdown file of a folder, or the one file, in the order of names; links are not followed.

    Errors: NOT_FOUND when nothing is there, VALIDATION_ERROR for a folder with too many files.
    """
    return [_read(file, name) for file, name in _files(path)]


def import_knowledge(
    *,
    items: list[Item],
    company: Company,
    actor: Actor,
    now: datetime,
    agent: Agent | None = None,
    dry_run: bool = False,
    progress: Callable[[int], Any] = lambda done: None,
) -> ImportReport:
    """Store what `read_folder` found; every file is reported, found = imported + skipped + failed.

    A new item is active (below the threshold deprecated), under its own number where that is free. What is there
    already, in these files or in the company, is skipped and never changed; a faulty one fails alone. A trial run
    goes the same way and keeps nothing.
    """
    run = _Run(company, agent, actor, now)
    numbers = [item.record.number for item in items if item.record and item.record.number]
    numbers = [number for number in numbers if number <= MAX_IMPORTED]
    with transaction.atomic() if dry_run else nullcontext():
        if numbers:
            raise_to(company_id=company.pk, prefix=PREFIX, number=max(numbers))
        for batch in in_batches(range(len(items)), BATCH):
            with transaction.atomic():
                _import_batch(run, [items[place] for place in batch])
            progress(len(batch))
        _link(run)
        if dry_run:
            transaction.set_rollback(True)
    return run.report


def _files(path: Path) -> Iterator[tuple[Path, str]]:
    if path.is_dir():
        for file in list_files(path, MARKDOWN):
            yield file, display_path(file.relative_to(path))
    elif path.exists() or path.is_symlink():
        yield path, display_path(Path(path.name))
    else:
        raise ApplicationError("NOT_FOUND", _("there is no file or folder “%s”") % display_path(path))


def _read(path: Path, name: str) -> Item:
    try:
        text = read_text_file(path)
        if not is_knowledge_file(text):
            return Item(name, reason=_("no knowledge: neither an id k-NNN nor a category with a confidence"))
        return Item(name, read_knowledge(text))
    except ApplicationError as error:
        line = f":{error.extra['line']}" if "line" in error.extra else ""
        return Item(f"{name}{line}", reason=str(error.extra.get("reason", error.message)), failed=True)


def _import_batch(run: _Run, batch: list[Item]) -> None:
    lock_parent(run.company.pk, run.agent.pk if run.agent else None)
    stored = []
    for item in batch:
        line, new = _import_item(run, item)
        run.report.lines.append(line)
        if new is not None:
            stored.append(new)
    if stored:
        write_knowledge_receipt(
            stored,
            actor=run.actor,
            now=run.now,
            trigger="knowledge_imported",
            detail={"items": len(stored)},
        )


def _import_item(run: _Run, item: Item) -> tuple[ImportLine, Knowledge | None]:
    record = item.record
    if record is None:
        outcome = Outcome.FAILED if item.failed else Outcome.SKIPPED
        return ImportLine(outcome, item.source, reason=item.reason), None
    code = Knowledge(number=record.number).code if record.number else ""
    line = ImportLine(
        Outcome.SKIPPED, item.source, f"{code} {record.title}".strip(), warnings=tuple(record.warnings)
    )
    try:
        with transaction.atomic():
            reason = _met_before(run, item.source, record)
            new = None if reason else _created(run, record)
    except ApplicationError as error:
        return replace(line, outcome=Outcome.FAILED, reason=str(error.message)), None
    if new is None:
        return replace(line, reason=reason), None
    line = replace(line, outcome=Outcome.IMPORTED, name=f"{new.code} {new.title}")
    run.items[record.number or new.number] = new.pk
    run.links.append((new.pk, len(run.report.lines), record.related))
    return line, new


def _met_before(run: _Run, source: str, record: KnowledgeRecord) -> str:
    """Why a file brings nothing new; empty when it does. Errors: VALIDATION_ERROR."""
    code = Knowledge(number=record.number or 0).code
    if record.number and record.number > MAX_IMPORTED:
        told = {"code": code, "most": Knowledge(number=MAX_IMPORTED).code}
        message = _("%(code)s is above %(most)s; give it a lower number") % told
        raise ApplicationError("VALIDATION_ERROR", message)
    said = write_knowledge(record)
    if record.number in run.met:
        other, before = run.met[record.number]
        same = _("%(code)s was in %(source)s already, with the same content")
        differs = _("%(code)s was in %(source)s already, with other content: give one of them another id")
        return (same if said == before else differs) % {"code": code, "source": other}
    if record.number:
        run.met[record.number] = (source, said)
        known = Knowledge.objects.of_company(run.company).filter(number=record.number).first()
        if known is not None:
            return _compared(run, known, record)
    columns = _columns(record)
    agent_id = run.agent.pk if run.agent else None
    twin = same_finding(run.company.pk, agent_id, columns["category"], title_key(columns["title"]))
    if twin is None:
        return ""
    run.items[record.number or 0] = twin.pk
    return _("%(code)s has this title and category already") % {"code": twin.code}


def _compared(run: _Run, known: Knowledge, record: KnowledgeRecord) -> str:
    columns = _columns(record)
    columns.pop("redactions")
    if any(getattr(known, name) != value for name, value in columns.items()):
        return _("%(code)s is there already with other content") % {"code": known.code}
    run.items[known.number] = known.pk
    return _("%(code)s is there already") % {"code": known.code}


def _columns(record: KnowledgeRecord) -> dict[str, Any]:
    """The text of a record as columns, checked and without secrets. Errors: VALIDATION_ERROR."""
    columns, counts = redacted(checked_values({name: getattr(record, name) for name in TEXT_FIELDS}))
    return {**columns, "redactions": counts}


def _created(run: _Run, record: KnowledgeRecord) -> Knowledge:
    item = Knowledge(
        company=run.company,
        agent=run.agent,
        number=record.number or next_number(company_id=run.company.pk, prefix=PREFIX),
        order=Knowledge.objects.filter(company=run.company, agent=run.agent).count(),
        source_type=KnowledgeSource.IMPORT,
        status=Status.ACTIVE,
        created_at=_created_at(record, run.now),
        # Who vouches for a folder has looked at it now: what was written long ago does not fade at once.
        verified_at=run.now,
        created_by=run.actor.name[:200],
        confirmed_by=run.actor.name[:200],
        confirmed_at=run.now,
        **_columns(record),
    )
    item.title_key, item.confirmed_sha256 = title_key(item.title), shown_sha256(item)
    if record.is_deprecated:
        item.status, item.deprecated_at = Status.DEPRECATED, run.now
        item.deprecated_by = run.actor.name[:200]
    store_new(item, record.confidence, actor=run.actor, now=run.now)
    return item


def _created_at(record: KnowledgeRecord, now: datetime) -> datetime:
    """Noon of the day that a file names (the day is the same in most zones); `now` without one or after it."""
    if record.created is None:
        return now
    return min(timezone.make_aware(datetime.combine(record.created, time(12))), now)


def _link(run: _Run) -> None:
    """Make the links between items that are there; the others are told as warnings."""
    for pk, place, related in run.links:
        missing = [Knowledge(number=number).code for number in related if number not in run.items]
        Knowledge(pk=pk).related.add(*{run.items[number] for number in related if number in run.items} - {pk})
        if missing:
            line = run.report.lines[place]
            told = _("related and not there: %(codes)s") % {"codes": ", ".join(missing)}
            run.report.lines[place] = replace(line, warnings=(*line.warnings, told))

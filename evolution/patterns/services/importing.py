"""Take patterns over from a file of a pattern library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from agents.models import Agent
from common.actors import Actor
from common.companies.models import Company
from common.counters.rules import format_code
from common.errors import ApplicationError
from common.receipts.choices import ReceiptType
from common.receipts.rules import Line
from common.receipts.services import write_receipt
from common.text import name_key
from evolution.patterns.models import PREFIX, Pattern
from evolution.patterns.rules.library import Entry
from evolution.patterns.rules.values import MAX_NUMBER
from evolution.patterns.services.storing import create_pattern, lock_patterns


@dataclass
class Imported:
    """What became of each entry: (outcome, where it stands, code or reason)."""

    lines: list[tuple[str, str, str]] = field(default_factory=list)
    patterns: list[Pattern] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """`found N imported N skipped N failed N`."""
        outcomes = [line[0] for line in self.lines]
        counts = " ".join(f"{name} {outcomes.count(name)}" for name in ("imported", "skipped", "failed"))
        return f"found {len(outcomes)} {counts}"


@transaction.atomic
def import_patterns(
    *,
    company: Company,
    entries: Sequence[Entry],
    actor: Actor,
    now: datetime,
    agent: Agent | None = None,
    dry_run: bool = False,
) -> Imported:
    """Store the entries that are not there yet, with their numbers; what cannot be stored is told, the rest goes on.

    A name that is there is left as it is. One receipt, when anything was stored.
    """
    report = Imported()
    lock_patterns(company)
    for entry in entries:
        report.lines.append(_import(company, entry, actor, now, agent, report))
    if report.patterns:
        write_receipt(
            company=company,
            actor=actor,
            type=ReceiptType.CHANGE,
            trigger="patterns_imported",
            at=now,
            lines=[Line(type="pattern", target=row.code, content=row.name) for row in report.patterns],
            detail={"imported": len(report.patterns)},
        )
    transaction.set_rollback(dry_run)
    return report


def _import(
    company: Company, entry: Entry, actor: Actor, now: datetime, agent: Agent | None, report: Imported
) -> tuple[str, str, str]:
    name = entry.values.get("name")
    rows = Pattern.objects.of_company(company)
    if isinstance(name, str) and (known := rows.filter(name_key=name_key(name)).first()):
        return "skipped", entry.source, _("%(code)s has this name already.") % {"code": known.code}
    if entry.number is not None and entry.number > MAX_NUMBER:
        told = {"code": format_code(PREFIX, entry.number), "most": format_code(PREFIX, MAX_NUMBER)}
        return "failed", entry.source, _("%(code)s is above %(most)s; give it a lower number") % told
    if entry.number is not None and rows.filter(number=entry.number).exists():
        told = {"code": format_code(PREFIX, entry.number)}
        return "failed", entry.source, _("%(code)s is another pattern here.") % told
    try:
        pattern = create_pattern(
            company=company,
            values=entry.values,
            actor=actor,
            now=now,
            agent=agent,
            number=entry.number,
            is_deprecated=entry.is_deprecated,
            receipt=False,
        )
    except ApplicationError as error:
        reasons = [f"{fault.pointer.strip('/')}: {fault.detail}" for fault in error.errors]
        return "failed", entry.source, " ".join(reasons) or str(error.message)
    report.patterns.append(pattern)
    return "imported", entry.source, f"{pattern.code} {pattern.name}"

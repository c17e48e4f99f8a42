"""Store what a reader found: new agents only, each in its own transaction; every item is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from agents.importers.items import FailedItem, ImportedAgent, Item, SkippedItem, told_fault
from agents.models import Agent
from agents.rules.paths import normalise_path, path_key
from agents.services.agents import create_agent
from agents.services.editing import Edit
from common.companies.models import Company
from common.errors import ApplicationError
from common.text import name_key
from experiences.rules import RowInput


class Outcome(StrEnum):
    """What became of an item."""

    IMPORTED = "imported"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True)
class ImportLine:
    """One item: `source` is `file:line`; `agent_id` is set, and `reason` empty, for a stored agent."""

    outcome: Outcome
    source: str
    name: str = ""
    reason: str = ""
    warnings: tuple[str, ...] = ()
    agent_id: int | None = None


@dataclass
class ImportReport:
    """All items in the order they were found; found = imported + skipped + failed."""

    lines: list[ImportLine] = field(default_factory=list)

    @property
    def found(self) -> int:
        return len(self.lines)

    @property
    def imported(self) -> int:
        return self._count(Outcome.IMPORTED)

    @property
    def skipped(self) -> int:
        return self._count(Outcome.SKIPPED)

    @property
    def failed(self) -> int:
        return self._count(Outcome.FAILED)

    @property
    def summary(self) -> str:
        """The last line of every import."""
        return f"found {self.found} imported {self.imported} skipped {self.skipped} failed {self.failed}"

    def _count(self, outcome: Outcome) -> int:
        return sum(line.outcome is outcome for line in self.lines)


def import_agents(
    *,
    items: Iterable[Item],
    company: Company,
    edit: Edit,
    dry_run: bool,
    progress: Callable[[int], Any] = lambda done: None,
) -> ImportReport:
    """Make an agent in `company` of each readable item; never changes an agent that exists.

    A name that the company has already, or that an earlier item took, is skipped. A faulty agent fails alone
    and leaves nothing behind. A trial run goes through the same checks and keeps nothing.
    `progress(n)` is told that n more items are done.
    """
    existing = Agent.objects.live().owned_by(company).values_list("name_key", flat=True)
    taken: dict[str, str] = dict.fromkeys(existing, "")
    report = ImportReport()
    for item in items:
        report.lines.append(_line(item, company, edit, dry_run, taken))
        progress(1)
    return report


def _line(item: Item, company: Company, edit: Edit, dry_run: bool, taken: dict[str, str]) -> ImportLine:
    if isinstance(item, SkippedItem):
        return ImportLine(Outcome.SKIPPED, item.source, reason=item.reason)
    if isinstance(item, FailedItem):
        return ImportLine(Outcome.FAILED, item.source, item.name, item.reason)
    told = (item.source, item.name)
    key = name_key(item.name)
    if key in taken:
        return ImportLine(Outcome.SKIPPED, *told, _duplicate(taken[key]), item.warnings)
    try:
        agent_id = _stored(item, company, edit, dry_run)
    except ApplicationError as error:
        if error.code == "AGENT_NAME_TAKEN":
            return ImportLine(Outcome.SKIPPED, *told, _duplicate(""), item.warnings)
        return ImportLine(Outcome.FAILED, *told, _reason(error), item.warnings)
    taken[key] = item.source
    return ImportLine(Outcome.IMPORTED, *told, "", item.warnings, agent_id)


def _duplicate(source: str) -> str:
    if source:
        return str(_("the name is taken by %(source)s of this import") % {"source": source})
    return str(_("an agent of this name exists already; it was not changed"))


def _reason(error: ApplicationError) -> str:
    if not error.errors:
        return str(error.message)
    return "; ".join(told_fault(fault) for fault in error.errors)


@transaction.atomic
def _stored(item: ImportedAgent, company: Company, edit: Edit, dry_run: bool) -> int | None:
    _check_documents(item)
    agent = create_agent(
        company=company,
        fields={
            "name": item.name,
            "description": item.description,
            "system_prompt": item.system_prompt,
            "language": item.language,
            "tags": list(item.tags),
            "skill_names": list(item.skill_names),
            **item.settings,
        },
        rows=[RowInput(content=row.content, enabled=row.enabled) for row in item.experiences],
        documents=[(document.path, document.text) for document in item.documents],
        edit=replace(edit, message=edit.message or str(_("Import of %(source)s") % {"source": item.source})),
    )
    if dry_run:
        # Everything was tried, so the report is the real one; only the keeping is left out.
        transaction.set_rollback(True)
        return None
    return agent.pk


def _check_documents(item: ImportedAgent) -> None:
    """PATH_INVALID for a path that cannot be, VALIDATION_ERROR for two spellings of one path."""
    seen: dict[str, str] = {}
    for document in item.documents:
        try:
            key = path_key(normalise_path(document.path))
        except ApplicationError as error:
            message = _("document %(path)s: %(fault)s") % {"path": document.path, "fault": error.message}
            raise ApplicationError(error.code, message) from error
        if key in seen:
            detail = _("The documents %(first)s and %(second)s are one and the same path; keep one of them.")
            raise ApplicationError("VALIDATION_ERROR", detail % {"first": seen[key], "second": document.path})
        seen[key] = document.path

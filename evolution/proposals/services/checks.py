"""Protection checks of one request: logged with its change, and also when it was refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from agents.models import Agent, ProtectedAccess
from agents.rules.protection import Change, Verdict
from agents.services.protection import check, refusal_entry
from common.actors import Actor
from common.companies.models import Company
from common.errors import ApplicationError


@dataclass
class Context:
    """For whom and on what an item is worked out; `checks` are log entries that are not written yet, `cited` the
    lines of the lessons that the proposal cites, by code. `agent` None: the company's parameters.
    """

    agent: Agent | None
    company: Company
    actor: Actor
    code: str
    now: datetime
    checks: list[ProtectedAccess] = field(default_factory=list)
    cited: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def language(self) -> str:
        """The agent's language."""
        return self.agent.language if self.agent else ""

    def _about(self) -> dict[str, Any]:
        return {
            "agent": self.agent,
            "company": self.company,
            "actor": self.actor,
            "request": self.code,
            "now": self.now,
        }

    def judge(self, changes: list[Change]) -> list[Verdict]:
        """What the protection rules say to changes now. Errors: PROTECTED_PATHS_UNAVAILABLE."""
        try:
            verdicts, entries = check(changes=changes, **self._about())
        except ApplicationError as error:
            self.refuse(changes[0].path, error)
            raise
        self.checks += entries
        return verdicts

    def refuse(self, path: str, error: ApplicationError) -> None:
        """Note a refusal of which no rule is the reason."""
        self.checks.append(refusal_entry(path=path, reason=str(error.message), **self._about()))


@contextmanager
def logged_checks() -> Iterator[list[ProtectedAccess]]:
    """A transaction that writes the collected log entries at its end, and behind it when it was refused."""
    entries: list[ProtectedAccess] = []
    try:
        with transaction.atomic():
            yield entries
            ProtectedAccess.objects.bulk_create(entries)
    except ApplicationError:
        for entry in entries:
            entry.pk = None
        ProtectedAccess.objects.bulk_create(entries)
        raise

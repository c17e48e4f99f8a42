"""Close proposals that waited too long."""

from __future__ import annotations

from typing import Any

from common.actors import command_actor
from common.archive import ArchiveCommand, Outcome, Run
from evolution.proposals.services.expiring import expire_overdue


class Command(ArchiveCommand):
    """`expire_proposals [--dry-run --limit --as-of]`."""

    help = "Expire the proposals of all companies that have waited for a decision for more than 30 days."
    unit = "proposals"

    def run(self, run: Run, options: dict[str, Any]) -> Outcome:
        expired = expire_overdue(
            actor=command_actor("expire_proposals"),
            now=run.now,
            limit=run.limit,
            dry_run=run.dry_run,
            progress=run.progress,
        )
        return Outcome({"expired": expired})

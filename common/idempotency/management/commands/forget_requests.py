"""Forget stored answers of old requests."""

from __future__ import annotations

from typing import Any

from common.archive import ArchiveCommand, Outcome, Run
from common.idempotency.services import forget_old


class Command(ArchiveCommand):
    """`forget_requests [--dry-run --limit --as-of]`."""

    help = "Delete the stored answers of requests with an Idempotency-Key that are older than 30 days."
    unit = "answers"

    def run(self, run: Run, options: dict[str, Any]) -> Outcome:
        forgotten = forget_old(now=run.now, limit=run.limit, dry_run=run.dry_run, progress=run.progress)
        return Outcome({"forgotten": forgotten})

"""Take old recalls out of the lists, or delete those for good."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from common.actors import command_actor
from common.archive import ArchiveCommand, Outcome, Run
from evolution.lessons.services.recall_retention import archive_recalls, purge_recalls


class Command(ArchiveCommand):
    """`archive_recalls [--dry-run --limit --as-of --purge]`."""

    help = (
        "Archive the recalls of all companies that are older than 90 days: they leave the list and still count "
        "in the metrics. With --purge archived ones are deleted instead; the counts of lessons stay."
    )
    unit = "recalls"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--purge", action="store_true", help="Delete archived recalls for good; archive nothing."
        )

    def run(self, run: Run, options: dict[str, Any]) -> Outcome:
        asked: dict[str, Any] = {
            "actor": command_actor("archive_recalls"),
            "now": run.now,
            "limit": run.limit,
        }
        if options["purge"]:
            return Outcome({"purged": purge_recalls(**asked, dry_run=run.dry_run)})
        archived = archive_recalls(**asked, dry_run=run.dry_run, progress=run.progress)
        return Outcome({"archived": archived})

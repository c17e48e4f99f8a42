"""Take old injections out of the lists."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from common.actors import command_actor
from common.archive import ArchiveCommand, Outcome, Run
from common.companies.selectors import company_by_slug
from evolution.knowledge.services.injection_retention import archive_injections


class Command(ArchiveCommand):
    """`archive_injections [--company SLUG --dry-run --limit N --as-of TIME]`."""

    help = (
        "Archive injections that are older than the company's archive_days: they leave the list; outcomes may still "
        "be reported for them, and what a conversation was told stays known."
    )
    unit = "injections"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--company", metavar="SLUG", help="Only injections of this company.")

    def run(self, run: Run, options: dict[str, Any]) -> Outcome:
        archived = archive_injections(
            actor=command_actor("archive_injections"),
            now=run.now,
            company=company_by_slug(options["company"]) if options["company"] else None,
            limit=run.limit,
            dry_run=run.dry_run,
            progress=run.progress,
        )
        return Outcome({"archived": archived})

"""Take lessons out of view whose time is over."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from common.actors import command_actor
from common.archive import ArchiveCommand, Outcome, Run
from common.companies.selectors import company_by_slug
from evolution.lessons.services.archiving import archive_lessons


class Command(ArchiveCommand):
    """`archive_lessons [--company SLUG --dry-run --limit N --as-of TIME]`."""

    help = (
        "Archive active lessons whose last day is over, and the least recalled PRACT-EXP above LESSONS_PRACT_CAP of a "
        "company. RULE-EXP and CALIB-EXP stay, and what an undecided proposal cites; such lessons are named. "
        "Archived lessons can be read and restored."
    )
    unit = "lessons"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--company", metavar="SLUG", help="Only lessons of this company.")

    def run(self, run: Run, options: dict[str, Any]) -> Outcome:
        report = archive_lessons(
            actor=command_actor("archive_lessons"),
            now=run.now,
            company=company_by_slug(options["company"]) if options["company"] else None,
            limit=run.limit,
            dry_run=run.dry_run,
            progress=run.progress,
        )
        lines = [*report.codes]
        if report.archived > len(report.codes):
            lines.append(f"… and {report.archived - len(report.codes)} more")
        lines += [f"{code} stays: it is cited" for code in report.cited]
        if report.cited_count > len(report.cited):
            lines.append(f"… and {report.cited_count - len(report.cited)} more that are cited")
        counts = {
            "archived": report.archived,
            "expired": report.expired,
            "least-recalled": report.least_recalled,
            "cited": report.cited_count,
        }
        return Outcome(counts, lines)

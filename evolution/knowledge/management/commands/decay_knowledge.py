"""Let confidence fade that nobody uses."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from common.actors import command_actor
from common.archive import ArchiveCommand, Outcome, Run
from common.companies.selectors import company_by_slug
from evolution.knowledge.services.decaying import decay_knowledge

#: Items that a report names.
MOST_NAMED = 100


class Command(ArchiveCommand):
    """`decay_knowledge [--company SLUG --dry-run --limit N --as-of TIME]`."""

    help = (
        "Take from each active item of knowledge one step of confidence for every 30 days without use; below "
        "deprecation_threshold it is deprecated at once. Warnings (anti-pattern) do not fade. A threshold that was "
        "changed takes effect. Running again the same day changes nothing more."
    )
    unit = "items"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--company", metavar="SLUG", help="Only knowledge of this company.")

    def run(self, run: Run, options: dict[str, Any]) -> Outcome:
        report = decay_knowledge(
            actor=command_actor("decay_knowledge"),
            now=run.now,
            company=company_by_slug(options["company"]) if options["company"] else None,
            limit=run.limit,
            dry_run=run.dry_run,
            progress=run.progress,
        )
        lines = [
            f"{one.code} {one.before.normalize():f} → {one.after.normalize():f} steps {one.steps}"
            f"{' deprecated' if one.deprecated else ''}"
            for one in report.faded[:MOST_NAMED]
        ]
        if len(report.faded) > MOST_NAMED:
            lines.append(f"… and {len(report.faded) - MOST_NAMED} more")
        lines += [
            f"{code} {status}: the threshold was changed" for code, status in report.settled[:MOST_NAMED]
        ]
        counts = {"decayed": len(report.faded), "deprecated": report.deprecated}
        if report.settled:
            counts["settled"] = len(report.settled)
        return Outcome(counts, lines)

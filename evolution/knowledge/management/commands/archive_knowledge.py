"""Put knowledge away whose time is over."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from common.actors import command_actor
from common.archive import ArchiveCommand, Outcome, Run
from common.companies.selectors import company_by_slug
from evolution.knowledge.services.archiving import archive_knowledge

#: Codes of a kind that a report names.
MOST_NAMED = 100


class Command(ArchiveCommand):
    """`archive_knowledge [--purge --company SLUG --dry-run --limit N --as-of TIME]`."""

    help = (
        "Archive knowledge that was deprecated for more than 7 days, and drafts that no person confirmed within 14 "
        "days; both can be restored. With --purge delete archived items that were deprecated for more than 7 days: "
        "their changes of confidence, outcomes and receipts stay."
    )
    unit = "items"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--company", metavar="SLUG", help="Only knowledge of this company.")
        parser.add_argument("--purge", action="store_true", help="Delete archived items for good.")

    def run(self, run: Run, options: dict[str, Any]) -> Outcome:
        report = archive_knowledge(
            actor=command_actor("archive_knowledge"),
            now=run.now,
            company=company_by_slug(options["company"]) if options["company"] else None,
            purge=options["purge"],
            limit=run.limit,
            dry_run=run.dry_run,
            progress=run.progress,
        )
        named = {"deprecated": report.deprecated, "draft": report.drafts, "purged": report.purged}
        lines = []
        for word, codes in named.items():
            lines += [f"{code} {word}" for code in codes[:MOST_NAMED]]
            if len(codes) > MOST_NAMED:
                lines.append(f"… and {len(codes) - MOST_NAMED} more {word}")
        counts = {"archived": len(report.deprecated) + len(report.drafts), "drafts": len(report.drafts)}
        return Outcome({**counts, "purged": len(report.purged)}, lines)

"""Learn from the reports that wait."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from common.actors import command_actor
from common.archive import ArchiveCommand, Outcome, Run
from common.companies.selectors import company_by_slug
from evolution.cycles.services.dispatching import Asked, count_waiting, process_queue
from evolution.knowledge.choices import LearningStatus
from evolution.knowledge.rules.queue import PRIORITIES, up_to
from evolution.knowledge.services.queue import purge_done


class Command(ArchiveCommand):
    """`process_learning_queue [--priority P1 --company SLUG --dry-run --limit N --as-of TIME]`."""

    help = (
        "Work on the reports of the learning queue, the most urgent first: they become drafts of knowledge and of "
        "patterns, or are done with a reason. What fails waits for another run and is given up after three failures. "
        "Reports that were done more than seven days ago are deleted."
    )
    unit = "reports"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--priority", choices=PRIORITIES, help="Only reports of this priority and of more urgent ones."
        )
        parser.add_argument("--company", metavar="SLUG", help="Only reports of this company.")

    def run(self, run: Run, options: dict[str, Any]) -> Outcome:
        company = company_by_slug(options["company"]) if options["company"] else None
        actor = command_actor("process_learning_queue")
        asked = Asked(
            actor=actor,
            clock=(lambda: run.now) if options["as_of"] else timezone.now,
            priorities=up_to(options["priority"]),
            company=company,
            limit=run.limit,
            progress=run.progress,
        )
        purge = partial(purge_done, actor=actor, now=run.now, company=company, dry_run=run.dry_run)
        if run.dry_run:
            return Outcome({"processed": count_waiting(asked), "purged": purge()})
        done = process_queue(asked)
        counts = {"processed": len(done.items), **done.counts(), "purged": purge()}
        failed = [item for item in done.items if item.status != LearningStatus.DONE]
        return Outcome(counts, [f"{item.code} {item.status}: {item.error}" for item in failed])

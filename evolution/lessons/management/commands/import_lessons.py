"""Import lessons from a folder, a file or an index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from agents.management.import_report import print_import
from agents.selectors import get_agent
from common.actors import command_actor
from common.archive import progress_bar
from common.choices import GLOBAL_SLUG
from common.companies.selectors import company_by_slug
from common.errors import ApplicationError
from evolution.lessons.services.folder import SUFFIXES, read_folder
from evolution.lessons.services.importing import import_lessons


class Command(BaseCommand):
    """`import_lessons PATH [--company SLUG --agent ID --update --dry-run]`."""

    help = (
        "Import lessons from a folder, a file EXP-*.md or an index.json; rows of an index complete the files. "
        "Lessons become active (archived or superseded when they say so); architecture decisions and reports of "
        "incidents become drafts. What is there already with other content is reported and left, unless --update. "
        "What cannot be read is listed with file, line and reason. The last line counts."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "path", type=Path, metavar="PATH", help=f"A file or a folder ({', '.join(SUFFIXES)})."
        )
        parser.add_argument(
            "--company",
            default=GLOBAL_SLUG,
            metavar="SLUG",
            help=f"The company that gets the lessons ({GLOBAL_SLUG}).",
        )
        parser.add_argument(
            "--agent", type=int, metavar="ID", help="New lessons are for this agent only, not for all."
        )
        parser.add_argument(
            "--update", action="store_true", help="Where a lesson is there with other content, take this one."
        )
        parser.add_argument("--dry-run", action="store_true", help="Print the same report; store nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            company = company_by_slug(options["company"])
            agent = None if options["agent"] is None else get_agent(company, options["agent"])
            items = read_folder(options["path"])
        except ApplicationError as error:
            raise CommandError(str(error.message)) from error
        with progress_bar("lessons", len(items)) as advance:
            report = import_lessons(
                items=items,
                company=company,
                actor=command_actor("import_lessons"),
                now=timezone.now(),
                agent=agent,
                update=options["update"],
                dry_run=options["dry_run"],
                progress=advance,
            )
        print_import(self, report, dry_run=options["dry_run"])

"""Import knowledge from a folder or a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from agents.management.import_report import print_import
from agents.selectors import get_agent
from common.actors import command_actor
from common.archive import progress_bar
from common.companies.selectors import company_by_slug
from common.errors import ApplicationError
from evolution.knowledge.services.importing import import_knowledge, read_folder


class Command(BaseCommand):
    """`import_knowledge PATH --company SLUG [--agent ID --dry-run]`."""

    help = (
        "Import knowledge from a Markdown file or a folder, with front matter or with “## ID: k-026” below the title. "
        "You vouch for the folder: the items become active, below deprecation_threshold deprecated. What is there "
        "already is left as it is. Every file is reported, also ids that occur twice; the last line counts."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, metavar="PATH", help="A file or a folder.")
        parser.add_argument("--company", required=True, metavar="SLUG", help="Who gets the knowledge.")
        parser.add_argument("--agent", type=int, metavar="ID", help="For this agent only, not for all.")
        parser.add_argument("--dry-run", action="store_true", help="Print the same report; store nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            company = company_by_slug(options["company"])
            agent = None if options["agent"] is None else get_agent(company, options["agent"])
            items = read_folder(options["path"])
        except ApplicationError as error:
            raise CommandError(str(error.message)) from error
        with progress_bar("files", len(items)) as advance:
            report = import_knowledge(
                items=items,
                company=company,
                actor=command_actor("import_knowledge"),
                now=timezone.now(),
                agent=agent,
                dry_run=options["dry_run"],
                progress=advance,
            )
        print_import(self, report, dry_run=options["dry_run"])

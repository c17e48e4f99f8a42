"""Import agents from a file or a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from agents.choices import Source
from agents.importers.reader import SUFFIXES, read_agents
from agents.management.import_report import print_import
from agents.services.editing import Edit
from agents.services.importing import import_agents
from common.actors import command_actor
from common.archive import progress_bar
from common.companies.selectors import company_by_slug
from common.errors import ApplicationError


class Command(BaseCommand):
    """`import_agents PATH --company SLUG [--dry-run]`."""

    help = (
        "Import agents from a file, or from all files of a folder: Markdown (front matter with name and "
        "description, the body is the role definition), CSV with columns act and prompt, JSON (the same as "
        "a list, or an export of this application), YAML agents (role, goal, backstory) and Dify apps. What "
        "cannot be imported is listed with file, line and reason; an agent that exists is never changed. The "
        "last line counts."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "path", type=Path, metavar="PATH", help=f"A file or a folder ({', '.join(SUFFIXES)})."
        )
        parser.add_argument(
            "--company", required=True, metavar="SLUG", help="The company that gets the agents."
        )
        parser.add_argument("--dry-run", action="store_true", help="Print the same report; store nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            company = company_by_slug(options["company"])
            reading = read_agents(options["path"])
        except ApplicationError as error:
            raise CommandError(str(error.message)) from error
        edit = Edit(actor=command_actor("import_agents"), now=timezone.now(), source=Source.IMPORT)
        with progress_bar("agents", reading.found) as advance:
            report = import_agents(
                items=reading.items,
                company=company,
                edit=edit,
                dry_run=options["dry_run"],
                progress=advance,
            )
        print_import(self, report, dry_run=options["dry_run"])

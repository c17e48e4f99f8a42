"""Import patterns from a file of a pattern library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from agents.selectors import get_agent
from common.actors import command_actor
from common.choices import GLOBAL_SLUG
from common.companies.selectors import company_by_slug
from common.errors import ApplicationError
from common.file_reading import read_text_file
from common.text import show_hidden
from evolution.patterns.rules.library import read_library
from evolution.patterns.services.importing import import_patterns


class Command(BaseCommand):
    """`import_patterns PATH [--company SLUG --agent ID --dry-run]`."""

    help = (
        "Import patterns from a Markdown file (a section `## P-001: name` each, with fields and a code block as "
        "template) or a JSON list. What has the name of a pattern that is there is left as it is. The last line counts."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, metavar="PATH", help="The file (.md or .json).")
        parser.add_argument(
            "--company",
            default=GLOBAL_SLUG,
            metavar="SLUG",
            help=f"The company that gets the patterns ({GLOBAL_SLUG}).",
        )
        parser.add_argument("--agent", type=int, metavar="ID", help="For this agent only, not for all.")
        parser.add_argument("--dry-run", action="store_true", help="Print the same report; store nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        path = options["path"]
        try:
            company = company_by_slug(options["company"])
            agent = None if options["agent"] is None else get_agent(company, options["agent"])
            entries = read_library(read_text_file(path), path.name)
        except ApplicationError as error:
            raise CommandError(str(error.message)) from error
        except OSError as error:
            raise CommandError(f"Cannot read {path}: {error.strerror}") from error
        report = import_patterns(
            company=company,
            entries=entries,
            actor=command_actor("import_patterns"),
            now=timezone.now(),
            agent=agent,
            dry_run=options["dry_run"],
        )
        for outcome, source, told in report.lines:
            self.stdout.write(f"{outcome:<9} {show_hidden(source)}  {show_hidden(' '.join(told.split()))}")
        self.stdout.write(report.summary)

"""Write the knowledge of a company as files that `import_knowledge` reads back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from common.archive import progress_bar
from common.companies.selectors import company_by_slug
from common.errors import ApplicationError
from evolution.knowledge.services.exporting import export_knowledge, library


class Command(BaseCommand):
    """`export_knowledge DIR --company SLUG`."""

    help = (
        "Export the confirmed knowledge of a company, active and deprecated: k-NNN.md of each item; an older export in "
        "the folder is replaced. The same knowledge gives the same bytes."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "directory", type=Path, metavar="DIR", help="The folder; it is made when missing."
        )
        parser.add_argument("--company", required=True, metavar="SLUG", help="Whose knowledge is written.")

    def handle(self, *args: Any, **options: Any) -> None:
        folder = options["directory"]
        try:
            company = company_by_slug(options["company"])
            with progress_bar("items", library(company).count()) as advance:
                count = export_knowledge(company=company, folder=folder, progress=advance)
        except ApplicationError as error:
            raise CommandError(str(error.message)) from error
        except OSError as error:
            raise CommandError(f"Cannot write to {folder}: {error.strerror}") from error
        self.stdout.write(f"exported {count}")

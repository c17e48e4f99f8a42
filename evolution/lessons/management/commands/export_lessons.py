"""Write the lessons of a company as files that `import_lessons` reads back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from common.archive import progress_bar
from common.choices import GLOBAL_SLUG
from common.companies.selectors import company_by_slug
from common.errors import ApplicationError
from evolution.lessons.choices import Status
from evolution.lessons.selectors.lessons import LIBRARY
from evolution.lessons.services.exporting import export_lessons, library


class Command(BaseCommand):
    """`export_lessons DIR [--company SLUG --status STATUS]`."""

    help = (
        "Export the lessons of a company: EXP-NNN.md of each and index.json; an older export in the folder is "
        "replaced. `import_lessons` reads it back to the same lessons."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "directory", type=Path, metavar="DIR", help="The folder; it is made when missing."
        )
        parser.add_argument(
            "--company",
            default=GLOBAL_SLUG,
            metavar="SLUG",
            help=f"The company whose lessons are written ({GLOBAL_SLUG}).",
        )
        parser.add_argument(
            "--status",
            action="append",
            choices=Status.values,
            help=f"Only lessons of this state; may be repeated (default {', '.join(LIBRARY)}).",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        folder, statuses = options["directory"], options["status"] or LIBRARY
        try:
            company = company_by_slug(options["company"])
            total = library(company, statuses=statuses).count()
            with progress_bar("lessons", total) as advance:
                count = export_lessons(company=company, folder=folder, statuses=statuses, progress=advance)
        except ApplicationError as error:
            raise CommandError(str(error.message)) from error
        except OSError as error:
            raise CommandError(f"Cannot write to {folder}: {error.strerror}") from error
        self.stdout.write(f"exported {count}")

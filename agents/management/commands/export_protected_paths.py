"""Write protection rules as YAML."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.services.protection_files import export_protection_rules
from common.companies.selectors import company_by_slug
from common.errors import ApplicationError


class Command(BaseCommand):
    """`export_protected_paths [--company SLUG]`."""

    help = (
        "Write the protection rules as YAML to standard output; `import_protected_paths` reads it back. Without "
        "--company those that hold for all companies."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--company", metavar="SLUG", help="Only the rules of this company.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            company = company_by_slug(options["company"]) if options["company"] else None
        except ApplicationError as error:
            raise CommandError(str(error.message)) from error
        self.stdout.write(export_protection_rules(company), ending="")

"""Add the two example lessons."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from common.actors import command_actor
from common.choices import GLOBAL_SLUG
from common.companies.selectors import company_by_slug
from common.errors import ApplicationError
from evolution.lessons.services.seeding import seed_lessons


class Command(BaseCommand):
    """`seed_lessons [--company SLUG]`."""

    help = (
        "Add the example lessons EXP-001 and EXP-002 as active lessons of a company, for demos and tests. What "
        "is there already is left as it is, so running it again adds nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--company",
            default=GLOBAL_SLUG,
            metavar="SLUG",
            help=f"The company that gets the lessons ({GLOBAL_SLUG}).",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            company = company_by_slug(options["company"])
        except ApplicationError as error:
            raise CommandError(str(error.message)) from error
        report = seed_lessons(company=company, actor=command_actor("seed_lessons"), now=timezone.now())
        for line in report.lines:
            self.stdout.write(": ".join(part for part in (line.name, str(line.outcome), line.reason) if part))
        self.stdout.write(report.summary)

"""Derive the recall index anew from the objects it was made of."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from common.archive import progress_bar
from common.companies.models import Company
from common.companies.selectors import company_by_slug
from common.errors import ApplicationError
from common.search.candidates import refill
from common.search.sources import Report, kinds, rebuild


class Command(BaseCommand):
    """`rebuild_search [--company SLUG] [--kind KIND] [--dry-run | --verify]`."""

    help = (
        "Compare every object with its document in the recall index and write those that are missing, outdated or "
        "superfluous. The application may run meanwhile. Prints one line a company and kind that differed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--company", metavar="SLUG", help="Only this company.")
        parser.add_argument("--kind", help="Only this kind of object.")
        only = parser.add_mutually_exclusive_group()
        only.add_argument("--dry-run", action="store_true", help="Write nothing, only say what differs.")
        only.add_argument(
            "--verify", action="store_true", help="Like --dry-run; exit with 1 when anything differs."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            wanted = kinds(options["kind"])
            slug = options["company"]
            companies = list(Company.objects.order_by("slug")) if slug is None else [company_by_slug(slug)]
        except ApplicationError as error:
            raise CommandError(str(error.message)) from error
        write = not (options["dry_run"] or options["verify"])
        pairs = [(company, kind) for company in companies for kind in wanted]
        reports = []
        with progress_bar("indexes", len(pairs)) as advance:
            for company, kind in pairs:
                reports.append(rebuild(company=company, kind=kind, write=write))
                advance(1)
        if write and slug is None and options["kind"] is None:
            refill()
        self._tell(reports, options["verify"])

    def _tell(self, reports: list[Report], verify: bool) -> None:
        for report in reports:
            if report.drift:
                counts = " wrong counts" if report.wrong_counts else ""
                self.stdout.write(
                    f"{report.company} {report.kind}: missing {report.missing} outdated {report.outdated} "
                    f"superfluous {report.superfluous}{counts}"
                )
        drift = sum(report.drift for report in reports)
        documents = sum(report.documents for report in reports)
        self.stdout.write(f"indexes {len(reports)} documents {documents} differences {drift}")
        if verify and drift:
            raise CommandError("The recall index differs from its objects; run rebuild_search.")

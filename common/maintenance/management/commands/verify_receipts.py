"""Check that no receipt was changed or removed."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from common.archive import progress_bar
from common.errors import ApplicationError
from common.maintenance.verification import chains, told, verify_chains


class Command(BaseCommand):
    """`verify_receipts [--company SLUG]`."""

    help = (
        "Recompute the hash chain of each company's receipts. Prints one line a company and names the first "
        "receipt that was changed, removed or put in by hand; the exit code is then 1."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--company", metavar="SLUG", help="Only this company's chain.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            tenants = chains(options["company"])
        except ApplicationError as error:
            raise CommandError(str(error.message)) from error
        with progress_bar("chains", len(tenants)) as advance:
            reports = verify_chains(tenants=tenants, progress=advance)
        for report in reports:
            self.stdout.write(told(report))
        broken = [report for report in reports if not report.intact]
        checked = sum(report.checked for report in reports)
        self.stdout.write(f"chains {len(reports)} receipts {checked} broken {len(broken)}")
        if broken:
            first = broken[0]
            raise CommandError(f"The chain of {first.company_slug} is broken at receipt #{first.first_bad}.")

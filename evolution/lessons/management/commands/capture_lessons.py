"""Read repositories and make drafts of lessons."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from common.actors import command_actor
from common.archive import progress_bar
from common.companies.selectors import company_by_slug
from common.errors import ApplicationError
from common.text import show_hidden
from evolution.lessons.models import Repository
from evolution.lessons.services.capture_report import CaptureReport
from evolution.lessons.services.scanning import MOST, Asked, scan_repository

NOTES = {
    "shallow": "a shallow clone: its oldest commits are left out",
    "cursor_lost": "the commit read last is gone: the last 30 days were read",
    "overtaken": "another run read it at the same time",
    "empty": "it has no commits",
}


class Command(BaseCommand):
    """`capture_lessons [--repository NAME --company SLUG --since SHA --max N --strict --dry-run]`."""

    help = (
        "Read the new commits of repositories, the oldest first, and make drafts of lessons of fixes, reverts, often "
        "changed files and rule files. Without --repository all enabled repositories with a folder are read; one "
        "that cannot be read is named and does not stop the others. What was captured is never captured again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--repository", metavar="NAME", help="Only this one; also when it is switched off."
        )
        parser.add_argument("--company", metavar="SLUG", help="Only repositories of this company.")
        parser.add_argument(
            "--since", default="", metavar="SHA", help="Read from behind this commit (whole name) on."
        )
        parser.add_argument("--max", type=int, default=MOST, help=f"At most this many commits each ({MOST}).")
        parser.add_argument(
            "--strict", action="store_true", help="For often changed files count only fixes and reverts."
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="Show what would be drafted; store nothing."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["max"] < 1:
            raise CommandError("--max must be at least 1.")
        if options["since"] and not options["repository"]:
            raise CommandError("--since needs --repository.")
        failed = 0
        for repository in self._repositories(options):
            try:
                report = self._scan(repository, options)
            except ApplicationError as error:
                failed += 1
                self.stderr.write(f"{repository.name}: {error.message}")
                continue
            self._print(repository, report, options["dry_run"])
        if failed:
            raise CommandError(f"{failed} of the repositories could not be read.")

    def _repositories(self, options: dict[str, Any]) -> list[Repository]:
        rows = Repository.objects.select_related("company").order_by("company__slug", "name", "pk")
        if options["company"]:
            try:
                rows = rows.filter(company=company_by_slug(options["company"]))
            except ApplicationError as error:
                raise CommandError(str(error.message)) from error
        if not options["repository"]:
            return list(rows.enabled().exclude(path="").filter(company__enabled=True))
        found = list(rows.filter(name=options["repository"]))
        if not found:
            known = ", ".join(rows.values_list("name", flat=True)[:20]) or "none"
            raise CommandError(f"No repository “{options['repository']}”. There are: {known}.")
        if len(found) > 1:
            slugs = ", ".join(repository.company.slug for repository in found)
            raise CommandError(f"Several companies have such a repository; add --company ({slugs}).")
        return found

    def _scan(self, repository: Repository, options: dict[str, Any]) -> CaptureReport:
        with progress_bar("commits") as advance:
            asked = Asked(
                command_actor("capture_lessons"),
                timezone.now(),
                since=options["since"],
                most=options["max"],
                strict=options["strict"],
                dry_run=options["dry_run"],
                progress=advance,
            )
            return scan_repository(repository_id=repository.pk, asked=asked)

    def _print(self, repository: Repository, report: CaptureReport, dry_run: bool) -> None:
        for made in report.made:
            code = "would draft" if dry_run else made.lesson.code
            title = show_hidden(" ".join(made.lesson.title.splitlines()))
            self.stdout.write(f"{code}  {made.source}  {made.sha[:7]}  {title}")
        for note in report.notes:
            self.stdout.write(f"{repository.name}: {NOTES.get(note, note)}")
        for path, count in report.churn_left_out_top:
            self.stdout.write(f"left out: {show_hidden(path)} ({count})")
        counted = [f"scanned {report.scanned}", f"captured {len(report.made)}"]
        counted += [f"skipped {sum(report.skips.values())}", f"left {report.left}"]
        counted += [f"redacted {sum(report.redactions.values())}"]
        self.stdout.write(f"{repository.name}: {'would have: ' if dry_run else ''}{' '.join(counted)}")
        for reason, count in sorted(report.skips.items()):
            self.stdout.write(f"  {reason} {count}")

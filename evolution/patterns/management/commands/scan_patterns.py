"""Search a commit of a repository for patterns."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from common.actors import command_actor
from common.choices import GLOBAL_SLUG
from common.companies.selectors import company_by_slug
from common.errors import ApplicationError
from common.text import show_hidden
from evolution.lessons.services.repositories import open_repository, repository_named
from evolution.patterns.services.scanning import Commit, Scanned, scan


class Command(BaseCommand):
    """`scan_patterns --repository NAME --commit SHA [--company SLUG --dry-run]`."""

    help = (
        "Search what one commit of a repository (of the list of repositories) adds for known patterns, and draft "
        "patterns of structures that repeat in it. The same commit again adds nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--repository", required=True, metavar="NAME", help="Its name in Fieldbook.")
        parser.add_argument(
            "--commit", required=True, metavar="SHA", help="The full name of the commit, or HEAD."
        )
        parser.add_argument(
            "--company",
            default=GLOBAL_SLUG,
            metavar="SLUG",
            help=f"The company of the repository ({GLOBAL_SLUG}).",
        )
        parser.add_argument("--dry-run", action="store_true", help="Print the same report; store nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = self._scan(options)
        except ApplicationError as error:
            raise CommandError(str(error.message)) from error
        for sighting in report.sightings:
            self.stdout.write(f"{sighting.pattern.code} {show_hidden(sighting.file)}")
        for pattern in report.drafted:
            self.stdout.write(f"new {pattern.code} {show_hidden(pattern.name)}")
        for pattern in report.promoted:
            self.stdout.write(f"{pattern.status} {pattern.code}")
        self.stdout.write(
            f"files {report.files} left_out {report.files_left_out} sightings {len(report.sightings)} "
            f"new {len(report.drafted)}"
        )

    def _scan(self, options: dict[str, Any]) -> Scanned:
        company = company_by_slug(options["company"])
        repository = repository_named(company, options["repository"])
        source = open_repository(repository)
        sha = (source.head() or "") if options["commit"] == "HEAD" else options["commit"]
        commit = Commit(repository.name, sha, source.patch(sha))
        with transaction.atomic():
            report = scan(
                company=company,
                commit=commit,
                actor=command_actor("scan_patterns"),
                now=timezone.now(),
                agent=repository.agent,
            )
            transaction.set_rollback(options["dry_run"])
        return report

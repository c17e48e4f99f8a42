"""Take everything that a distrusted key brought out of use."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from common.actors import command_actor
from common.archive import moment
from common.companies.models import ApiKey
from common.errors import ApplicationError
from evolution.cycles.services.quarantine import find, quarantine_key


class Command(BaseCommand):
    """`quarantine_key PREFIX --since TIME --reason TEXT [--dry-run]`."""

    help = (
        "Take everything that an API key brought since a time out of use: lessons, reports, knowledge with the "
        "warnings that came of it, outcomes, patterns, waiting proposals; experiences that came of them are switched "
        "off. "
        "lift_quarantine brings it all back. The key itself is not revoked."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", metavar="PREFIX", help="Prefix of the key, as the admin shows it.")
        parser.add_argument(
            "--since", type=moment, required=True, help="What it brought from this time on (ISO 8601)."
        )
        parser.add_argument("--reason", required=True, help="Why; kept in the receipt.")
        parser.add_argument("--dry-run", action="store_true", help="Show what would be held; change nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        key = ApiKey.objects.select_related("company").filter(prefix=options["key"]).first()
        if key is None:
            raise CommandError(f"There is no API key with the prefix “{options['key']}”.")
        if options["dry_run"]:
            found = find(key, options["since"])
            self._tell("would hold", found.counts, found.applied)
            return
        try:
            row, found = quarantine_key(
                key=key,
                since=options["since"],
                reason=options["reason"],
                actor=command_actor("quarantine_key"),
                now=timezone.now(),
            )
        except ApplicationError as error:
            raise CommandError(str(error.errors[0].detail if error.errors else error.message)) from error
        self._tell(f"quarantine {row.pk}: held", row.counts, found.applied)

    def _tell(self, verb: str, counts: dict[str, int], applied: tuple[str, ...]) -> None:
        for code in applied:
            self.stdout.write(f"{code} was applied: look at it, and roll it back if need be.")
        told = " ".join(f"{kind} {count}" for kind, count in counts.items())
        self.stdout.write(f"{verb} {told or 'nothing'}")

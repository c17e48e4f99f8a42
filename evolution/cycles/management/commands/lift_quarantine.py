"""Bring back what a quarantine holds."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from common.actors import command_actor
from common.errors import ApplicationError
from evolution.cycles.services.quarantine import lift_quarantine


class Command(BaseCommand):
    """`lift_quarantine NUMBER --reason TEXT`."""

    help = "Bring back everything that a quarantine holds and no other one does, as it was before."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("quarantine", type=int, metavar="NUMBER", help="As quarantine_key told it.")
        parser.add_argument("--reason", required=True, help="Why; kept in the receipt.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            row = lift_quarantine(
                quarantine_id=options["quarantine"],
                reason=options["reason"],
                actor=command_actor("lift_quarantine"),
                now=timezone.now(),
            )
        except ApplicationError as error:
            raise CommandError(str(error.errors[0].detail if error.errors else error.message)) from error
        self.stdout.write(f"quarantine {row.pk} of {row.key_name} is lifted")

"""Put a backup into the database, and check what came."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.utils import timezone

from common.archive import progress_bar
from common.errors import ApplicationError
from common.maintenance.backups import Backup, is_empty, read_backup, restore_database
from common.maintenance.verification import chains, row_counts, told, unguarded_tables, verify_chains


class Command(BaseCommand):
    """`restore_database FILE [--yes] [--replace]`."""

    help = (
        "Put a backup into the database that DATABASE_URL names. The backup is checked from end to end first; "
        "a damaged one changes nothing. Then the migrations of this release run, and the guards of the "
        "append-only tables and the receipt chains are checked. Stop the application before. On PostgreSQL run "
        "it with the DATABASE_URL of the owner's role; it needs pg_restore."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="Written by backup_database.")
        parser.add_argument("--yes", action="store_true", help="Do not ask.")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="Allow a database that is not empty. What it holds is kept: in a file beside it (SQLite), in a "
            "schema of its own (PostgreSQL).",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            backup = read_backup(source=options["file"])
            self.stdout.write(f"{backup.path}: whole, {backup.size_bytes} bytes sha256 {backup.sha256}")
            self._permit(backup, options["yes"], options["replace"])
            kept = restore_database(backup=backup, now=timezone.now())
        except ApplicationError as error:
            raise CommandError(f"Nothing was restored: {error.message}") from error
        if kept:
            self.stdout.write(f"the former content is kept in {kept}")
        call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
        self.stdout.write("migrations: all of this release are applied")
        self._check()

    def _permit(self, backup: Backup, yes: bool, replace: bool) -> None:
        name = connection.settings_dict["NAME"]
        empty = is_empty()
        if not empty and not replace:
            raise CommandError(
                f"Nothing was restored: the database {name} is not empty. Name an empty one in DATABASE_URL, or "
                "add --replace, which keeps the former content aside."
            )
        if yes:
            return
        effect = "fill the empty database" if empty else "REPLACE everything in the database"
        try:
            answer = input(f"This will {effect} {name} with {backup.path}. Type yes to go on: ")
        except EOFError:
            raise CommandError(
                "Nothing was restored: nobody answered; --yes goes on without asking."
            ) from None
        if answer.strip().casefold() != "yes":
            raise CommandError("Nothing was restored: the answer was not yes.")

    def _check(self) -> None:
        """Say what is there and whether it can be trusted; CommandError when it cannot."""
        counts = row_counts()
        self.stdout.write("rows: " + ", ".join(f"{name} {count}" for name, count in counts.items()))
        unguarded = unguarded_tables()
        self.stdout.write(f"append-only tables without a guard: {', '.join(unguarded) or 'none'}")
        tenants = chains()
        with progress_bar("chains", len(tenants)) as advance:
            reports = verify_chains(tenants=tenants, progress=advance)
        for report in reports:
            self.stdout.write(told(report))
        broken = [report.company_slug for report in reports if not report.intact]
        if broken or unguarded:
            wrong = ", ".join([*(f"the receipts of {slug}" for slug in broken), *unguarded])
            raise CommandError(f"The database was restored, but these did not pass: {wrong}.")
        self.stdout.write("restored and checked")

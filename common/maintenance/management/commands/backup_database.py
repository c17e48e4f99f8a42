"""Write the whole database to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from common.errors import ApplicationError
from common.maintenance.backups import backup_database, checksum_path


class Command(BaseCommand):
    """`backup_database FILE`."""

    help = (
        "Write the whole database to FILE, and its SHA-256 to FILE.sha256, while the application runs: one "
        "moment's state, checked after writing. A file that exists is never replaced. SECRET_KEY and "
        "API_KEY_PEPPER are not in it; keep them elsewhere, or no key and no session works after a restore. "
        "On PostgreSQL run it with the DATABASE_URL of the owner's role; it needs pg_dump."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="A new file, e.g. fieldbook.backup.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            backup = backup_database(target=options["file"])
        except ApplicationError as error:
            raise CommandError(str(error.message)) from error
        self.stdout.write(f"{backup.vendor} {backup.size_bytes} bytes sha256 {backup.sha256}")
        self.stdout.write(f"wrote {backup.path} and {checksum_path(backup.path).name}")

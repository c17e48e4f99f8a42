"""A backup is one file and, beside it, its SHA-256. Write one; check one; put one back."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError
from common.file_writing import whole_file
from common.maintenance import postgresql, sqlite

ENGINES: dict[str, ModuleType] = {"sqlite": sqlite, "postgresql": postgresql}


@dataclass(frozen=True)
class Backup:
    """A whole backup: `vendor` is sqlite or postgresql."""

    path: Path
    size_bytes: int
    sha256: str
    vendor: str


def checksum_path(path: Path) -> Path:
    """Where the SHA-256 of a backup is kept, in the form that `sha256sum --check` reads."""
    return path.with_name(f"{path.name}.sha256")


def backup_database(*, target: Path) -> Backup:
    """Write the database to `target` and its checksum beside it, while the application runs.

    Errors: STATE_CONFLICT when one of the two files exists; SERVICE_UNAVAILABLE when the copy cannot be made.
    """
    engine = ENGINES[connection.vendor]
    with _readable_errors(target), whole_file(checksum_path(target)) as note, whole_file(target) as part:
        engine.dump(connection, part)
        fault = engine.check(part)
        if fault:
            raise ApplicationError("SERVICE_UNAVAILABLE", _("the copy is not whole: %s") % fault)
        backup = Backup(target, part.stat().st_size, _sha256(part), connection.vendor)
        note.write_text(f"{backup.sha256}  {target.name}\n", encoding="utf-8")
    return backup


def read_backup(*, source: Path) -> Backup:
    """Check a backup from end to end before anything is touched.

    Errors: NOT_FOUND for a missing file or checksum; VALIDATION_ERROR for one that was cut or changed, for the
    other kind of database, and for one that a newer release made.
    """
    digest = _checked_digest(source)
    vendor = _vendor_of(source)
    if vendor != connection.vendor:
        raise _refused(
            _("%(path)s is a backup of %(vendor)s, and DATABASE_URL names a database of %(other)s"),
            path=source,
            vendor=vendor,
            other=connection.vendor,
        )
    fault = ENGINES[vendor].check(source)
    if fault:
        raise _refused(_("%(path)s is damaged: %(fault)s"), path=source, fault=fault)
    _check_migrations(source, ENGINES[vendor].migrations_in(source))
    return Backup(source, source.stat().st_size, digest, vendor)


def is_empty() -> bool:
    """Whether the database that DATABASE_URL names has no table yet."""
    return not connection.introspection.table_names()


def restore_database(*, backup: Backup, now: datetime) -> str:
    """Put the backup into the database; what was there is kept, and the answer says where ("" for nothing).

    Errors: SERVICE_UNAVAILABLE; the database then is as it was.
    """
    engine = ENGINES[backup.vendor]
    kept = "" if is_empty() else engine.set_aside(connection, now)
    try:
        engine.load(connection, backup.path)
    except ApplicationError:
        if kept:
            engine.put_back(connection, now)
        raise
    return kept


def _checked_digest(source: Path) -> str:
    checksum = checksum_path(source)
    for path in (source, checksum):
        if not path.is_file():
            raise ApplicationError("NOT_FOUND", _("there is no file %(path)s") % {"path": path})
    with _readable_errors(source):
        expected = checksum.read_text(encoding="utf-8", errors="replace").split(" ")[0].strip()
        digest = _sha256(source)
    if digest != expected:
        raise _refused(
            _("%(path)s does not match %(checksum)s: it was cut or changed"), path=source, checksum=checksum
        )
    return digest


def _vendor_of(source: Path) -> str:
    with source.open("rb") as file:
        start = file.read(16)
    for vendor, engine in ENGINES.items():
        if start.startswith(engine.MAGIC):
            return vendor
    raise _refused(_("%(path)s is no backup of a database"), path=source)


def _check_migrations(source: Path, recorded: set[tuple[str, str]]) -> None:
    if not recorded:
        raise _refused(_("%(path)s is a backup of something else: it records no migrations"), path=source)
    loader = MigrationLoader(None)
    replaced = {name for migration in loader.disk_migrations.values() for name in migration.replaces}
    unknown = sorted(recorded - set(loader.disk_migrations) - replaced)
    if unknown:
        raise _refused(
            _("%(path)s was made by a newer release (it has %(migration)s); install that release first"),
            path=source,
            migration=".".join(unknown[0]),
        )


def _refused(message: Any, **values: Any) -> ApplicationError:
    return ApplicationError("VALIDATION_ERROR", message % values)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _readable_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        message = _("%(path)s exists already; a backup never replaces a file") % {"path": error.args[0]}
        raise ApplicationError("STATE_CONFLICT", message) from error
    except (OSError, DatabaseError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = _("%(path)s: %(reason)s") % {"path": path, "reason": reason}
        raise ApplicationError("SERVICE_UNAVAILABLE", message) from error

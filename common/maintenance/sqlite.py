"""Copy an SQLite database to a file and back, through SQLite's own backup interface."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path

from django.db.backends.base.base import BaseDatabaseWrapper

from common.errors import ApplicationError
from common.file_writing import whole_file

MAGIC = b"SQLite format 3\x00"
SECONDS_BETWEEN_TRIES = 0.25
TRIES = 240


def dump(connection: BaseDatabaseWrapper, target: Path) -> None:
    """Write the database as it is now to `target`; writers go on meanwhile."""
    with closing(_own(connection)) as database, closing(sqlite3.connect(target)) as copy:
        _copy(database, copy)
        copy.execute("PRAGMA journal_mode=DELETE")


def check(source: Path) -> str:
    """Why `source` is no whole database; empty when it is one."""
    try:
        with _opened(source) as database:
            ((answer,), *_rest) = database.execute("PRAGMA integrity_check(1)").fetchall()
    except sqlite3.DatabaseError as error:
        return str(error)
    return "" if answer == "ok" else str(answer)


def migrations_in(source: Path) -> set[tuple[str, str]]:
    """(app, name) of the migrations that the backup has; empty when it is no database of Django's."""
    with _opened(source) as database:
        try:
            return set(database.execute("SELECT app, name FROM django_migrations"))
        except sqlite3.OperationalError:
            return set()


def set_aside(connection: BaseDatabaseWrapper, now: datetime) -> str:
    """Keep what the database holds; returns where. The content itself is replaced by `load`."""
    name = str(connection.settings_dict["NAME"])
    kept = Path(f"{name}.before-restore-{now:%Y%m%d-%H%M%S}")
    with whole_file(kept) as part:
        dump(connection, part)
    return str(kept)


def put_back(connection: BaseDatabaseWrapper, now: datetime) -> None:
    """Nothing to do: a copy that fails leaves the old content in place."""


def load(connection: BaseDatabaseWrapper, source: Path) -> None:
    """Make the database equal to `source`, in one transaction of SQLite's."""
    connection.close()
    try:
        with _opened(source) as backup, closing(_own(connection)) as database:
            _copy(backup, database)
    except sqlite3.DatabaseError as error:
        raise ApplicationError("SERVICE_UNAVAILABLE", str(error)) from error


def _own(connection: BaseDatabaseWrapper) -> sqlite3.Connection:
    """A connection beside Django's, whose open transactions would block the copy."""
    return sqlite3.connect(str(connection.settings_dict["NAME"]))


def _copy(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """All pages in one step: one moment's state, and no writer can make it start again.

    Errors: sqlite3.OperationalError when the database stays locked for a minute.
    """
    tries = 0

    def give_up(status: int, remaining: int, total: int) -> None:
        nonlocal tries
        tries += status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        if tries > TRIES:
            raise sqlite3.OperationalError("the database stays locked; stop the application and try again")

    source.backup(target, progress=give_up, sleep=SECONDS_BETWEEN_TRIES)


@contextmanager
def _opened(source: Path) -> Iterator[sqlite3.Connection]:
    """The file, read-only; `immutable` keeps SQLite from making files beside it."""
    address = f"{source.resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as database:
        yield database

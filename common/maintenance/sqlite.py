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


def dump(connection: BaseDatabaseWrapper, target: Path) -> None:
    """Write the database as it is now to `target`; writers go on meanwhile."""
    connection.ensure_connection()
    with closing(sqlite3.connect(target)) as copy:
        # All pages in one step: the copy is one moment's state, and no writer can make it start again.
        connection.connection.backup(copy)
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
    connection.ensure_connection()
    try:
        with _opened(source) as backup:
            backup.backup(connection.connection)
    except sqlite3.DatabaseError as error:
        raise ApplicationError("SERVICE_UNAVAILABLE", str(error)) from error
    finally:
        connection.close()


@contextmanager
def _opened(source: Path) -> Iterator[sqlite3.Connection]:
    """The file, read-only; `immutable` keeps SQLite from making files beside it."""
    address = f"{source.resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as database:
        yield database

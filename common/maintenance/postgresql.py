"""Copy a PostgreSQL database to a file and back, by way of pg_dump and pg_restore."""

from __future__ import annotations

import os
import subprocess
from datetime import datetime
from pathlib import Path

from django.db import DatabaseError, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError

MAGIC = b"PGDMP"
_KEPT = "before_restore_"
#: Connection parameters that the tools take from their environment, where no list of processes shows them.
_VARIABLES = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "service": "PGSERVICE",
    "passfile": "PGPASSFILE",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
}
#: Trigger functions and the like; those of extensions stay with their extension.
_FUNCTIONS = """
    SELECT format('%%I(%%s)', p.proname, pg_get_function_identity_arguments(p.oid)) FROM pg_proc p
    WHERE p.pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = %s)
      AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
"""
_TABLES = "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = %s ORDER BY tablename"


def dump(connection: BaseDatabaseWrapper, target: Path) -> None:
    """Write the database as it is now to `target`; writers go on meanwhile."""
    _run(connection, "pg_dump", "--format=custom", f"--exclude-schema={_KEPT}*", "--file", str(target))


def check(source: Path) -> str:
    """Why `source` is no whole backup; empty when it is one. Everything in it is unpacked once."""
    try:
        _run(None, "pg_restore", "--file", os.devnull, str(source))
    except ApplicationError as error:
        return str(error.message)
    return ""


def migrations_in(source: Path) -> set[tuple[str, str]]:
    """(app, name) of the migrations that the backup has; empty when it is no database of Django's."""
    only = ("--data-only", "--table=django_migrations")
    text = _run(None, "pg_restore", *only, "--file", "-", str(source))
    _before, copy, rows = text.partition("\nCOPY ")
    columns = [name.strip() for name in rows.partition("(")[2].partition(")")[0].split(",")]
    if not copy or not {"app", "name"} <= set(columns):
        return set()
    lines = rows.split("\n\\.\n")[0].split("\n")[1:]
    cells = [dict(zip(columns, line.split("\t"), strict=True)) for line in lines]
    return {(cell["app"], cell["name"]) for cell in cells}


def set_aside(connection: BaseDatabaseWrapper, now: datetime) -> str:
    """Move what the database holds into a schema of its own; returns its name."""
    kept = _kept_schema(now)
    _move(connection, _home(connection), kept)
    return f"schema {kept}"


def put_back(connection: BaseDatabaseWrapper, now: datetime) -> None:
    """Undo `set_aside`."""
    _move(connection, _kept_schema(now), _home(connection))


def load(connection: BaseDatabaseWrapper, source: Path) -> None:
    """Fill the empty database from `source`, in one transaction."""
    connection.close()
    name = connection.get_connection_params()["dbname"]
    options = ("--no-owner", "--exit-on-error", "--single-transaction")
    _run(connection, "pg_restore", *options, f"--dbname={name}", str(source))


def _kept_schema(now: datetime) -> str:
    return f"{_KEPT}{now:%Y%m%d_%H%M%S}"


def _home(connection: BaseDatabaseWrapper) -> str:
    """The schema of the application's tables."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_schema()")
        return cursor.fetchone()[0]


def _move(connection: BaseDatabaseWrapper, old: str, new: str) -> None:
    """Tables (with their indexes, sequences, triggers) and functions; the schema's own grants stay."""
    source, target = connection.ops.quote_name(old), connection.ops.quote_name(new)
    try:
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {target}")
            cursor.execute(_TABLES, [old])
            for (table,) in cursor.fetchall():
                cursor.execute(f"ALTER TABLE {source}.{table} SET SCHEMA {target}")
            cursor.execute(_FUNCTIONS, [old])
            for (function,) in cursor.fetchall():
                cursor.execute(f"ALTER FUNCTION {source}.{function} SET SCHEMA {target}")
            if old.startswith(_KEPT):
                cursor.execute(f"DROP SCHEMA {source}")
    except DatabaseError as error:
        message = _("the old content could not be set aside (is the application stopped?): %s") % error
        raise ApplicationError("SERVICE_UNAVAILABLE", message) from error


def _run(connection: BaseDatabaseWrapper | None, tool: str, *arguments: str) -> str:
    """Standard output of a tool of PostgreSQL. Errors: SERVICE_UNAVAILABLE with what the tool said."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    if connection is not None:
        given = connection.get_connection_params()
        environment |= {_VARIABLES[name]: str(given[name]) for name in _VARIABLES if given.get(name)}
        arguments = ("--no-password", *arguments)
    try:
        done = subprocess.run(  # noqa: S603 - a fixed tool, a list of arguments, no shell
            [tool, *arguments], env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except FileNotFoundError:
        message = _("%s was not found; install the client tools of PostgreSQL (postgresql-client)") % tool
        raise ApplicationError("SERVICE_UNAVAILABLE", message) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip() or f"{tool}: exit code {done.returncode}"
        raise ApplicationError("SERVICE_UNAVAILABLE", said.splitlines()[0])
    return done.stdout.decode(errors="replace")

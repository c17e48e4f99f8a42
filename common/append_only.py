"""Database triggers that make append-only tables append-only, on SQLite and PostgreSQL.

Installed after every `migrate` for each `AppendOnlyModel`, because a table that SQLite rebuilds during
a migration loses its triggers. UPDATE, DELETE and TRUNCATE are refused; on SQLite `INSERT OR REPLACE` too,
by way of `PRAGMA recursive_triggers` (see docs/threats.md).
"""

from __future__ import annotations

from collections.abc import Iterator

from django.apps import apps
from django.db.backends.base.base import BaseDatabaseWrapper

from common.models import AppendOnlyModel


def append_only_models() -> list[type[AppendOnlyModel]]:
    """Every concrete append-only model of the installed apps."""
    return [model for model in apps.get_models() if issubclass(model, AppendOnlyModel)]


def _sqlite(model: type[AppendOnlyModel]) -> Iterator[str]:
    table = model._meta.db_table
    fields = [field.column for field in model._meta.local_fields]
    kept = [column for column in fields if column not in model.erasable_fields]
    changed = " OR ".join(f'OLD."{column}" IS NOT NEW."{column}"' for column in kept)
    erased = " OR ".join(
        f'(OLD."{column}" IS NOT NEW."{column}" AND NEW."{column}" <> \'\')'
        for column in model.erasable_fields
    )
    condition = " OR ".join(part for part in (changed, erased) if part) if model.erasable_fields else "1"
    refuse = f"SELECT RAISE(ABORT, '{table} is append-only');"
    for verb, when in (("UPDATE", condition), ("DELETE", "1")):
        name = f"{table}_no_{verb.lower()}"
        yield f'DROP TRIGGER IF EXISTS "{name}"'
        yield f'CREATE TRIGGER "{name}" BEFORE {verb} ON "{table}" WHEN {when} BEGIN {refuse} END'


def _postgresql(model: type[AppendOnlyModel]) -> Iterator[str]:
    table = model._meta.db_table
    erasable = ", ".join(f"'{column}'" for column in model.erasable_fields)
    guard = ""
    if model.erasable_fields:
        emptied = " AND ".join(
            f'(NEW."{column}" IS NOT DISTINCT FROM OLD."{column}" OR NEW."{column}" = \'\')'
            for column in model.erasable_fields
        )
        guard = (
            f"IF TG_OP = 'UPDATE' AND (to_jsonb(NEW) - ARRAY[{erasable}]) = (to_jsonb(OLD) - ARRAY[{erasable}]) "
            f"AND {emptied} THEN RETURN NEW; END IF;"
        )
    yield (
        f'CREATE OR REPLACE FUNCTION "{table}_refuse"() RETURNS trigger LANGUAGE plpgsql AS $$ '
        f"BEGIN {guard} RAISE EXCEPTION '{table} is append-only' "
        "USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    for name, events, scope in (
        ("no_change", "UPDATE OR DELETE", "ROW"),
        ("no_truncate", "TRUNCATE", "STATEMENT"),
    ):
        yield f'DROP TRIGGER IF EXISTS "{table}_{name}" ON "{table}"'
        yield (
            f'CREATE TRIGGER "{table}_{name}" BEFORE {events} ON "{table}" '
            f'FOR EACH {scope} EXECUTE FUNCTION "{table}_refuse"()'
        )


def install(connection: BaseDatabaseWrapper) -> list[str]:
    """Put the triggers on every append-only table that exists in `connection`; returns the table names."""
    statements = {"sqlite": _sqlite, "postgresql": _postgresql}[connection.vendor]
    existing = set(connection.introspection.table_names())
    guarded = []
    with connection.cursor() as cursor:
        for model in append_only_models():
            if model._meta.db_table not in existing:
                continue
            for statement in statements(model):
                cursor.execute(statement)
            guarded.append(model._meta.db_table)
    return guarded


def missing(connection: BaseDatabaseWrapper) -> list[str]:
    """Names of append-only tables that lack one of their two triggers in `connection`, or have it switched off."""
    triggers = {
        "sqlite": "SELECT tbl_name, name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": (
            "SELECT c.relname, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
            "WHERE t.tgenabled <> 'D'"
        ),
    }[connection.vendor]
    ends = {"sqlite": ("no_update", "no_delete"), "postgresql": ("no_change", "no_truncate")}[
        connection.vendor
    ]
    with connection.cursor() as cursor:
        cursor.execute(triggers)
        found = set(cursor.fetchall())
    tables = [model._meta.db_table for model in append_only_models()]
    return sorted(table for table in tables if any((table, f"{table}_{end}") not in found for end in ends))

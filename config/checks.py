"""System checks: settings that do not fit together, each with a hint. docs/operations.md lists the settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_permission_codename
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from common.append_only import missing
from common.receipts.models import Receipt
from config.env import env

#: What several writers on one SQLite file need, and what keeps `INSERT OR REPLACE` from passing the guards.
SQLITE_PRAGMAS = ("journal_mode=WAL", "recursive_triggers=ON")
SQLITE_MIN_TIMEOUT_SECONDS = 20


def is_production() -> bool:
    return settings.PROFILE == "production"


def uses_sqlite() -> bool:
    return settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")


@register(Tags.database)
def sqlite_options(app_configs: Any, **kwargs: Any) -> Iterator[CheckMessage]:
    """Without them writers meet “database is locked”, and receipts could be replaced."""
    if not uses_sqlite():
        return
    options = settings.DATABASES["default"].get("OPTIONS", {})
    pragmas = options.get("init_command", "").replace(" ", "").casefold()
    lacking = [pragma for pragma in SQLITE_PRAGMAS if pragma.casefold() not in pragmas]
    if options.get("transaction_mode") != "IMMEDIATE":
        lacking.append("transaction_mode=IMMEDIATE")
    if options.get("timeout", 0) < SQLITE_MIN_TIMEOUT_SECONDS:
        lacking.append(f"timeout={SQLITE_MIN_TIMEOUT_SECONDS}")
    if lacking:
        yield Error(
            f"The SQLite database lacks {', '.join(lacking)}.",
            hint="Set DATABASE_URL, and let config.settings.base make the options of it.",
            id="fieldbook.E001",
        )


@register()
def broker(app_configs: Any, **kwargs: Any) -> Iterator[CheckMessage]:
    if is_production() and settings.BROKER_URL.startswith(("filesystem:", "memory:")):
        yield Error(
            f"The broker {settings.BROKER_URL.partition(':')[0]} serves one machine and one worker.",
            hint="Set BROKER_URL to a Redis server: redis://host:6379/0.",
            id="fieldbook.E002",
        )


@register()
def eager_tasks(app_configs: Any, **kwargs: Any) -> Iterator[CheckMessage]:
    if settings.CELERY_TASK_ALWAYS_EAGER and settings.PROFILE != "test":
        yield Error(
            "Background work would run inside the request.",
            hint="Remove CELERY_TASK_ALWAYS_EAGER; it is for tests only.",
            id="fieldbook.E006",
        )


@register()
def production_settings(app_configs: Any, **kwargs: Any) -> Iterator[CheckMessage]:
    if not is_production():
        return
    if settings.DEBUG:
        yield Error(
            "DEBUG is on: error pages would show settings and data.",
            hint="Leave DEBUG to config.settings.production.",
            id="fieldbook.E003",
        )
    if "*" in settings.ALLOWED_HOSTS:
        yield Error(
            "ALLOWED_HOSTS has “*”: any host name is believed.",
            hint="Name the host names under which the server answers, with commas.",
            id="fieldbook.E011",
        )
    if not settings.CACHE_URL:
        yield Warning(
            "There is no shared cache: rate limits count in each process apart.",
            hint="Set CACHE_URL to a Redis server: redis://host:6379/1.",
            id="fieldbook.W008",
        )


@register()
def sqlite_place(app_configs: Any, **kwargs: Any) -> Iterator[CheckMessage]:
    if not uses_sqlite():
        return
    if is_production():
        yield Warning(
            "SQLite serves one host only, and whoever owns the file can change receipts.",
            hint="Set DATABASE_URL to a PostgreSQL server: postgres://user:password@host:5432/name.",
            id="fieldbook.W004",
        )
    if env.int("WEB_CONCURRENCY", 1) > 1:
        yield Error(
            "SQLite allows one web process.",
            hint="Set WEB_CONCURRENCY=1 (WEB_THREADS may be more), or DATABASE_URL to a PostgreSQL server.",
            id="fieldbook.E005",
        )


@register(Tags.security)
def pepper(app_configs: Any, **kwargs: Any) -> Iterator[CheckMessage]:
    """The embedded profile has one known text for both; there the check would only be noise."""
    if settings.API_KEY_PEPPER == settings.SECRET_KEY != settings.DEFAULT_SECRET_KEY:
        yield Warning(
            "API_KEY_PEPPER equals SECRET_KEY: whoever learns one has both, and they cannot be rotated apart.",
            hint="Give API_KEY_PEPPER a value of its own; put the old one into API_KEY_PEPPER_FALLBACKS.",
            id="fieldbook.W007",
        )


@register()
def role_permissions(app_configs: Any, **kwargs: Any) -> Iterator[CheckMessage]:
    """A misspelled permission would silently be given to nobody."""
    known = set(permission_names())
    for role, names in settings.ROLE_PERMISSIONS.items():
        unknown = sorted(set(names) - known)
        if unknown:
            yield Error(
                f"The role {role} names permissions that no model has: {', '.join(unknown)}.",
                hint="Correct config/roles.py.",
                id="fieldbook.E010",
            )


def permission_names() -> Iterator[str]:
    """`app.codename` of every permission that migrate makes."""
    for model in apps.get_models():
        options = model._meta
        own = [codename for codename, _label in options.permissions]
        default = [get_permission_codename(action, options) for action in options.default_permissions]
        yield from (f"{options.app_label}.{codename}" for codename in (*own, *default))


@register(Tags.database)
def append_only_guards(
    app_configs: Any, databases: Sequence[str] | None = None, **kwargs: Any
) -> Iterator[CheckMessage]:
    """Tables that do not exist yet are no fault: this also runs before the first migrate."""
    for alias in databases or ():
        connection = connections[alias]
        unguarded = set(missing(connection)) & set(connection.introspection.table_names())
        if unguarded:
            yield Error(
                f"Append-only tables without their triggers: {', '.join(sorted(unguarded))}.",
                hint="`manage.py migrate --skip-checks` puts them back; then run `manage.py verify_receipts`.",
                id="fieldbook.E009",
            )


@register(Tags.database, deploy=True)
def database_role(
    app_configs: Any, databases: Sequence[str] | None = None, **kwargs: Any
) -> Iterator[CheckMessage]:
    """With --deploy and --database: the role that serves requests must not be able to take the triggers off."""
    for alias in databases or ():
        connection = connections[alias]
        if connection.vendor == "postgresql" and may_drop_guards(connection):
            yield Warning(
                "The database role owns the tables (or is a superuser): it could switch off what guards receipts.",
                hint="Let a role of its own serve requests: deploy/postgres-roles.sh. "
                "Ignore this where the owner migrates.",
                id="fieldbook.W012",
            )


def may_drop_guards(connection: BaseDatabaseWrapper) -> bool:
    """Whether the connected PostgreSQL role may alter the table of receipts."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_has_role(c.relowner, 'USAGE') FROM pg_class c WHERE c.oid = to_regclass(%s)",
            [Receipt._meta.db_table],
        )
        row = cursor.fetchone()
    return bool(row and row[0])

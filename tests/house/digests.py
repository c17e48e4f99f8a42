"""Whether anything in the database changed: a digest a table, read as the database has it."""

import hashlib
from functools import cache

from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection

#: Columns that note when a caller was last seen.
SEEN = {"last_login", "last_used_at"}


@cache
def _statements() -> dict[str, str]:
    quoted = connection.ops.quote_name
    statements = {}
    for model in apps.get_models(include_auto_created=True):
        columns = [field.column for field in model._meta.concrete_fields if field.column not in SEEN]
        table = model._meta.db_table
        statements[table] = f"SELECT {', '.join(map(quoted, columns))} FROM {quoted(table)}"
    del statements[Session._meta.db_table]
    return statements


def digest_of_everything() -> dict[str, str]:
    """Table -> SHA-256 of its rows, without sessions and the moments at which callers were last seen."""
    digests = {}
    with connection.cursor() as cursor:
        for table, statement in _statements().items():
            cursor.execute(statement)
            rows = sorted(map(repr, cursor.fetchall()))
            digests[table] = hashlib.sha256("\n".join(rows).encode()).hexdigest()
    return digests

"""In the application: a database for `bench.archive`, and one run of a command in it.

Run as `python -m bench.archive_data prepare ROWS` or `... run COMMAND`; the latter prints a line of JSON.
Rows are multiplied by the database itself from one that the models made: five of six are due.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import sys
import time
from datetime import date, datetime, timedelta
from typing import Any

import django
from django.db import connection, models

TODAY = date(2026, 8, 1)
AS_OF = "2026-08-01T12:00:00+00:00"
TEXT = (
    "The lease of the lock was kept after a restart and the second worker waited for it 续租失败 时没有放开。 "
    * 2
)


def prepare(rows: int) -> None:
    """An empty migrated database with that many lessons (with their rows of the index) and recalls."""
    from django.core.management import call_command  # noqa: PLC0415  settings come first

    from common.companies.models import Company  # noqa: PLC0415
    from common.search.models import SearchDocument, SearchGeneration  # noqa: PLC0415
    from common.search.services import index_objects, recount  # noqa: PLC0415
    from evolution.lessons.models import RecallLog  # noqa: PLC0415
    from evolution.lessons.services.indexing import entry_of  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    company = Company.objects.create(slug="bench", name="Bench")
    lesson = _lesson(company)
    index_objects(company=company, kind="lesson", entries=[entry_of(lesson)])
    old = datetime.fromisoformat(AS_OF) - timedelta(days=100)
    recall = RecallLog.objects.create(
        company=company, purpose="explicit", task=TEXT[:200], asked_by="bench", created_at=old
    )
    later = f"'{(TODAY + timedelta(days=100)).isoformat()}'"
    expires = f"CASE WHEN n.n % 6 = 0 THEN {_as_date(later)} ELSE t.expires_on END"
    _multiply(lesson, rows, {"id": "n.n", "number": "n.n", "expires_on": expires})
    document = SearchDocument.objects.get()
    beyond = (TODAY + timedelta(days=100)).toordinal()
    expires = f"CASE WHEN n.n % 6 = 0 THEN {beyond} ELSE t.expires END"
    _multiply(document, rows, {"id": "n.n", "object_id": "n.n", "sequence": "n.n", "expires": expires})
    created = f"CASE WHEN n.n % 6 = 0 THEN {_as_time(AS_OF)} ELSE t.created_at END"
    _multiply(recall, rows, {"id": "n.n", "recall_id": _identity(), "created_at": created})
    head = SearchGeneration.objects.get()
    lengths = {name: tokens * rows for name, tokens in head.lengths.items()}
    SearchGeneration.objects.update(rows=rows, counted=rows, lengths=lengths)
    if rows <= 20_000 and recount(company=company, kind="lesson", write=False):
        raise SystemExit("the index of the bench is not what the application would count")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _lesson(company: Any) -> Any:
    """The lesson that is multiplied: due on TODAY."""
    from evolution.lessons.models import Lesson  # noqa: PLC0415  settings come first

    return Lesson.objects.create(
        company=company,
        number=1,
        title="Lock kept after a restart",
        category="INCIDENT-EXP",
        what=TEXT,
        related_files=["worker/lock.py", "worker/lease.py"],
        tags=["lock"],
        date=TODAY - timedelta(days=500),
        expires_on=TODAY - timedelta(days=100),
        status="active",
        created_by="bench",
    )


def _multiply(row: models.Model, rows: int, changed: dict[str, str]) -> None:
    """Copy a row until there are `rows`; `changed` says how columns follow from the count `n.n`."""
    names = [field.column for field in row._meta.concrete_fields]
    values = ", ".join(changed.get(name, f't."{name}"') for name in names)
    columns = ", ".join(f'"{name}"' for name in names)
    table = row._meta.db_table
    query = f"""
        INSERT INTO {table} ({columns})
        WITH RECURSIVE n(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < {rows})
        SELECT {values} FROM n, {table} t WHERE t.id = {row.pk}
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":  # far more rows than any request writes
            cursor.execute("SET statement_timeout = 0")
        cursor.execute(query)


def _as_date(text: str) -> str:
    return f"CAST({text} AS date)" if connection.vendor == "postgresql" else text


def _as_time(text: str) -> str:
    return f"CAST('{text}' AS timestamptz)" if connection.vendor == "postgresql" else "'2026-08-01 12:00:00'"


def _identity() -> str:
    return "gen_random_uuid()" if connection.vendor == "postgresql" else "lower(hex(randomblob(16)))"


def run(command: str) -> None:
    """One call of the command, its time and its memory."""
    from django.core.management import call_command  # noqa: PLC0415  settings come first

    connection.ensure_connection()
    out = io.StringIO()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, used = time.perf_counter(), time.process_time()
    with contextlib.redirect_stderr(io.StringIO()):
        call_command(command, "--as-of", AS_OF, stdout=out)
    told = {
        "seconds": time.perf_counter() - started,
        "cpu": time.process_time() - used,
        "grown": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
        "told": out.getvalue().splitlines()[-1],
    }
    print(json.dumps(told))


if __name__ == "__main__":
    django.setup()
    if sys.argv[1] == "prepare":
        prepare(int(sys.argv[2]))
    else:
        run(sys.argv[2])

"""`make bench-archive`: `archive_lessons` and `archive_recalls` beside plain SQL that marks the same rows, in one run.

Each measurement starts from a fresh copy of the same database, on SQLite and on PostgreSQL.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from bench.archive_data import AS_OF, TODAY

ROOT = Path(__file__).resolve().parent.parent
POSTGRES_URL = "postgres://postgres@127.0.0.1:5432/fieldbook"
BATCH, TARGET, MEGABYTES = 10_000, 1.5, 40.0
SMALL = 12_000
DUE = {
    "lessons_lesson": f"status = 'active' AND expires_on < '{TODAY}' AND category NOT IN ('RULE-EXP', 'CALIB-EXP')",
    "lessons_recalllog": "archived_at IS NULL AND created_at < '2026-05-03 12:00:00+00:00'",
}
MARK = {
    "lessons_lesson": "status = 'archived', archive_reason = 'expired', version = version + 1, "
    f"archived_at = '{AS_OF}', updated_at = '{AS_OF}'",
    "lessons_recalllog": f"archived_at = '{AS_OF}'",
}
INDEX = (
    "UPDATE search_searchdocument SET state = 2, expires = NULL, generation = 2 "
    "WHERE company_id = 1 AND kind = 'lesson' AND object_id IN ({ids})"
)
#: What is measured: the command, the table that plain SQL marks, and whether the rows of the index as well.
CASES = {
    "archive_lessons": [("lessons_lesson", False), ("lessons_lesson", True)],
    "archive_recalls": [("lessons_recalllog", False)],
}


class Sqlite:
    """Copies of one file."""

    name = "SQLite"

    def __init__(self, folder: Path, rows: int) -> None:
        self.source, self.copy_path = folder / f"source-{rows}.sqlite3", folder / "copy.sqlite3"
        self.url, self.copy_url = f"sqlite:///{self.source}", f"sqlite:///{self.copy_path}"

    @contextlib.contextmanager
    def copied(self) -> Iterator[None]:
        shutil.copyfile(self.source, self.copy_path)
        try:
            yield
        finally:
            for file in self.copy_path.parent.glob("copy.sqlite3*"):
                file.unlink()

    @contextlib.contextmanager
    def connected(self) -> Iterator[Callable[[str], int]]:
        connection = sqlite3.connect(self.copy_path, isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        with contextlib.closing(connection):
            yield lambda statement: connection.execute(statement).rowcount

    def close(self) -> None:
        self.source.unlink()


class Postgresql:
    """Copies of one database by its server."""

    name = "PostgreSQL"

    def __init__(self, rows: int) -> None:
        parts = urlsplit(os.environ.get("TEST_DATABASE_URL", POSTGRES_URL))
        self.source = f"fieldbook_bench_{secrets.token_hex(4)}"
        self.url = urlunsplit(parts._replace(path=f"/{self.source}"))
        self.copy_url = f"{self.url}_copy"
        server = urlunsplit(parts._replace(scheme="postgresql", path="/postgres"))
        self.server = psycopg.connect(server, connect_timeout=3, autocommit=True)
        self.server.execute(f"CREATE DATABASE {self.source}")

    @contextlib.contextmanager
    def copied(self) -> Iterator[None]:
        self.server.execute(f"CREATE DATABASE {self.source}_copy TEMPLATE {self.source}")
        try:
            yield
        finally:
            self.server.execute(f"DROP DATABASE {self.source}_copy WITH (FORCE)")

    @contextlib.contextmanager
    def connected(self) -> Iterator[Callable[[str], int]]:
        url = urlunsplit(urlsplit(self.copy_url)._replace(scheme="postgresql"))
        with psycopg.connect(url, autocommit=True) as connection:
            yield lambda statement: connection.execute(statement).rowcount

    def close(self) -> None:
        self.server.execute(f"DROP DATABASE IF EXISTS {self.source} WITH (FORCE)")
        self.server.close()


def main() -> int:
    options = _options()
    missed = 0
    with tempfile.TemporaryDirectory(prefix="fieldbook-bench-") as name:
        makers: list[Callable[[int], Any]] = [lambda rows: Sqlite(Path(name), rows), Postgresql]
        for make in makers:
            try:
                missed += _measure(make, options)
            except psycopg.OperationalError as error:
                print(f"PostgreSQL is left out: {str(error).strip().splitlines()[-1]}")
    return 1 if missed and options.check else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=120_000, help="rows, five of six due (120,000)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds, in turn with the peer (5)")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a target is missed")
    return parser.parse_args()


def _measure(make: Callable[[int], Any], options: argparse.Namespace) -> int:
    small = make(SMALL)
    try:
        _prepare(small, SMALL)
        grown_small = {command: _command(small, command, SMALL)["grown"] for command in CASES}
    finally:
        small.close()
    large = make(options.rows)
    try:
        _prepare(large, options.rows)
        missed = 0
        for command, peers in CASES.items():
            ours: list[dict[str, Any]] = []
            plain: list[list[float]] = [[] for _peer in peers]
            for _round in range(options.rounds):
                ours.append(_command(large, command, options.rows))
                for times, (table, with_index) in zip(plain, peers, strict=True):
                    times.append(_plain(large, table, with_index, options.rows))
            missed += _report(large.name, command, ours, plain, grown_small[command], options)
    finally:
        large.close()
    return missed


def _prepare(database: Any, rows: int) -> None:
    _called(database.url, "prepare", str(rows))


def _command(database: Any, command: str, rows: int) -> dict[str, Any]:
    with database.copied():
        told = json.loads(_called(database.copy_url, "run", command).splitlines()[-1])
    if f"archived {_due(rows)}" not in told["told"]:
        raise SystemExit(f"{command} of {rows}: {told}")
    return told


def _due(rows: int) -> int:
    return rows - rows // 6


def _called(url: str, *arguments: str) -> str:
    environment = {
        **os.environ,
        "DATABASE_URL": url,
        "DJANGO_SETTINGS_MODULE": "config.settings.test",
        "LESSONS_PRACT_CAP": "1000000000",
    }
    call = [sys.executable, "-m", "bench.archive_data", *arguments]
    return subprocess.run(
        call, env=environment, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def _plain(database: Any, table: str, with_index: bool, rows: int) -> float:
    """Seconds to mark the same rows in the same batches without receipts."""
    ids = f"SELECT id FROM {table} WHERE {DUE[table]} ORDER BY id LIMIT {BATCH}"
    with database.copied(), database.connected() as execute:
        started = time.perf_counter()
        marked = 0
        while True:
            execute("BEGIN")
            if with_index:
                execute(INDEX.format(ids=ids))
            found = execute(f"UPDATE {table} SET {MARK[table]} WHERE id IN ({ids})")
            execute("COMMIT")
            marked += found
            if not found:
                break
        took = time.perf_counter() - started
    if marked != _due(rows):
        raise SystemExit(f"plain SQL marked {marked} of {_due(rows)}")
    return took


def _report(
    name: str,
    command: str,
    ours: list[dict[str, Any]],
    plain: list[list[float]],
    grown_small: float,
    options: argparse.Namespace,
) -> int:
    seconds = statistics.median(one["seconds"] for one in ours)
    cpu = statistics.median(one["cpu"] for one in ours)
    grown = statistics.median(one["grown"] for one in ours)
    print(
        f"\n{name}, {command}: {_due(options.rows):,} of {options.rows:,} rows, medians of {len(ours)} rounds"
    )
    print(f"  ours, with receipts    {seconds:8.2f} s  (processor of the client {cpu:.2f} s)")
    missed = 0
    for number, times in enumerate(plain):
        own = statistics.median(times)
        what = "plain SQL, rows and index" if number else "plain SQL, rows alone"
        print(f"  {what:<22} {own:8.2f} s  ours / plain {seconds / own:5.2f}")
    # The last peer writes what the command writes, but for receipts.
    ratio = seconds / statistics.median(plain[-1])
    for text, is_met in (
        (f"at most {TARGET:g} × plain SQL of the same rows ({ratio:.2f})", ratio <= TARGET),
        (
            f"memory flat: grew by {grown_small:.0f} MB for {_due(SMALL):,} rows, by {grown:.0f} MB for these",
            grown - grown_small <= MEGABYTES,
        ),
    ):
        print(f"  {'met   ' if is_met else 'MISSED'}  {text}")
        missed += not is_met
    return missed


if __name__ == "__main__":
    sys.exit(main())

"""`backup_database` and `restore_database`: a damaged, foreign or newer backup changes nothing, and says why."""

import hashlib
import os
import sqlite3
import stat
import subprocess
import uuid
from contextlib import closing
from datetime import UTC, datetime
from io import StringIO
from types import SimpleNamespace

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from psycopg import sql

from agents.models import Agent
from common.append_only import missing
from common.maintenance import backups, postgresql, sqlite
from common.maintenance.backups import is_empty
from tests.commands.calls import lines, run
from tests.factories import make_agent

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 6, 12, 8, tzinfo=UTC)
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="schemas of PostgreSQL")


@pytest.fixture
def backup(tmp_path):
    file = tmp_path / "a.backup"
    run("backup_database", file)
    return file


@pytest.fixture
def untouched(monkeypatch):
    """Fails the test when anything is loaded into the database."""
    engine = backups.ENGINES[connection.vendor]
    for name in ("load", "set_aside"):
        monkeypatch.setattr(engine, name, lambda *args: pytest.fail("the database was touched"))


def refusal(*arguments):
    with pytest.raises(CommandError) as refused:
        run("restore_database", *arguments)
    return str(refused.value)


def with_checksum(file, content):
    """A file that matches its checksum, whatever is in it."""
    file.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    file.with_name(f"{file.name}.sha256").write_text(f"{digest}  {file.name}\n")
    return file


def test_a_backup_is_a_private_file_with_a_checksum_that_other_tools_read(backup):
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    done = subprocess.run(["sha256sum", "--check", f"{backup.name}.sha256"], cwd=backup.parent, check=False)
    assert done.returncode == 0
    assert sorted(os.listdir(backup.parent)) == ["a.backup", "a.backup.sha256"]


def test_the_command_names_size_and_digest(tmp_path):
    first, last = lines("backup_database", tmp_path / "备份")
    digest = hashlib.sha256((tmp_path / "备份").read_bytes()).hexdigest()
    assert first == f"{connection.vendor} {(tmp_path / '备份').stat().st_size} bytes sha256 {digest}"
    assert last.startswith("wrote ")


@pytest.mark.parametrize("existing", ["a.backup", "a.backup.sha256"])
def test_a_file_that_exists_is_never_replaced(tmp_path, existing):
    (tmp_path / existing).write_text("mine")
    with pytest.raises(CommandError, match=f"{existing} exists already"):
        run("backup_database", tmp_path / "a.backup")
    assert [path.name for path in tmp_path.iterdir()] == [existing]
    assert (tmp_path / existing).read_text() == "mine"


@pytest.mark.parametrize("path", ["missing/a.backup", "."])
def test_a_place_that_cannot_be_written_is_named(tmp_path, path):
    with pytest.raises(CommandError, match=str(tmp_path)):
        run("backup_database", tmp_path / path)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_while_copying_leaves_no_file(tmp_path, monkeypatch):
    engine = backups.ENGINES[connection.vendor]
    monkeypatch.setattr(engine, "check", lambda path: "page 3 is gone")
    with pytest.raises(CommandError, match="page 3 is gone"):
        run("backup_database", tmp_path / "a.backup")
    assert list(tmp_path.iterdir()) == []


def cut(file):
    file.write_bytes(file.read_bytes()[:-1000])


def changed(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def emptied(file):
    file.write_bytes(b"")


def without_checksum(file):
    file.with_name(f"{file.name}.sha256").unlink()


def without_file(file):
    file.unlink()


def with_an_empty_checksum(file):
    file.with_name(f"{file.name}.sha256").write_text("")


@pytest.mark.parametrize(
    ("damage", "word"),
    [
        (cut, "cut or changed"),
        (changed, "cut or changed"),
        (emptied, "cut or changed"),
        (with_an_empty_checksum, "cut or changed"),
        (without_checksum, "a.backup.sha256"),
        (without_file, "a.backup"),
    ],
)
def test_a_damaged_backup_restores_nothing(backup, untouched, damage, word):
    damage(backup)
    told = refusal(backup, "--yes", "--replace")
    assert told.startswith("Nothing was restored: ") and word in told
    assert "\n" not in told


def test_damage_is_found_even_when_the_checksum_agrees(backup, untouched):
    content = backup.read_bytes()
    with_checksum(backup, content[: len(content) // 2])
    assert "is damaged" in refusal(backup, "--yes", "--replace")


@pytest.mark.parametrize("content", [b"", b"-- a plain dump\n", b"PK\x03\x04"])
def test_what_is_no_backup_is_refused(tmp_path, untouched, content):
    file = with_checksum(tmp_path / "x", content)
    assert "is no backup of a database" in refusal(file, "--yes")


def test_a_backup_of_the_other_kind_of_database_is_refused(tmp_path, untouched):
    magic = b"PGDMP" if connection.vendor == "sqlite" else b"SQLite format 3\x00"
    told = refusal(with_checksum(tmp_path / "x", magic + b"rest"), "--yes")
    assert "sqlite" in told and "postgresql" in told


def test_a_backup_of_a_newer_release_is_refused(backup, untouched, monkeypatch):
    engine = backups.ENGINES[connection.vendor]
    recorded = engine.migrations_in(backup)
    assert ("agents", "0001_initial") in recorded and ("auth", "0001_initial") in recorded
    monkeypatch.setattr(engine, "migrations_in", lambda path: recorded | {("agents", "9999_later")})
    assert "agents.9999_later" in refusal(backup, "--yes", "--replace")


def test_a_locked_database_is_not_waited_for_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "SECONDS_BETWEEN_TRIES", 0)
    monkeypatch.setattr(sqlite, "TRIES", 3)
    with closing(sqlite3.connect(tmp_path / "x")) as busy, closing(sqlite3.connect(tmp_path / "y")) as copy:
        busy.execute("CREATE TABLE a (id)")
        busy.execute("BEGIN EXCLUSIVE")
        other = sqlite3.connect(tmp_path / "x", timeout=0)
        with closing(other), pytest.raises(sqlite3.OperationalError, match="stays locked"):
            sqlite._copy(other, copy)


def test_a_database_of_something_else_is_refused(tmp_path, untouched):
    file = tmp_path / "other"
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(file)) as other:
            other.execute("CREATE TABLE songs (title TEXT)")
    else:
        postgresql._run(connection, "pg_dump", "-Fc", "--table=companies_company", "--file", str(file))
    assert "something else" in refusal(with_checksum(file, file.read_bytes()), "--yes")


def test_a_database_that_is_not_empty_is_refused(backup, untouched):
    assert "not empty" in refusal(backup, "--yes")


@pytest.mark.parametrize("answer", ["", "n", "no", "y", "ja"])
def test_anything_but_yes_restores_nothing(backup, untouched, monkeypatch, answer):
    monkeypatch.setattr("builtins.input", lambda question: answer)
    assert "the answer was not yes" in refusal(backup, "--replace")


def test_without_a_terminal_it_does_not_guess(backup, untouched, monkeypatch):
    monkeypatch.setattr("sys.stdin", StringIO(""))
    assert "--yes" in refusal(backup, "--replace")


def test_yes_goes_on(backup, monkeypatch):
    asked, loaded = [], []
    engine = backups.ENGINES[connection.vendor]
    monkeypatch.setattr(engine, "set_aside", lambda *args: "a safe place")
    monkeypatch.setattr(engine, "load", lambda target, path: loaded.append(path))
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or " Yes ")
    out = StringIO()
    call_command("restore_database", str(backup), replace=True, stdout=out)
    assert "REPLACE" in asked[0] and str(backup) in asked[0]
    assert loaded == [backup]
    assert "kept in a safe place" in out.getvalue()


def test_a_restored_database_that_does_not_pass_is_no_success(backup, monkeypatch):
    engine = backups.ENGINES[connection.vendor]
    monkeypatch.setattr(engine, "set_aside", lambda *args: "a safe place")
    monkeypatch.setattr(engine, "load", lambda *args: None)
    monkeypatch.setattr(
        "common.maintenance.management.commands.restore_database.unguarded_tables",
        lambda: ["receipts_receipt"],
    )
    with pytest.raises(CommandError, match="did not pass: receipts_receipt"):
        run("restore_database", backup, "--yes", "--replace")


def test_a_backup_that_cannot_be_loaded_brings_the_old_content_back(backup, monkeypatch):
    order = []
    engine = backups.ENGINES[connection.vendor]
    monkeypatch.setattr(engine, "set_aside", lambda *args: order.append("aside") or "x")
    monkeypatch.setattr(engine, "put_back", lambda *args: order.append("back"))

    def fail(*args):
        order.append("load")
        raise backups.ApplicationError("SERVICE_UNAVAILABLE", "disk full")

    monkeypatch.setattr(engine, "load", fail)
    assert "disk full" in refusal(backup, "--yes", "--replace")
    assert order == ["aside", "load", "back"]


@on_postgresql
def test_the_old_content_goes_into_a_schema_of_its_own_and_back(acme):
    agent = make_agent(acme, "stays", rows=["经验"])
    kept = postgresql.set_aside(connection, NOW)
    assert kept == "schema before_restore_20260612_080000"
    assert is_empty()
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM before_restore_20260612_080000.agents_agent")
        assert cursor.fetchall() == [("stays",)]
    postgresql.put_back(connection, NOW)
    assert Agent.objects.get() == agent
    assert missing(connection) == []
    assert make_agent(acme, "and goes on").pk > agent.pk


@on_postgresql
def test_a_password_is_never_an_argument_and_a_missing_tool_is_named(monkeypatch):
    seen = {}

    def record(command, **options):
        seen.update(command=command, environment=options["env"])
        raise FileNotFoundError(command[0])

    monkeypatch.setattr(subprocess, "run", record)
    given = {
        "dbname": "d",
        "user": "u",
        "password": "hidden-word",
        "host": "h",
        "port": 5433,
        "sslmode": "require",
    }
    with pytest.raises(backups.ApplicationError, match="pg_dump was not found"):
        postgresql.dump(SimpleNamespace(get_connection_params=lambda: given), "file")
    assert "hidden-word" not in " ".join(seen["command"])
    assert seen["environment"]["PGPASSWORD"] == "hidden-word"
    assert seen["environment"]["PGSSLMODE"] == "require"


@pytest.fixture
def two_databases():
    """Two empty databases and a role, on the server of the suite; all gone afterwards."""
    given = connection.get_connection_params()
    access = {name: given[name] for name in ("user", "password", "host", "port") if given.get(name)}
    token = uuid.uuid4().hex[:10]
    names, role = [f"fieldbook_{token}_a", f"fieldbook_{token}_b"], f"fieldbook_{token}_app"

    def execute(database, *statements):
        with psycopg.connect(**access, dbname=database, autocommit=True) as link:
            return [link.execute(statement) for statement in statements]

    def quoted(statement, name):
        return sql.SQL(statement).format(sql.Identifier(name))

    execute("postgres", *(quoted("CREATE DATABASE {}", name) for name in names))
    execute("postgres", quoted("CREATE ROLE {}", role))
    yield (
        [
            SimpleNamespace(
                get_connection_params=lambda name=name: {**access, "dbname": name}, close=lambda: None
            )
            for name in names
        ],
        role,
        execute,
    )
    execute("postgres", *(quoted("DROP DATABASE {} WITH (FORCE)", name) for name in names))
    execute("postgres", quoted("DROP ROLE {}", role))


@on_postgresql
def test_grants_of_the_applications_role_come_back(two_databases, tmp_path):
    (old, new), role, execute = two_databases
    execute(
        old.get_connection_params()["dbname"],
        "CREATE TABLE things (id integer GENERATED BY DEFAULT AS IDENTITY, word text)",
        f"GRANT SELECT, INSERT ON things TO {role}",
        "INSERT INTO things (word) VALUES ('一'), ('two')",
    )
    postgresql.dump(old, tmp_path / "x")
    postgresql.load(new, tmp_path / "x")
    with psycopg.connect(**new.get_connection_params()) as link:
        rights = [f"has_table_privilege('{role}', 'things', '{right}')" for right in ("INSERT", "DELETE")]
        assert link.execute(f"SELECT {', '.join(rights)}").fetchone() == (True, False)
        assert link.execute("INSERT INTO things (word) VALUES ('三') RETURNING id").fetchone() == (3,)


@on_postgresql
def test_a_load_that_fails_half_way_leaves_nothing(two_databases, tmp_path):
    (old, new), _role, execute = two_databases
    first, second = (link.get_connection_params()["dbname"] for link in (old, new))
    execute(first, "CREATE TABLE a (id integer)", "CREATE TABLE b (id integer)")
    execute(second, "CREATE VIEW b AS SELECT 1 AS id")
    postgresql.dump(old, tmp_path / "x")
    with pytest.raises(backups.ApplicationError, match="pg_restore"):
        postgresql.load(new, tmp_path / "x")
    with psycopg.connect(**new.get_connection_params()) as link:
        assert link.execute("SELECT to_regclass('a')").fetchone() == (None,)

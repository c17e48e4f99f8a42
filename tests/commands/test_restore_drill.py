"""The restore drill: back up while somebody writes, restore into a fresh database, and work on there."""

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from tests.commands.drill import NUMBERS

#: A dozen processes, each of which starts the whole application.
pytestmark = pytest.mark.timeout(400)
ROOT = Path(__file__).resolve().parents[2]


class House:
    """A database of its own, of the kind that the suite runs on, and processes that use it."""

    def __init__(self, url):
        self.url = url
        self.environment = {
            **os.environ,
            "DATABASE_URL": url,
            "DJANGO_SETTINGS_MODULE": "config.settings.test",
            "PYTHONPATH": str(ROOT),
            "LANGUAGE_CODE": "en",
        }

    def start(self, *arguments, **options):
        command = [sys.executable, *map(str, arguments)]
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def manage(self, *arguments, code=0):
        """What the command printed, errors too; it must end with `code`."""
        process = self.start("manage.py", *arguments, stdin=subprocess.DEVNULL)
        out, err = process.communicate(timeout=180)
        assert process.returncode == code, out + err
        return out + err

    def drill(self, *arguments):
        process = self.start("-m", "tests.commands.drill", *arguments)
        out, err = process.communicate(timeout=180)
        assert process.returncode == 0, out + err
        return json.loads(out)


@pytest.fixture(scope="module")
def new_house(tmp_path_factory):
    """`new_house()` -> a `House` whose database is empty; removed afterwards."""
    folder, made = tmp_path_factory.mktemp("drill"), []

    def server():
        given = connection.settings_dict
        host, port = given["HOST"] or "127.0.0.1", given["PORT"] or 5432
        secret = f":{given['PASSWORD']}" if given["PASSWORD"] else ""
        return f"postgres://{given['USER']}{secret}@{host}:{port}"

    def admin(statement, name):
        with psycopg.connect(f"{server()}/postgres", autocommit=True) as database:
            database.execute(sql.SQL(statement).format(sql.Identifier(name)))

    def new():
        name = f"fieldbook_drill_{uuid.uuid4().hex[:12]}"
        if connection.vendor == "sqlite":
            return House(f"sqlite:///{folder / name}.sqlite3")
        admin("CREATE DATABASE {}", name)
        made.append(name)
        return House(f"{server()}/{name}")

    yield new
    for name in made:
        admin("DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture(scope="module")
def drill(new_house, tmp_path_factory):
    """One drill for all tests of this file: what was there, and the house it was restored into."""
    old, new = new_house(), new_house()
    file = tmp_path_factory.mktemp("backup") / "今天 's backup"
    before = old.drill("seed")
    writer = old.start("-m", "tests.commands.drill", "write")
    assert writer.stdout.readline() == "1\n"
    old.manage("backup_database", file)
    writer.terminate()
    written = writer.communicate(timeout=30)[0].splitlines()
    printed = new.manage("restore_database", file, "--yes")
    return {
        "file": file,
        "written": len(written),
        "before": before,
        "new": new,
        "printed": printed,
        "after": new.drill("state", before["key"]),
    }


def test_writers_went_on_during_the_backup(drill):
    assert drill["written"] >= 3


def test_one_moment_was_copied_and_not_half_a_change(drill):
    version, versions, receipts = drill["after"]["busy"]
    assert version == versions == receipts
    assert version >= drill["before"]["busy"][0]


@pytest.mark.parametrize("what", ["rows", "versions", "agents"])
def test_everything_that_nobody_wrote_to_is_equal(drill, what):
    assert drill["after"][what] == drill["before"][what]


def test_every_prompt_is_byte_for_byte_equal(drill):
    assert len(drill["before"]["prompts"]) == 5
    assert {status for status, _text in drill["before"]["prompts"].values()} == {200}
    assert drill["after"]["prompts"] == drill["before"]["prompts"]


def test_everyone_can_sign_in(drill):
    assert set(drill["after"]["everyone"].values()) == {True}


def test_the_restore_says_what_it_checked(drill):
    printed = drill["printed"]
    assert "whole" in printed
    assert "append-only tables without a guard: none" in printed
    assert "yunling: " in printed and "BROKEN" not in printed
    assert printed.strip().endswith("restored and checked")


def test_the_checks_and_the_chains_pass_in_the_new_house(drill):
    drill["new"].manage("check", "--database", "default", "--fail-level", "ERROR")
    assert "broken 0" in drill["new"].manage("verify_receipts")


def test_numbers_and_rows_go_on_where_they_were_and_guards_hold(drill):
    assert drill["new"].drill("go_on") == {
        "number": NUMBERS + 1,
        "agent": 1,
        "refused": ["IntegrityError", "IntegrityError"],
    }


def test_a_database_that_is_not_empty_is_kept_and_replaced_only_on_request(drill):
    refusal = drill["new"].manage("restore_database", drill["file"], "--yes", code=1)
    assert "not empty" in refusal and "--replace" in refusal
    printed = drill["new"].manage("restore_database", drill["file"], "--yes", "--replace")
    assert "the former content is kept in" in printed
    assert printed.strip().endswith("restored and checked")

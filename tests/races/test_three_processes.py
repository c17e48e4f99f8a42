"""Web, worker and a command as three processes write to one SQLite file: nobody meets a locked database."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from experiences.models import Experience
from tests.factories import make_agent, make_company, make_key
from tests.races.threads import RACE, in_threads
from tests.sizes import sized

pytestmark = RACE

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("writer_process.py")
EACH = sized(20, 200)


@pytest.fixture(autouse=True)
def _only_once():
    if connection.vendor != "sqlite":
        pytest.skip("about SQLite files; the suite on SQLite runs it")


def start(role, agent, key):
    environment = {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{connection.settings_dict['NAME']}",
        "DJANGO_SETTINGS_MODULE": "config.settings.test",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, str(SCRIPT), role, str(EACH), str(agent.pk), key]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def test_three_processes_never_meet_a_locked_database():
    acme = make_company("acme")
    agent = make_agent(acme)
    key = make_key(acme, scopes=["agents:write"])
    connection.close()
    writers = {role: start(role, agent, key) for role in ("web", "worker", "command")}
    told = {role: process.communicate(timeout=sized(240, 1800))[0] for role, process in writers.items()}
    assert told == dict.fromkeys(writers, "locked 0 failed 0\n")
    orders = list(Experience.objects.of_agent(agent.pk).values_list("order", flat=True))
    assert orders == list(range(2 * EACH))
    assert Receipt.objects.filter(company=acme).count() == 2 + 3 * EACH
    assert verify_chain(acme).intact


def test_with_the_default_settings_of_sqlite_they_would(tmp_path):
    """Control: a transaction that reads before it writes, begun as SQLite begins it by itself."""
    file = tmp_path / "default.sqlite3"
    with sqlite3.connect(file) as first:
        first.execute("PRAGMA journal_mode=WAL")
        first.execute("CREATE TABLE counter (number INTEGER)")
        first.execute("INSERT INTO counter VALUES (0)")

    def write(number):
        own, locked = sqlite3.connect(file, timeout=5, isolation_level=None), 0
        for _ in range(50):
            try:
                own.execute("BEGIN")
                (count,) = own.execute("SELECT number FROM counter").fetchone()
                own.execute("UPDATE counter SET number = ?", [count + 1])
                own.execute("COMMIT")
            except sqlite3.OperationalError as error:
                assert "locked" in str(error)
                locked += 1
                own.execute("ROLLBACK")
        own.close()
        return locked

    assert sum(in_threads(8, write)) > 0

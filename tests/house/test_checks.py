"""Settings that do not fit together are refused with a hint, and the shipped production profile is clean."""

import os
import secrets
import subprocess
import sys

import pytest
from django.core.checks import Error, run_checks
from django.core.management import CommandError, call_command
from django.db import connection
from psycopg import sql

from config import checks
from config.roles import ROLES
from config.settings.base import SQLITE_OPTIONS
from tests.house.scripts import ROOT

POSTGRES = "postgres://app:secret@db.example:5432/fieldbook"
#: What docs/operations.md asks for.
PRODUCTION = {
    "DJANGO_SETTINGS_MODULE": "config.settings.production",
    "SECRET_KEY": secrets.token_hex(32),
    "API_KEY_PEPPER": secrets.token_hex(32),
    "ALLOWED_HOSTS": "fieldbook.example",
    "DATABASE_URL": POSTGRES,
    "BROKER_URL": "redis://redis.example:6379/0",
    "CACHE_URL": "redis://redis.example:6379/1",
}


def found(**options):
    """Ids of our own messages; each must come with a hint."""
    messages = [message for message in run_checks(**options) if message.id.startswith("fieldbook.")]
    assert all(message.hint for message in messages)
    return sorted(message.id for message in messages)


@pytest.fixture
def sqlite(settings, monkeypatch):
    """The settings of an SQLite database, as far as checks read them; the connection stays what it is."""
    database = settings.DATABASES["default"]
    monkeypatch.setitem(database, "ENGINE", "django.db.backends.sqlite3")
    monkeypatch.setitem(database, "OPTIONS", dict(SQLITE_OPTIONS))
    return database


@pytest.fixture
def production(settings, monkeypatch):
    """The running settings with everything that the checks ask of production."""
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.postgresql")
    settings.PROFILE = "production"
    settings.CELERY_TASK_ALWAYS_EAGER = False
    settings.BROKER_URL = PRODUCTION["BROKER_URL"]
    settings.CACHE_URL = PRODUCTION["CACHE_URL"]
    settings.ALLOWED_HOSTS = ["fieldbook.example"]
    return settings


def test_the_test_settings_and_the_production_settings_are_fine(production):
    assert found() == []


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("BROKER_URL", "filesystem://", "fieldbook.E002"),
        ("BROKER_URL", "memory://", "fieldbook.E002"),
        ("DEBUG", True, "fieldbook.E003"),
        ("CELERY_TASK_ALWAYS_EAGER", True, "fieldbook.E006"),
        ("CACHE_URL", "", "fieldbook.W008"),
        ("ALLOWED_HOSTS", ["fieldbook.example", "*"], "fieldbook.E011"),
    ],
)
def test_what_does_not_belong_into_production_is_found(production, name, value, expected):
    setattr(production, name, value)
    assert found() == [expected]


def test_sqlite_in_production_serves_one_host_only(production, sqlite):
    assert found() == ["fieldbook.W004"]


@pytest.mark.parametrize(("processes", "expected"), [("1", []), ("2", ["fieldbook.E005"])])
def test_sqlite_allows_one_web_process(sqlite, monkeypatch, processes, expected):
    monkeypatch.setenv("WEB_CONCURRENCY", processes)
    assert found() == expected


@pytest.mark.parametrize("profile", ["local", "base", "production"])
def test_eager_tasks_are_for_tests_only(settings, profile):
    settings.PROFILE = profile
    assert "fieldbook.E006" in found()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"transaction_mode": "DEFERRED"}, "transaction_mode=IMMEDIATE"),
        ({"timeout": 5}, "timeout=20"),
        ({"init_command": "PRAGMA recursive_triggers=ON;"}, "journal_mode=WAL"),
        ({"init_command": "PRAGMA journal_mode=WAL;"}, "recursive_triggers=ON"),
    ],
)
def test_each_option_of_sqlite_is_missed(sqlite, change, word):
    assert list(checks.sqlite_options(None)) == []
    sqlite["OPTIONS"] |= change
    (message,) = checks.sqlite_options(None)
    assert isinstance(message, Error) and word in message.msg


def test_options_thrown_away_are_missed_altogether(sqlite):
    sqlite["OPTIONS"] = {}
    (message,) = checks.sqlite_options(None)
    assert "journal_mode=WAL, recursive_triggers=ON" in message.msg


@pytest.mark.parametrize(("pepper", "expected"), [("a", ["fieldbook.W007"]), ("b", [])])
def test_one_secret_for_two_purposes_is_found(settings, pepper, expected):
    settings.SECRET_KEY, settings.API_KEY_PEPPER = "a", pepper
    assert found() == expected


def test_the_known_secret_of_the_embedded_profile_is_no_news(settings):
    settings.SECRET_KEY = settings.API_KEY_PEPPER = settings.DEFAULT_SECRET_KEY
    assert found() == []


def test_a_permission_that_no_model_has_is_found(settings):
    settings.ROLE_PERMISSIONS = {"Viewer": [*ROLES["Viewer"], "agents.veiw_agent", "nothing.at_all"]}
    (message,) = checks.role_permissions(None)
    assert message.id == "fieldbook.E010"
    assert "Viewer" in message.msg and "agents.veiw_agent, nothing.at_all" in message.msg


@pytest.mark.django_db
def test_the_permission_names_are_those_that_migrate_makes():
    from django.contrib.auth.models import Permission

    stored = Permission.objects.values_list("content_type__app_label", "codename")
    assert {f"{app}.{codename}" for app, codename in stored} == set(checks.permission_names())


@pytest.mark.django_db
def test_a_table_that_lost_its_guard_fails_the_check_of_the_database():
    assert found(databases=["default"]) == []
    call_command("check", databases=["default"])
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("ALTER TABLE receipts_receipt DISABLE TRIGGER receipts_receipt_no_change")
        else:
            cursor.execute('DROP TRIGGER "receipts_receipt_no_update"')
    (message,) = checks.append_only_guards(None, databases=["default"])
    assert message.id == "fieldbook.E009" and "receipts_receipt" in message.msg
    with pytest.raises(CommandError, match=r"fieldbook\.E009"):
        call_command("check", databases=["default"])


def test_without_a_database_named_none_is_asked():
    assert list(checks.append_only_guards(None)) == []
    assert list(checks.database_role(None)) == []


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "postgresql", reason="roles of PostgreSQL")
def test_a_role_that_owns_the_tables_is_warned_of_and_an_ordinary_one_is_not():
    assert [message.id for message in checks.database_role(None, databases=["default"])] == ["fieldbook.W012"]
    role = sql.Identifier(f"fieldbook_{secrets.token_hex(5)}_app").as_string()
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {role}")
        cursor.execute(f"SET LOCAL ROLE {role}")
    assert list(checks.database_role(None, databases=["default"])) == []


def manage(*arguments, **environment):
    """A process with exactly the settings named; nothing of the test run's own."""
    names = set(PRODUCTION) | {"CELERY_TASK_ALWAYS_EAGER", "DEBUG", "WEB_CONCURRENCY", "TEST_DATABASE_URL"}
    base = {name: value for name, value in os.environ.items() if name not in names}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**base, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_shipped_production_settings_pass_every_check_of_a_deployment():
    done = manage("check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no issues" in done.stdout


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SECRET_KEY", None),
        ("SECRET_KEY", "insecure-default-for-one-machine-only"),
        ("SECRET_KEY", "short"),
        ("API_KEY_PEPPER", None),
        ("API_KEY_PEPPER", "x" * 39),
        ("ALLOWED_HOSTS", None),
    ],
)
def test_production_refuses_to_start_without_its_own_secrets(name, value):
    environment = {key: given for key, given in {**PRODUCTION, name: value}.items() if given is not None}
    done = manage("check", **environment)
    assert done.returncode != 0
    assert name in done.stderr


def test_a_wrong_combination_fails_the_deployment_check():
    wrong = {**PRODUCTION, "BROKER_URL": "filesystem://", "CACHE_URL": ""}
    done = manage("check", "--deploy", "--fail-level", "WARNING", **wrong)
    assert done.returncode == 1
    assert "fieldbook.E002" in done.stderr and "fieldbook.W008" in done.stderr

"""Shared fixtures: named persons and keys, companies, the shared data folder, and cleaning of append-only tables."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.cache import cache
from django.core.signals import request_finished, request_started
from django.db import connection
from django.db.backends.base.operations import BaseDatabaseOperations
from django.test import Client
from django.utils import translation
from hypothesis import settings as hypothesis_settings
from playwright.sync_api import Browser, sync_playwright

from common.companies.models import Company
from tests import factories

hypothesis_settings.register_profile("commit", max_examples=200, deadline=None, derandomize=False)
hypothesis_settings.register_profile("nightly", max_examples=5000, deadline=None)
hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "commit"))


def _uses_database(item: pytest.Item) -> bool:
    names = {"db", "transactional_db", "live_server"}
    return item.get_closest_marker("django_db") is not None or bool(
        names & set(getattr(item, "fixturenames", ()))
    )


@contextmanager
def append_only_lifted() -> Iterator[None]:
    """Let test cleaning empty append-only tables; the application itself has no such switch."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET session_replication_role = replica")
            try:
                yield
            finally:
                cursor.execute("SET session_replication_role = DEFAULT")
            return
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = cursor.fetchall()
        for name, _sql in triggers:
            cursor.execute(f'DROP TRIGGER "{name}"')
        try:
            yield
        finally:
            for _name, sql in triggers:
                cursor.execute(sql)


_flush = (
    type(connection.ops).execute_sql_flush if connection.vendor else BaseDatabaseOperations.execute_sql_flush
)


def _flush_append_only(self: BaseDatabaseOperations, sql_list: list[str]) -> None:
    with append_only_lifted():
        _flush(self, sql_list)


type(connection.ops).execute_sql_flush = _flush_append_only


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that empty the tables at their end come last, in whatever order the rest is shuffled: what the
    migrations put there is then gone for all others.

    With FIELDBOOK_TESTS_OF_SECOND_DATABASE only tests are kept that a database can make a difference to.
    """
    if os.environ.get("FIELDBOOK_TESTS_OF_SECOND_DATABASE"):
        config.hook.pytest_deselected(items=[item for item in items if not _differs_by_database(item)])
        items[:] = [item for item in items if _differs_by_database(item)]
    items.sort(key=_empties_tables)


def _differs_by_database(item: pytest.Item) -> bool:
    """What uses no database says the same beside any. Forms, buttons and texts of a page do too: of the pages, only
    the lists (searching, sorting, counting) and the walk through all of them run on the second database.
    """
    name = item.path.name
    is_of_pages = item.path.parent.name == "admin" or name.startswith(("test_admin_", "test_queue_"))
    has_lists = name.endswith("_list.py") or name == "test_admin_pages.py"
    return _uses_database(item) and (has_lists or not is_of_pages)


def _empties_tables(item: pytest.Item) -> int:
    """0: a test that leaves the tables as they were; 1: empties them and brings back what stood there first;
    2: empties them for good, which 1 could not live with.
    """
    marker = item.get_closest_marker("django_db")
    fixtures = getattr(item, "fixturenames", ())
    if marker is not None and marker.kwargs.get("serialized_rollback"):
        return 1
    empties = marker is not None and marker.kwargs.get("transaction")
    return 2 if empties or {"transactional_db", "live_server"} & set(fixtures) else 0


@pytest.fixture(autouse=True)
def _fresh_cache() -> Iterator[None]:
    cache.clear()
    yield


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    """Messages of code that no request asks for are English; a request says its own language."""
    with translation.override("en"):
        yield


@pytest.fixture
def shared_data() -> Path:
    """The folder of real files, named by FIELDBOOK_SHARED_DATA."""
    folder = os.environ.get("FIELDBOOK_SHARED_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("FIELDBOOK_SHARED_DATA does not name a folder")
    return Path(folder)


@pytest.fixture
def global_company(db) -> Company:
    return Company.objects.get(slug="_global")


@pytest.fixture
def acme(db) -> Company:
    return factories.make_company("acme")


@pytest.fixture
def rival(db) -> Company:
    return factories.make_company("rival")


@pytest.fixture
def read_key(acme) -> str:
    return factories.make_key(acme, scopes=["read"])


@pytest.fixture
def write_key(acme) -> str:
    return factories.make_key(acme, scopes=["read", "report", "agents:write"])


@pytest.fixture
def rival_key(rival) -> str:
    """A key of another company, with every scope."""
    return factories.make_key(rival, scopes=["read", "report", "agents:write", "proposals:decide"])


@pytest.fixture
def reader(read_key) -> factories.ApiClient:
    return factories.ApiClient(read_key)


@pytest.fixture
def writer(write_key) -> factories.ApiClient:
    return factories.ApiClient(write_key)


@pytest.fixture
def rival_writer(rival_key) -> factories.ApiClient:
    return factories.ApiClient(rival_key)


@pytest.fixture
def viewer(acme):
    return factories.make_person("viewer", role="Viewer", companies=[acme])


@pytest.fixture
def operator(acme):
    """An Editor who is a member of acme."""
    return factories.make_person("operator", role="Editor", companies=[acme])


@pytest.fixture
def approver(acme):
    return factories.make_person("approver", role="Approver", companies=[acme])


@pytest.fixture
def administrator(acme):
    return factories.make_person("administrator", role="Administrator", companies=[acme])


@pytest.fixture
def stranger(rival):
    """An Administrator of another company."""
    return factories.make_person("stranger", role="Administrator", companies=[rival])


@pytest.fixture
def chief(db):
    """A superuser."""
    return factories.make_person("chief", superuser=True)


@pytest.fixture
def signed_in():
    """`signed_in(person)` -> a Django test client with that person's session, in English."""

    def sign_in(person, language: str = "en") -> Client:
        client = Client(headers={"accept-language": language})
        client.force_login(person)
        return client

    return sign_in


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The one Chromium of a run: two of its drivers cannot live in one process."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not path:
        pytest.skip("no Chromium found; CHROMIUM may name one")
    # Playwright runs an event loop in this thread, which Django takes for an async view.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def answered_in_full(live_server) -> Iterator[None]:
    """At its end no request to the live server is still being answered: the tables may be emptied."""
    open_requests, lock = set(), threading.Condition()

    def begun(**_signal: object) -> None:
        with lock:
            open_requests.add(threading.get_ident())

    def ended(**_signal: object) -> None:
        with lock:
            open_requests.discard(threading.get_ident())
            lock.notify_all()

    request_started.connect(begun)
    request_finished.connect(ended)
    yield
    with lock:
        answered = lock.wait_for(lambda: not open_requests, timeout=30)
    request_started.disconnect(begun)
    request_finished.disconnect(ended)
    assert answered, "a request to the live server was never answered in full"

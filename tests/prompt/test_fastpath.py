"""The fast path answers exactly what the view answers, and notices every change on the very next fetch."""

import io
import sqlite3
from datetime import timedelta
from unittest import mock

import psycopg
import pytest
import time_machine
from django.core.handlers.wsgi import WSGIHandler
from django.db import OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.services.agents import delete_agent, switch_agents, update_agent
from agents.services.documents import put_document
from agents.services.rows import add_row, delete_row
from common.companies.models import ApiKey, Company
from common.companies.services import revoke_api_key
from prompt import fastpath
from prompt.cache import Answer, AnswerCache, AnswerKey, answers
from prompt.fastpath import PromptFastPath
from tests.factories import SYSTEM, an_edit, make_agent, make_key

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_cache():
    answers.clear()
    yield
    answers.clear()


@pytest.fixture(autouse=True)
def _kept_connection(monkeypatch):
    """A test's transaction must outlive a request, so nobody closes the connection at its end."""
    monkeypatch.setattr(BaseDatabaseWrapper, "close_if_unusable_or_obsolete", lambda self: None)


class Server:
    """Django behind the fast path; `asked_django` counts what went through."""

    def __init__(self):
        self.django = WSGIHandler()
        self.asked_django = 0
        self.fast = PromptFastPath(self._count)

    def _count(self, environ, start_response):
        self.asked_django += 1
        return self.django(environ, start_response)

    def call(self, application, path, key, **extra):
        environ = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": path,
            "QUERY_STRING": "",
            "SCRIPT_NAME": "",
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "8000",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "HTTP_HOST": "127.0.0.1:8000",
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(b""),
            "wsgi.errors": io.StringIO(),
            "wsgi.version": (1, 0),
            "wsgi.multithread": True,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
            **({"HTTP_AUTHORIZATION": f"Bearer {key}"} if key else {}),
            **{name: value for name, value in extra.items() if value is not None},
        }
        seen = []
        response = application(environ, lambda status, headers, *rest: seen.append((status, headers)))
        body = b"".join(response)
        if hasattr(response, "close"):
            response.close()
        return Reply(*seen[0], body)

    def fetch(self, agent, key, **extra):
        return self.call(self.fast, f"/api/v1/agents/{agent.pk}/prompt", key, **extra)

    def view(self, agent, key, **extra):
        return self.call(self.django, f"/api/v1/agents/{agent.pk}/prompt", key, **extra)


class Reply:
    def __init__(self, status, headers, body):
        self.code, self.body = int(status[:3]), body
        self.headers = dict(headers)
        self.request_id = self.headers.pop("X-Request-ID", "")
        self.whole = (status, sorted(self.headers.items()), body)


@pytest.fixture
def server():
    return Server()


@pytest.fixture
def agent(acme):
    return make_agent(acme, rows=["先查日志"], documents=[("principles.md", "不删数据")])


def stored(key):
    return ApiKey.objects.get(prefix=key.split("_")[1])


REQUESTS = {
    "json": {},
    "any": {"HTTP_ACCEPT": "*/*"},
    "named json": {"HTTP_ACCEPT": "application/json"},
    "text": {"HTTP_ACCEPT": "text/plain"},
    "english browser": {"HTTP_ACCEPT_LANGUAGE": "en"},
    "https": {"wsgi.url_scheme": "https"},
    "other host": {"HTTP_HOST": "localhost"},
    "unknown etag": {"HTTP_IF_NONE_MATCH": '"x"'},
    "any etag": {"HTTP_IF_NONE_MATCH": "*"},
    "any etag, text": {"HTTP_IF_NONE_MATCH": "*", "HTTP_ACCEPT": "text/plain"},
}


@pytest.mark.parametrize("extra", REQUESTS.values(), ids=REQUESTS.keys())
@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_repeated_fetch_is_answered_in_front_of_django_exactly_as_by_the_view(
    server, acme, read_key, extra, language
):
    agent = make_agent(acme, rows=["先查日志"], language=language)
    first = server.fetch(agent, read_key, **extra)
    second = server.fetch(agent, read_key, **extra)
    assert server.asked_django == 1
    assert second.whole == first.whole == server.view(agent, read_key, **extra).whole
    assert second.code == (304 if extra.get("HTTP_IF_NONE_MATCH") == "*" else 200)
    assert second.request_id and second.request_id != first.request_id


def test_the_answer_of_one_kind_is_never_given_for_another(server, agent, read_key):
    for _round in range(2):
        for extra in REQUESTS.values():
            assert server.fetch(agent, read_key, **extra).whole == server.view(agent, read_key, **extra).whole


def test_a_known_etag_is_answered_with_304_also_after_other_fetches(server, agent, read_key):
    tag = server.fetch(agent, read_key).headers["ETag"]
    for sent in (tag, f"W/{tag}", f'"a", {tag}'):
        for _round in range(2):
            answer = server.fetch(agent, read_key, HTTP_IF_NONE_MATCH=sent)
            assert (answer.code, answer.body, answer.headers["ETag"]) == (304, b"", tag)
    assert server.asked_django == 2


def test_a_fast_fetch_is_one_query_past_djangos_cursors(server, agent, read_key):
    server.fetch(agent, read_key)
    with (
        CaptureQueriesContext(connection) as queries,
        mock.patch.object(fastpath, "_row", wraps=fastpath._row) as row,
    ):
        server.fetch(agent, read_key)
    assert (row.call_count, len(queries)) == (1, 0)


CHANGES = {
    "revoked": lambda key, agent: revoke_api_key(key_id=key.pk, actor=SYSTEM, now=timezone.now()),
    "expired": lambda key, agent: ApiKey.objects.filter(pk=key.pk).update(expires_at=timezone.now()),
    "without scope": lambda key, agent: ApiKey.objects.filter(pk=key.pk).update(scopes=["report"]),
    "bound to another agent": lambda key, agent: ApiKey.objects.filter(pk=key.pk).update(
        agent=make_agent(agent.company)
    ),
    "company disabled": lambda key, agent: Company.objects.filter(pk=key.company_id).update(enabled=False),
    "company renamed": lambda key, agent: Company.objects.filter(pk=key.company_id).update(slug="acme-2"),
    "agent moved away": lambda key, agent: (
        type(agent)
        .objects.filter(pk=agent.pk)
        .update(company=Company.objects.create(slug="elsewhere", name="E"))
    ),
    "agent disabled": lambda key, agent: switch_agents(agent_ids=[agent.pk], enabled=False, edit=an_edit()),
    "agent deleted": lambda key, agent: delete_agent(agent_id=agent.pk, edit=an_edit()),
    "role changed": lambda key, agent: update_agent(
        agent_id=agent.pk, fields={"system_prompt": "新角色"}, edit=an_edit()
    ),
    "name changed": lambda key, agent: update_agent(
        agent_id=agent.pk, fields={"name": "新名字"}, edit=an_edit()
    ),
    "language changed": lambda key, agent: update_agent(
        agent_id=agent.pk, fields={"language": "en"}, edit=an_edit()
    ),
    "row added": lambda key, agent: add_row(agent_id=agent.pk, content="新的", edit=an_edit()),
    "row deleted": lambda key, agent: delete_row(
        agent_id=agent.pk, row_id=agent.experiences.get().pk, edit=an_edit()
    ),
    "document changed": lambda key, agent: put_document(
        agent=agent,
        company=agent.company,
        path="principles.md",
        text="新准则",
        edit=an_edit(),
        request="t",
        by_hand=True,
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize("extra", [{}, {"HTTP_ACCEPT": "text/plain"}], ids=["json", "text"])
def test_a_change_is_seen_on_the_very_next_fetch(server, agent, read_key, change, extra):
    before = [server.fetch(agent, read_key, **extra) for _round in range(2)][1]
    assert server.asked_django == 1
    change(stored(read_key), agent)
    for _round in range(2):
        after = server.fetch(agent, read_key, **extra)
        assert after.whole == server.view(agent, read_key, **extra).whole
        assert after.body != before.body


class WithoutVersion(AnswerCache):
    """The guard switched off: the key no longer says at which version the agent is."""

    def get(self, key, variant):
        return super().get(key._replace(version=0, body_sha256=""), variant)

    def put(self, key, *rest):
        super().put(key._replace(version=0, body_sha256=""), *rest)


def test_without_the_version_in_the_key_a_change_is_missed(server, agent, read_key):
    with mock.patch.object(fastpath, "answers", WithoutVersion()):
        server.fetch(agent, read_key)
        add_row(agent_id=agent.pk, content="新的", edit=an_edit())
        assert server.fetch(agent, read_key).body != server.view(agent, read_key).body


def test_the_text_changes_with_the_local_day(server, agent, acme):
    with time_machine.travel("2026-06-12T15:59:00Z", tick=False) as clock:
        key = make_key(acme, scopes=["read"])
        for _round in range(2):
            assert "2026-06-12 星期五" in server.fetch(agent, key).body.decode()
        clock.shift(timedelta(minutes=1))
        for _round in range(2):
            assert "2026-06-13 星期六" in server.fetch(agent, key).body.decode()
    assert server.asked_django == 2


def test_a_restored_body_under_an_old_number_is_not_mistaken_for_the_old_one(server, agent, read_key):
    server.fetch(agent, read_key)
    key = next(iter(answers._entries))[0]
    answers.put(
        key._replace(body_sha256="0" * 64), ("other",), '"x"', 200, Answer("200 OK", (), b"another body")
    )
    assert "another body" not in server.fetch(agent, read_key).body.decode()


@pytest.mark.parametrize("key", ["", "fb_x", "fb_aaaaaaaa_" + "x" * 43, "not a key"])
def test_a_wrong_key_is_refused_after_a_right_one_as_before(server, agent, read_key, key):
    server.fetch(agent, read_key)
    assert server.fetch(agent, key).code == 401
    wrong = read_key[:-1] + ("A" if read_key[-1] != "A" else "B")
    assert server.fetch(agent, wrong).code == 401


def test_a_foreign_key_finds_nothing_and_a_shared_agent_shows_each_company_itself(
    server, agent, read_key, rival_key, global_company
):
    shared = make_agent(global_company, name="共享", rows=["大家的"])
    for _round in range(2):
        assert server.fetch(agent, read_key).code == 200
        assert server.fetch(agent, rival_key).code == 404
        assert "公司: acme" in server.fetch(shared, read_key).body.decode()
        assert "公司: rival" in server.fetch(shared, rival_key).body.decode()


def test_a_retired_pepper_still_verifies(server, agent, read_key, settings):
    server.fetch(agent, read_key)
    settings.API_KEY_PEPPER_FALLBACKS = [settings.API_KEY_PEPPER]
    settings.API_KEY_PEPPER = "a new pepper"
    assert server.fetch(agent, read_key).code == 200
    settings.API_KEY_PEPPER_FALLBACKS = []
    assert server.fetch(agent, read_key).code == 401


FOR_DJANGO = {
    "a query": {"QUERY_STRING": "user_id=bob"},
    "another method": {"REQUEST_METHOD": "HEAD"},
    "a cookie": {"HTTP_COOKIE": "sessionid=x"},
    "a body": {"CONTENT_LENGTH": "2", "wsgi.input": io.BytesIO(b"{}")},
    "another media type": {"HTTP_ACCEPT": "application/vnd.result+json"},
    "a list of media types": {"HTTP_ACCEPT": "text/html, text/plain"},
    "a mount point": {"SCRIPT_NAME": "/x"},
    "an unknown host": {"HTTP_HOST": "evil.example"},
}


@pytest.mark.parametrize("extra", FOR_DJANGO.values(), ids=FOR_DJANGO.keys())
def test_anything_else_is_left_to_django(server, agent, read_key, extra):
    server.fetch(agent, read_key)
    for number in range(2):
        answer = server.fetch(agent, read_key, **extra)
        assert answer.whole == server.view(agent, read_key, **extra).whole
        assert server.asked_django == number + 2


def test_a_rate_limit_sends_everything_through_django(server, agent, read_key, settings):
    server.fetch(agent, read_key)
    settings.API_RATE_LIMIT_PER_MINUTE = 100
    server.fetch(agent, read_key)
    assert server.asked_django == 2


def test_other_paths_pass_through_untouched(server, agent, read_key):
    for path in (f"/api/v1/agents/{agent.pk}", f"/api/v1/agents/{agent.pk}/prompt/", "/healthz"):
        assert (
            server.call(server.fast, path, read_key).code == server.call(server.django, path, read_key).code
        )


def test_errors_are_never_kept(server, agent, read_key):
    switch_agents(agent_ids=[agent.pk], enabled=False, edit=an_edit())
    server.fetch(agent, read_key)
    server.fetch(agent, "")
    assert len(answers) == 0


def test_a_prompt_with_warnings_is_not_kept(server, agent, read_key):
    with mock.patch("prompt.services.prompt_documents", side_effect=RuntimeError("gone")):
        assert "principles" in server.fetch(agent, read_key).body.decode()
    assert len(answers) == 0
    assert "不删数据" in server.fetch(agent, read_key).body.decode()


@pytest.mark.parametrize("error", [OperationalError, sqlite3.OperationalError, psycopg.OperationalError])
def test_a_failing_query_closes_the_connection_and_leaves_the_request_to_django(
    server, agent, read_key, monkeypatch, error
):
    server.fetch(agent, read_key)
    closed = mock.Mock()
    monkeypatch.setattr(BaseDatabaseWrapper, "close", closed)
    with mock.patch.object(fastpath, "_row", side_effect=error):
        answer = server.fetch(agent, read_key)
    assert (answer.code, server.asked_django, closed.call_count) == (200, 2, 1)


def test_the_use_of_a_key_is_noted_once_a_minute(server, agent, acme):
    with time_machine.travel("2026-06-12T06:00:00Z", tick=False) as clock:
        key = make_key(acme, scopes=["read"])
        server.fetch(agent, key)
        noted = stored(key).last_used_at
        clock.shift(timedelta(seconds=59))
        server.fetch(agent, key)
        assert stored(key).last_used_at == noted
        clock.shift(timedelta(seconds=1))
        server.fetch(agent, key)
        assert stored(key).last_used_at == noted + timedelta(minutes=1)
    assert server.asked_django == 1


def a_key(number):
    return AnswerKey(number, 1, "a" * 64, 1, "acme", "2026-06-12", "Asia/Shanghai", "text/plain")


def test_the_cache_forgets_the_least_recently_used_and_keeps_its_size():
    cache = AnswerCache(max_entries=3, max_bytes=800)
    for number in (1, 2, 3):
        cache.put(a_key(number), (), '"t"', 200, Answer("200 OK", (), b"x" * 10))
    assert cache.get(a_key(1), ()) is not None
    cache.put(a_key(4), (), '"t"', 200, Answer("200 OK", (), b"x" * 10))
    assert [number for number in (1, 2, 3, 4) if cache.get(a_key(number), ())] == [1, 3, 4]
    for number in range(20):
        cache.put(a_key(number), (), '"t"', 200, Answer("200 OK", (), b"x" * 100))
        cache.put(a_key(number), (), '"t"', 304, Answer("304 Not Modified", (), b""))
        assert sum(entry.size for entry in cache._entries.values()) == cache._bytes <= 800
    cache.put(a_key(99), (), '"t"', 200, Answer("200 OK", (), b"x" * 101))
    assert cache.get(a_key(99), ()) is None


def test_a_new_text_under_one_key_forgets_the_answers_of_the_old_one():
    cache = AnswerCache()
    cache.put(a_key(1), (), '"old"', 304, Answer("304 Not Modified", (), b""))
    cache.put(a_key(1), (), '"new"', 200, Answer("200 OK", (), b"x"))
    assert list(cache.get(a_key(1), ()).answers) == [200]

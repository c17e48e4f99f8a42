"""In front of Django: answers a repeated prompt fetch with one query and no framework.

Only a plain `GET /api/v1/agents/<id>/prompt` with a Bearer key is taken. The query checks the key and the agent
as the view does; whatever is not exactly in order, and every prompt not seen before, goes on to Django, whose
finished answer is then kept. Revocation and changes show at once, because both are read each time.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache
from random import getrandbits
from typing import Any, NamedTuple

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, connection, connections
from django.http import HttpResponse
from django.utils import timezone
from django_structlog.app_settings import app_settings as request_log_settings
from prometheus_client import Counter

from agents.models import Agent, AgentVersion
from common.choices import GLOBAL_SLUG
from common.companies.choices import Scope
from common.companies.models import ApiKey, Company
from common.companies.rules import parse_key_text, secret_matches
from common.companies.selectors import LAST_USED_RESOLUTION, peppers
from common.companies.services import note_key_use
from prompt.cache import KEY, Answer, AnswerKey, Variant, answers
from prompt.views.endpoint import is_known

_PATH = re.compile(r"/api/v1/agents/([0-9]{1,18})/prompt")
#: `Accept` as runtimes send it; anything else is negotiated by Django.
_MEDIA_TYPES = {
    None: "application/json",
    "*/*": "application/json",
    "application/json": "application/json",
    "text/plain": "text/plain",
}
_REQUEST_ID = "X-Request-ID"
#: Whatever a response header may depend on besides the answer itself: the host check, TLS redirect and HSTS.
_VARIANT = (
    "wsgi.url_scheme",
    "HTTP_HOST",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "SERVER_NAME",
    "SERVER_PORT",
)

_SQL = f"""
SELECT k.id, k.secret_hash, k.scopes, CASE WHEN k.last_used_at > %s THEN 0 ELSE 1 END,
       c.id, c.slug, a.version, v.sha256
FROM {ApiKey._meta.db_table} k
JOIN {Company._meta.db_table} c ON c.id = k.company_id
JOIN {Agent._meta.db_table} a ON a.id = %s AND (k.agent_id IS NULL OR k.agent_id = a.id)
JOIN {Company._meta.db_table} ac ON ac.id = a.company_id AND (ac.id = c.id OR ac.slug = %s)
JOIN {AgentVersion._meta.db_table} v ON v.agent_id = a.id AND v.number = a.version
WHERE k.prefix = %s AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > %s)
      AND c.enabled AND a.enabled AND a.deleted_at IS NULL
"""  # noqa: S608 - the names are those of our own tables
_SQLITE_SQL = _SQL.replace("%s", "?")

#: Django's own, and those of the drivers, which `_row` talks to directly.
_DATABASE_ERRORS = (Error, sqlite3.Error, psycopg.Error)

_COUNTER = Counter(
    "fieldbook_prompt_fast_answers_total", "Prompt fetches answered in front of Django.", ["status"]
)
_ANSWERED = {code: _COUNTER.labels(str(code)) for code in (200, 304)}

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]


class _Fetch(NamedTuple):
    """A request that the fast path may answer."""

    agent_id: int
    prefix: str
    secret: str
    media_type: str
    variant: Variant


class _Facts(NamedTuple):
    """What the database says about a fetch that is in order."""

    key_id: int
    is_use_due: bool
    answer_key: AnswerKey


class PromptFastPath:
    """WSGI: wraps Django's application."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.trusts_request_ids = request_log_settings.TRUST_UPSTREAM_REQUEST_ID

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        fetch = _recognised(environ)
        if fetch is None:
            return self.application(environ, start_response)
        now = timezone.now()
        try:
            facts = _facts(fetch, now)
            found = facts and _kept(fetch, facts.answer_key, environ.get("HTTP_IF_NONE_MATCH"))
            if facts and found:
                if facts.is_use_due:
                    note_key_use(key=ApiKey(pk=facts.key_id, last_used_at=None), now=now)
                given = environ.get("HTTP_X_REQUEST_ID") if self.trusts_request_ids else None
                return _send(*found, given, start_response)
        except _DATABASE_ERRORS:
            # With a new connection Django answers after all, or says what there is to say (503).
            connection.close()
        return self._through_django(fetch, environ, start_response)

    def _through_django(
        self, fetch: _Fetch, environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        seen: list[tuple[str, list[tuple[str, str]]]] = []

        def note(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            seen.append((status, headers))
            return start_response(status, headers, *rest)

        response: Any = self.application(environ, note)
        key, tag = environ.pop(KEY, (None, ""))
        if key is not None and len(seen) == 1:
            _keep(fetch, key, tag, *seen[0], response)
        return response


def _recognised(environ: Environ) -> _Fetch | None:
    """The request as a fetch, or None when it has anything that only Django can judge."""
    path = _PATH.fullmatch(environ.get("PATH_INFO", ""))
    scheme, _space, text = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    is_plain = (
        path is not None
        and environ.get("REQUEST_METHOD") == "GET"
        and not environ.get("SCRIPT_NAME")
        and not environ.get("QUERY_STRING")
        and not environ.get("HTTP_COOKIE")
        and environ.get("CONTENT_LENGTH") in (None, "", "0")
        and "HTTP_TRANSFER_ENCODING" not in environ
        and environ.get("HTTP_ACCEPT") in _MEDIA_TYPES
        and not settings.API_RATE_LIMIT_PER_MINUTE
    )
    key = parse_key_text(text) if is_plain and scheme == "Bearer" else None
    if path is None or key is None:
        return None
    variant = tuple(map(environ.get, _VARIANT))
    media_type = _MEDIA_TYPES[environ.get("HTTP_ACCEPT")]
    return _Fetch(int(path[1]), key.prefix, key.secret, media_type, variant)


def _facts(fetch: _Fetch, now: datetime) -> _Facts | None:
    """What the view would find out about key and agent, in one query; None when anything is amiss."""
    row = _row(fetch, now)
    if row is None:
        return None
    key_id, secret_hash, scopes, is_use_due, company_id, slug, version, sha256 = row
    if not _is_right(fetch.secret, secret_hash, tuple(peppers())):
        return None
    if not _may_read(scopes if isinstance(scopes, str) else json.dumps(scopes)):
        return None
    day = str(now.astimezone(timezone.get_default_timezone()).date())
    return _Facts(
        key_id,
        bool(is_use_due),
        AnswerKey(
            fetch.agent_id, version, sha256, company_id, slug, day, settings.TIME_ZONE, fetch.media_type
        ),
    )


@lru_cache(maxsize=1024)
def _is_right(secret: str, stored_hash: str, known_peppers: tuple[str, ...]) -> bool:
    """Remembered, because it never changes; whether the key still holds, the database is asked each time."""
    return secret_matches(secret, stored_hash, list(known_peppers))


@lru_cache(maxsize=64)
def _may_read(scopes: str) -> bool:
    return Scope.READ in json.loads(scopes)


def _row(fetch: _Fetch, now: datetime) -> Any:
    """The one query, on Django's connection but past its cursors, which cost more than the query.

    PostgreSQL plans it once a connection; without kept connections (a pooler between) that could not work.
    """
    database: Any = connections[DEFAULT_DB_ALIAS]
    database.close_if_unusable_or_obsolete()
    # The query itself is the health check.
    database.health_check_done = True
    database.ensure_connection()
    recently = now - LAST_USED_RESOLUTION
    if database.vendor == "sqlite":
        # Django keeps times there as text in UTC.
        parameters = [_as_text(recently), fetch.agent_id, GLOBAL_SLUG, fetch.prefix, _as_text(now)]
        return database.connection.execute(_SQLITE_SQL, parameters).fetchone()
    cursor = psycopg.Cursor(database.connection)
    is_kept = database.settings_dict["CONN_MAX_AGE"] != 0
    cursor.execute(_SQL, [recently, fetch.agent_id, GLOBAL_SLUG, fetch.prefix, now], prepare=is_kept)
    return cursor.fetchone()


def _as_text(utc: datetime) -> str:
    return str(utc.replace(tzinfo=None))


def _kept(fetch: _Fetch, key: AnswerKey, if_none_match: str | None) -> tuple[int, Answer] | None:
    entry = answers.get(key, fetch.variant)
    if entry is None:
        return None
    code = 304 if is_known(if_none_match, entry.etag) else 200
    answer = entry.answers.get(code)
    return (code, answer) if answer else None


def _send(code: int, answer: Answer, request_id: str | None, start_response: StartResponse) -> list[bytes]:
    # Nobody must be kept from guessing it, so it needs no system call.
    request_id = request_id or f"{getrandbits(128):032x}"
    start_response(answer.status, [*answer.headers, (_REQUEST_ID, request_id)])
    _ANSWERED[code].inc()
    return [answer.body]


def _keep(
    fetch: _Fetch, key: AnswerKey, tag: str, status: str, headers: list[tuple[str, str]], response: Any
) -> None:
    code = int(status[:3])
    names = {name.lower() for name, _value in headers}
    if code not in _ANSWERED or not isinstance(response, HttpResponse) or "set-cookie" in names:
        return
    kept = tuple((name, value) for name, value in headers if name != _REQUEST_ID)
    answers.put(key, fetch.variant, tag, code, Answer(status, kept, response.content))

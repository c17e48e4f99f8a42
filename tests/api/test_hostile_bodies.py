"""Hostile bodies at every endpoint that reads one: refused with 400 or 413, nothing stored, never an error of ours.

The expected status is written down here, so that it is the same on both databases.
"""

import gc
import io
import json
import time

import psutil
import pytest

from agents.models import Agent
from common.idempotency.models import IdempotentRequest
from common.receipts.models import Receipt
from experiences.models import Experience
from tests.api.over_wsgi import Chunks, over_wsgi
from tests.api.routes import all_routes
from tests.common.hostile_json import HOSTILE_BODIES, ODD_BODIES
from tests.factories import ApiClient, make_agent, make_key, make_person
from tests.house.api_world import ROUTES, STAFF, build
from tests.sizes import NIGHTLY, PATIENT

pytestmark = [pytest.mark.django_db, PATIENT]

SCOPES = ["read", "report", "agents:write", "proposals:decide"]
READERS = [
    (route, verb) for route in all_routes() for verb in route.verbs if verb in ("POST", "PUT", "PATCH")
]
MIB = 1024 * 1024


def counts():
    return [model.objects.count() for model in (Agent, Experience, Receipt, IdempotentRequest)]


@pytest.fixture
def caller(acme, db):
    """Calls a route as whoever may: a key with every scope, or a superuser for what no key may do."""
    key = ApiClient(make_key(acme, scopes=SCOPES))
    staff = ApiClient()
    staff.client.force_login(make_person("root", superuser=True))

    def call(route, verb, parts, body, **headers):
        url = route.url(**{name: value for name, value in parts.items() if f":{name}>" in route.path})
        rights = ROUTES.get(route.path, {}).get(verb)
        if rights and rights.scope == STAFF:
            return staff.request(verb, f"{url}?company=acme", body, **headers)
        return key.request(verb, url, body, **headers)

    return call


def test_a_hostile_body_is_refused_and_nothing_is_stored(acme, caller, subtests):
    parts, before = build(acme, "victim"), counts()
    # An empty body is none at all: where every field is optional that is a legal request.
    sent = [(name, body) for name, body in HOSTILE_BODIES if body]
    small = [(name, body) for name, body in sent if len(body) < 10_000]
    for number, (route, verb) in enumerate(READERS):
        with subtests.test(call=f"{verb} {route}"):
            # One reader serves all routes; the large bodies go to each of them in the nightly run.
            bodies = sent if NIGHTLY or number < 2 else small
            answers = {name: caller(route, verb, parts, body) for name, body in bodies}
            assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(
                answers, 400
            )
            assert {answer["Content-Type"] for answer in answers.values()} == {"application/problem+json"}
            assert {answer.json()["code"] for answer in answers.values()} == {"VALIDATION_ERROR"}
            assert counts() == before


def test_a_body_that_is_no_object_is_refused(acme, caller, subtests):
    parts, before = build(acme, "victim"), counts()
    for route, verb in READERS:
        with subtests.test(call=f"{verb} {route}"):
            answers = {name: caller(route, verb, parts, body) for name, body in ODD_BODIES}
            assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(
                answers, 400
            )
            assert counts() == before


def test_a_body_of_more_than_a_mebibyte_is_refused_whoever_sends_it(acme, caller, subtests):
    parts = build(acme, "victim")
    body = b'{"name":"' + b"x" * MIB + b'"}'
    for route, verb in READERS:
        with subtests.test(call=f"{verb} {route}"):
            told = caller(route, verb, parts, body).json()
            assert (told["status"], told["code"]) == (413, "BODY_TOO_LARGE")
            assert (told["limit"], told["actual"]) == (MIB, len(body))
            assert str(len(body) - MIB) in told["detail"]
    assert ApiClient().post("agents", body).status_code == 413


def test_a_body_of_exactly_a_mebibyte_is_read(acme):
    agent = make_agent(acme)
    client = ApiClient(make_key(acme, scopes=SCOPES))
    shell = b'{"description":"ok","x":"%s"}'
    body = shell % (b"x" * (MIB - len(shell) + 2))
    assert len(body) == MIB
    assert client.patch(f"agents/{agent.pk}", body).status_code == 200
    assert client.patch(f"agents/{agent.pk}", body + b" ").status_code == 413


# -- as a server hands requests over: WSGI, with and without a length ------------------------------------------------


CHUNKED = {"HTTP_TRANSFER_ENCODING": "chunked"}


def test_a_chunked_body_is_read_like_any_other(acme):
    key = make_key(acme, scopes=SCOPES)
    sent = json.dumps({"name": "chunked", "system_prompt": "x"}).encode()
    headers = {**CHUNKED, "HTTP_AUTHORIZATION": f"Bearer {key}"}
    status, _headers, body = over_wsgi("POST", "agents", io.BytesIO(sent), **headers)
    assert status == 201, body
    assert Agent.objects.get().name == "chunked"


@pytest.mark.parametrize("authorized", [True, False])
def test_a_chunked_body_is_read_no_further_than_the_limit(acme, authorized):
    key = make_key(acme, scopes=SCOPES)
    stream = Chunks(200 * MIB, b'{"name":"')
    headers = {**CHUNKED, **({"HTTP_AUTHORIZATION": f"Bearer {key}"} if authorized else {})}
    status, answered, body = over_wsgi("POST", "agents", stream, **headers)
    assert (status, answered["Content-Type"]) == (413, "application/problem+json")
    assert json.loads(body)["code"] == "BODY_TOO_LARGE"
    assert stream.served <= MIB + 1


@pytest.mark.parametrize("announced", ["10485760", "9" * 30, str(MIB + 1)])
def test_a_body_that_announces_too_much_is_refused_unread(acme, announced):
    stream = Chunks(10 * MIB)
    status, _headers, _body = over_wsgi("POST", "agents", stream, CONTENT_LENGTH=announced)
    assert (status, stream.served) == (413, 0)


@pytest.mark.parametrize("announced", ["-1", "abc", "1.5", "²", ""])
def test_a_length_that_is_no_number_is_no_body(acme, announced):
    key = make_key(acme, scopes=SCOPES)
    headers = {"CONTENT_LENGTH": announced, "HTTP_AUTHORIZATION": f"Bearer {key}"}
    status, _headers, _body = over_wsgi("POST", "agents", io.BytesIO(b"{}"), **headers)
    assert status == 400


@pytest.mark.parametrize("charset", ["bz2_codec", "rot13", "hex", "utf-16", "x" * 1000])
def test_a_charset_that_is_none_of_text_breaks_nothing(acme, charset):
    """Django reads the query string with it, before any middleware runs."""
    key = make_key(acme, scopes=SCOPES)
    headers = {"CONTENT_TYPE": f"application/json; charset={charset}", "HTTP_AUTHORIZATION": f"Bearer {key}"}
    status, _headers, _body = over_wsgi("GET", "agents?name=%E8%BF%90", io.BytesIO(b""), **headers)
    assert status == 200


def test_a_compressed_body_is_not_unpacked(acme):
    key = make_key(acme, scopes=SCOPES)
    headers = {"HTTP_CONTENT_ENCODING": "gzip", "CONTENT_LENGTH": "4", "HTTP_AUTHORIZATION": f"Bearer {key}"}
    status, _headers, _body = over_wsgi("POST", "agents", io.BytesIO(b"\x1f\x8b\x08\x00"), **headers)
    assert status == 400


HUGE = {
    "100,000 rows": b'{"name":"a","system_prompt":"x","experiences":[' + b"{}," * 99_999 + b"{}]}",
    "100,000 empty rows": b'{"name":"a","system_prompt":"x","experiences":[' + b"[]," * 99_999 + b"[]]}",
    "100,000 tags": b'{"name":"a","system_prompt":"x","tags":[' + b'"",' * 99_999 + b'""]}',
    "100,000 odd tags": b'{"name":"a","system_prompt":"x","tags":[' + b"{}," * 99_999 + b"{}]}",
    "60,000 keys": b'{"name":"","system_prompt":"x",'
    + b",".join(b'"k%d":1' % n for n in range(60_000))
    + b"}",
    "a long key above many values": b'{"' + b"k" * 500_000 + b'":[' + b"0," * 250_000 + b"0]}",
    "many humps": b'{"' + b"aB" * 500_000 + b'":1}',
}


@pytest.mark.parametrize("name", HUGE)
def test_many_items_are_refused_fast_and_in_few_words(acme, name):
    client = ApiClient(make_key(acme, scopes=SCOPES))
    began = time.process_time()
    answer = client.post("agents", HUGE[name])
    assert answer.status_code == 400, answer.content.decode()[:300]
    assert time.process_time() - began < 3
    assert len(answer.content) < 50_000
    assert not Agent.objects.exists()


def test_memory_does_not_grow_with_what_is_refused(acme):
    client = ApiClient(make_key(acme, scopes=SCOPES))

    def attack():
        for body in HUGE.values():
            client.post("agents", body)
        over_wsgi("POST", "agents", Chunks(10 * MIB), **CHUNKED)
        over_wsgi("POST", "agents", Chunks(10 * MIB), CONTENT_LENGTH=str(10 * MIB))

    attack()
    gc.collect()
    process = psutil.Process()
    before = process.memory_info().rss
    for _ in range(20 if NIGHTLY else 3):
        attack()
    gc.collect()
    assert process.memory_info().rss - before < 50 * MIB


@pytest.mark.parametrize(("name", "body"), HOSTILE_BODIES, ids=[name for name, _body in HOSTILE_BODIES])
def test_without_the_strict_reader_some_of_these_bodies_would_be_taken(name, body):
    """Control: what Python's own reader makes of them."""
    taken = {
        *(
            "NUL in a value",
            "NUL in a key",
            "NUL deep in a list",
            "lone high surrogate",
            "lone low surrogate",
        ),
        *(
            "surrogates the wrong way round",
            "lone surrogate in a key",
            "33 levels",
            "33 levels of both kinds",
        ),
        *("deep behind a quoted bracket", "key twice", "key twice in an inner object"),
        *("key twice in two spellings", "NaN", "Infinity", "minus Infinity", "overflowing float"),
        *("overflowing negative float", "whole number beyond 64 bits", "negative number beyond 64 bits"),
        *("UTF-16", "surrogate in UTF-8"),
    }
    try:
        json.loads(body)
        was_taken = True
    except (ValueError, RecursionError):
        was_taken = False
    assert was_taken is (name in taken)

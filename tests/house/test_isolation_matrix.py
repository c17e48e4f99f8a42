"""Every REST route against every kind of caller that must get nothing: no canary, no change, the right status.

A route without a row in `api_world.ROUTES` fails here, so nobody can forget it.
"""

import json
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from common.companies.models import ApiKey
from common.companies.rules import parse_key_text
from common.companies.services import revoke_api_key
from tests.api.routes import all_routes
from tests.factories import SYSTEM, ApiClient, make_agent, make_company, make_key, make_person
from tests.house.api_world import ABSENT, ANY, OWN, QUERIES, ROUTES, STAFF, body_for, build
from tests.house.digests import digest_of_everything
from tests.sizes import PATIENT

pytestmark = [pytest.mark.django_db, PATIENT]

#: Writes that only note what the caller itself asked.
OWN_LOGS = {("POST", "lessons/recall"), ("POST", "lessons/check")}
CANARY = "Kanarienvogel-7f3a9"
SCOPES = ["read", "report", "agents:write", "proposals:decide"]
#: Routes without a row fail once, in the first test.
CALLS = [
    (route, verb) for route in all_routes() for verb in route.verbs if verb in ROUTES.get(route.path, {})
]


@pytest.fixture
def trying(subtests):
    """`with trying(route, verb):` one call, reported by itself, whose effect is taken back (not with `keep`)."""

    @contextmanager
    def attempt(route, verb, keep=False):
        with subtests.test(call=f"{verb} {route}"), transaction.atomic():
            yield
            transaction.set_rollback(not keep)

    return attempt


def call(client, verb, route, parts, body=None):
    url = route.url(**{name: value for name, value in parts.items() if f":{name}>" in route.path})
    query = QUERIES.get(route.path)
    body = body_for(verb, route.path, parts)
    return client.request(verb, f"{url}?{query}" if query else url, body)


def leaks(answer):
    return CANARY in answer.content.decode("utf-8", "replace") + str(answer.headers)


@pytest.fixture
def victim(acme):
    # Two proposals, because codes are a company's own: the stranger has an EP-001 too.
    return build(acme, CANARY, drafts=2)


@pytest.fixture
def stranger_world(rival):
    """The stranger's company has rows of its own, so that an empty answer proves something."""
    return build(rival, "Spatz")


def nobodies(company):
    """Callers that are nobody: no key, a made-up key, an expired one, a revoked one, one of a disabled company."""
    now = timezone.now()
    revoked = make_key(company, scopes=SCOPES)
    key = ApiKey.objects.get(prefix=parse_key_text(revoked).prefix)
    revoke_api_key(key_id=key.pk, actor=SYSTEM, now=now)
    expired = make_key(company, scopes=SCOPES, expires_at=now + timedelta(seconds=1))
    ApiKey.objects.filter(prefix=parse_key_text(expired).prefix).update(expires_at=now)
    closed = make_company("closed", enabled=False)
    return {
        "anonymous": None,
        "garbage": f"fb_{'a' * 8}_{'b' * 43}",
        "revoked": revoked,
        "expired": expired,
        "disabled": make_key(closed, scopes=SCOPES),
    }


def test_every_route_and_verb_has_its_row_and_every_row_its_route():
    known = {path: set(verbs) for path, verbs in ROUTES.items()}
    assert known == {route.path: set(route.verbs) for route in all_routes()}


@pytest.mark.parametrize("name", ["anonymous", "garbage", "revoked", "expired", "disabled"])
def test_who_is_nobody_gets_401_and_changes_nothing(acme, victim, trying, name):
    client = ApiClient(nobodies(acme)[name])
    before = digest_of_everything()
    for route, verb in CALLS:
        with trying(route, verb, keep=True):
            answer = call(client, verb, route, victim)
            assert answer.status_code == 401
            assert not leaks(answer)
    assert digest_of_everything() == before


def test_without_the_scope_a_key_of_the_company_itself_gets_403(acme, victim, trying):
    without = {
        rights.scope: ApiClient(make_key(acme, scopes=[scope for scope in SCOPES if scope != rights.scope]))
        for verbs in ROUTES.values()
        for rights in verbs.values()
    }
    before = digest_of_everything()
    for route, verb in CALLS:
        rights = ROUTES[route.path][verb]
        with trying(route, verb, keep=True):
            answer = call(without[rights.scope], verb, route, victim)
            if rights.scope == ANY:
                assert answer.status_code == 200
            else:
                assert (answer.status_code, answer.json()["code"]) == (403, "SCOPE_MISSING")
                assert not leaks(answer)
    assert digest_of_everything() == before


def test_a_full_key_of_another_company_sees_and_changes_nothing(rival, victim, stranger_world, trying):
    client = ApiClient(make_key(rival, scopes=SCOPES))
    before = digest_of_everything()
    for route, verb in CALLS:
        rights = ROUTES[route.path][verb]
        with trying(route, verb):
            answer = call(client, verb, route, victim)
            assert not leaks(answer)
            wanted = 403 if rights.scope == STAFF else 404 if rights.stranger == ABSENT else 200
            assert answer.status_code == wanted or (wanted == 200 and answer.status_code == 201)
            if rights.stranger == ABSENT or verb == "GET":
                assert digest_of_everything() == before


def test_what_is_foreign_is_answered_as_what_is_not_there(rival, victim, trying):
    client = ApiClient(make_key(rival, scopes=SCOPES))
    absent = dict.fromkeys(victim, 999_999_999) | {"code": "EP-999999", "lesson": "EXP-999999"}
    absent |= {"repository": "no such repository", "pattern": "P-999999"}
    nowhere = "00000000-0000-4000-8000-000000000000"
    absent |= {"older": "EXP-999999", "recall_id": nowhere}
    absent |= {"knowledge": "k-999999", "injection_id": nowhere}
    for route, verb in CALLS:
        rights = ROUTES[route.path][verb]
        if rights.stranger == OWN:
            continue
        with trying(route, verb):
            foreign, missing = (call(client, verb, route, parts) for parts in (victim, absent))
            assert foreign.status_code == missing.status_code
            assert {**foreign.json(), "instance": ""} == {**missing.json(), "instance": ""}


def test_a_key_bound_to_another_agent_of_the_company_sees_and_changes_nothing(acme, victim, trying):
    bound = make_agent(acme, name="bound")
    client = ApiClient(make_key(acme, scopes=SCOPES, agent_id=bound.pk))
    before = digest_of_everything()
    for route, verb in CALLS:
        rights = ROUTES[route.path][verb]
        with trying(route, verb):
            answer = call(client, verb, route, victim)
            assert not leaks(answer)
            if rights.stranger == ABSENT:
                assert answer.status_code in (403, 404)
            assert digest_of_everything() == before or (verb, route.path) in OWN_LOGS


@pytest.mark.parametrize("company", ["", "company=acme", "company=rival"])
def test_staff_of_another_company_see_and_change_nothing(signed_in, rival, victim, trying, company):
    session = signed_in(make_person("stranger", role="Administrator", companies=[rival]))
    before = digest_of_everything()
    for route, verb in CALLS:
        rights = ROUTES[route.path][verb]
        with trying(route, verb):
            url = route.url(**{name: value for name, value in victim.items() if f":{name}>" in route.path})
            query = "&".join(filter(None, [company, QUERIES.get(route.path)]))
            body = body_for(verb, route.path, victim)
            sent = "" if body is None else json.dumps(body)
            answer = session.generic(verb, f"{url}?{query}", sent, "application/json")
            assert not leaks(answer)
            if (company == "company=acme" and rights.scope != ANY) or rights.stranger == ABSENT:
                assert answer.status_code in (403, 404)
            if verb == "GET" or company != "company=rival":
                assert digest_of_everything() == before


def test_the_rightful_caller_gets_through(acme, victim, trying):
    """Control: with the right key the same call answers."""
    for route, verb in CALLS:
        rights = ROUTES[route.path][verb]
        if rights.scope == STAFF:
            continue
        with trying(route, verb):
            scopes = SCOPES if rights.scope == ANY else [rights.scope]
            answer = call(ApiClient(make_key(acme, scopes=scopes)), verb, route, victim)
            # 409: a verb that the state of the proposal does not allow; the rights were enough to be told.
            assert answer.status_code in (200, 201, 204, 409), answer.content.decode()


def test_the_search_for_the_canary_finds_it(acme, victim):
    """Control: its own company's key sees the canary in all places the stranger must not."""
    client = ApiClient(make_key(acme, scopes=SCOPES))
    seen = {route.path for route, verb in CALLS if verb == "GET" and leaks(call(client, verb, route, victim))}
    assert seen >= {
        "agents",
        "agents/<id:pk>",
        "agents/<id:pk>/prompt",
        "receipts/<id:receipt_id>",
        "receipts",
    }


def test_the_digest_sees_a_change_of_one_row(acme, victim):
    """Control."""
    before = digest_of_everything()
    type(acme).objects.filter(pk=acme.pk).update(name="other")
    assert digest_of_everything() != before

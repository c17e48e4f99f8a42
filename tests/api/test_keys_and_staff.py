"""Who may call what: keys with their scopes, revoked and expired ones, staff with a session."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent
from common.companies.models import ApiKey
from common.companies.rules import parse_key_text
from common.companies.services import revoke_api_key
from tests.factories import SYSTEM, ApiClient, make_agent, make_key

pytestmark = pytest.mark.django_db

AGENT = {"name": "运维", "system_prompt": "x"}


def key_row(text):
    return ApiKey.objects.get(prefix=parse_key_text(text).prefix)


def test_me_names_the_key_its_company_and_its_scopes(acme):
    until = timezone.now() + timedelta(days=1)
    key = make_key(acme, name="runtime 1", scopes=["report", "read"], expires_at=until)
    body = ApiClient(key).get("me").json()
    assert body.pop("expires_at")
    assert body == {
        "kind": "key",
        "name": "runtime 1",
        "company": "acme",
        "company_name": "Acme",
        "agent": None,
        "scopes": ["read", "report"],
    }


@pytest.mark.parametrize("scope", ["read", "report", "agents:write", "proposals:decide"])
def test_any_live_key_may_ask_who_it_is_and_read_the_schema(acme, scope):
    client = ApiClient(make_key(acme, scopes=[scope]))
    assert client.get("me").json()["scopes"] == [scope]
    assert client.get("schema").status_code == 200
    assert client.get("docs", accept="text/html").status_code == 200


@pytest.mark.parametrize("scope", ["read", "report", "agents:write", "proposals:decide"])
def test_a_scope_opens_its_own_doors_and_no_others(acme, scope):
    agent = make_agent(acme, rows=["a"], documents=[("memory/a.md", "x")])
    row, document = agent.experiences.get(), agent.documents.get()
    client = ApiClient(make_key(acme, scopes=[scope]))
    base = f"agents/{agent.pk}"
    doors = {
        "read": [
            ("GET", path)
            for path in (
                *("agents", base, f"{base}/export", f"{base}/experiences", f"{base}/experiences/{row.pk}"),
                *(f"{base}/versions", f"{base}/versions/1", f"{base}/versions/diff?from=1&to=1"),
                *(f"{base}/documents", f"{base}/documents/{document.pk}", f"{base}/receipts"),
                *("receipts", "receipts/verify"),
            )
        ],
        "agents:write": [
            ("PATCH", f"{base}/experiences/{row.pk}"),
            ("POST", f"{base}/experiences"),
            ("PUT", f"{base}/documents"),
            ("PATCH", base),
            ("POST", f"{base}/copy"),
            ("POST", "agents"),
            ("DELETE", f"{base}/experiences/{row.pk}"),
            ("DELETE", base),
        ],
        "nobody": [("POST", f"{base}/versions/1/restore")],
    }
    for needed, calls in doors.items():
        for verb, path in calls:
            answer = client.request(verb, path, None if verb in ("GET", "DELETE") else {})
            allowed = answer.status_code not in (401, 403)
            assert allowed is (needed == scope), (verb, path, answer.content.decode())
            if not allowed:
                assert answer.json()["code"] == "SCOPE_MISSING"


def test_a_revoked_key_is_refused_at_once(acme):
    text = make_key(acme, scopes=["read"])
    client = ApiClient(text)
    assert client.get("me").status_code == 200
    revoke_api_key(key_id=key_row(text).pk, actor=SYSTEM, now=timezone.now())
    answer = client.get("me")
    assert (answer.status_code, answer.json()["code"]) == (401, "API_KEY_INVALID")


def test_a_key_lives_until_its_moment_and_no_longer(acme, time_machine_at):
    now = timezone.now()
    client = ApiClient(make_key(acme, scopes=["read"], expires_at=now + timedelta(hours=1)))
    with time_machine_at(now + timedelta(minutes=59)):
        assert client.get("me").status_code == 200
    with time_machine_at(now + timedelta(hours=1)):
        assert client.get("me").status_code == 401


def test_keys_of_a_disabled_company_are_refused_and_live_again_with_it(acme):
    client = ApiClient(make_key(acme, scopes=["read"]))
    for enabled, status in ((False, 401), (True, 200)):
        type(acme).objects.filter(pk=acme.pk).update(enabled=enabled)
        assert client.get("me").status_code == status


def test_a_retired_pepper_still_verifies_and_a_forgotten_one_does_not(acme, settings):
    client = ApiClient(make_key(acme, scopes=["read"]))
    old = settings.API_KEY_PEPPER
    settings.API_KEY_PEPPER, settings.API_KEY_PEPPER_FALLBACKS = "new pepper", [old]
    assert client.get("me").status_code == 200
    settings.API_KEY_PEPPER_FALLBACKS = []
    assert client.get("me").status_code == 401


@pytest.mark.parametrize("spelling", ["Bearer {}", "bearer {}", "BEARER  {} "])
def test_the_scheme_is_read_in_any_case(acme, spelling):
    key = make_key(acme, scopes=["read"])
    assert ApiClient(authorization=spelling.format(key)).get("me").status_code == 200


@pytest.mark.parametrize(
    "change",
    [lambda key: key[:-1], lambda key: key + "x", lambda key: key.upper(), lambda key: key[:-1] + "!"],
)
def test_a_key_that_is_nearly_right_is_wrong(acme, change):
    assert ApiClient(change(make_key(acme, scopes=["read"]))).get("me").status_code == 401


def test_last_use_is_written_at_most_once_a_minute(acme, time_machine_at):
    text = make_key(acme, scopes=["read"])
    client, start = ApiClient(text), timezone.now()
    for seconds, written in ((0, 0), (59, 0), (60, 60), (100, 60), (121, 121)):
        with time_machine_at(start + timedelta(seconds=seconds)):
            client.get("me")
        assert key_row(text).last_used_at == start + timedelta(seconds=written)


def test_a_key_counts_more_than_a_cookie(signed_in, chief, acme):
    client = signed_in(chief)
    key = make_key(acme, scopes=["read"])
    answer = client.get("/api/v1/me", headers={"authorization": f"Bearer {key}"})
    assert answer.json()["kind"] == "key"
    assert client.get("/api/v1/me", headers={"authorization": "Bearer wrong"}).status_code == 401


def test_staff_act_for_the_shared_company_or_the_one_they_name(signed_in, operator, acme):
    make_agent(acme, name="ours")
    client = signed_in(operator)
    assert client.get("/api/v1/me").json()["company"] == "_global"
    assert client.get("/api/v1/me?company=acme").json()["company"] == "acme"
    assert client.get("/api/v1/agents").json()["count"] == 0
    assert client.get("/api/v1/agents?company=acme").json()["count"] == 1


@pytest.mark.parametrize("slug", ["rival", "nobody", ""])
def test_a_company_that_is_not_ones_own_does_not_exist(signed_in, operator, rival, slug):
    answer = signed_in(operator).get(f"/api/v1/agents?company={slug}")
    assert answer.status_code == (404 if slug else 200)


def test_a_superuser_sees_every_company(signed_in, chief, rival):
    make_agent(rival, name="theirs")
    assert signed_in(chief).get("/api/v1/agents?company=rival").json()["count"] == 1


def test_staff_read_the_shared_company_and_do_not_change_it(signed_in, operator, global_company):
    shared = make_agent(global_company)
    client = signed_in(operator)
    assert client.get(f"/api/v1/agents/{shared.pk}").status_code == 200
    for verb, path in (("patch", f"/api/v1/agents/{shared.pk}"), ("post", "/api/v1/agents")):
        answer = getattr(client, verb)(path, AGENT, content_type="application/json")
        assert (answer.status_code, answer.json()["code"]) == (403, "COMPANY_FORBIDDEN")


@pytest.mark.parametrize(
    ("person", "status"), [("viewer", 403), ("approver", 403), ("operator", 201), ("administrator", 201)]
)
def test_the_role_of_staff_decides_over_writes(request, signed_in, acme, person, status):
    client = signed_in(request.getfixturevalue(person))
    assert client.get("/api/v1/agents?company=acme").status_code == 200
    answer = client.post("/api/v1/agents?company=acme", AGENT, content_type="application/json")
    assert answer.status_code == status, answer.content.decode()
    assert Agent.objects.count() == (status == 201)


def test_a_session_without_a_csrf_token_writes_nothing(operator, acme):
    client = Client(enforce_csrf_checks=True)
    client.force_login(operator)
    for verb in ("post", "put", "patch", "delete"):
        answer = getattr(client, verb)("/api/v1/agents?company=acme", AGENT, content_type="application/json")
        assert answer.status_code == 403, verb
        assert answer["Content-Type"] == "application/problem+json"
    answer = client.post("/api/v1/agents?company=acme", AGENT)
    assert answer.status_code in (403, 415)
    assert not Agent.objects.exists()
    client.get("/admin/login/")
    token = {"x-csrftoken": "a" * 32}
    client.cookies["csrftoken"] = "a" * 32
    answer = client.post("/api/v1/agents?company=acme", AGENT, content_type="application/json", headers=token)
    assert answer.status_code == 201


def test_a_person_who_is_no_staff_is_nobody(db, django_user_model):
    person = django_user_model.objects.create_user("someone")
    client = Client()
    client.force_login(person)
    assert client.get("/api/v1/me").status_code == 401


def test_secrets_of_keys_are_nowhere_but_with_their_owner(acme, caplog, database_dump):
    """Not in the database, not in the log, not in an answer: used, misused, revoked."""
    caplog.set_level("DEBUG")
    texts = [make_key(acme, scopes=["read"], name=f"k{number}") for number in range(50)]
    answers = []
    for number, text in enumerate(texts):
        client = ApiClient(text)
        answers += [client.get("me"), client.post("agents", {}), ApiClient(text + "x").get("me")]
        if number % 2:
            revoke_api_key(key_id=key_row(text).pk, actor=SYSTEM, now=timezone.now())
            answers.append(client.get("me"))
    secrets = [parse_key_text(text).secret for text in texts]
    assert len(set(secrets)) == 50
    places = database_dump() + caplog.text + "".join(answer.content.decode() for answer in answers)
    places += "".join(str(answer.headers) for answer in answers)
    assert not [secret for secret in secrets if secret in places]


def test_a_browser_without_a_login_is_led_from_the_description_to_the_login(client):
    answer = client.get("/api/v1/docs", headers={"accept": "text/html,*/*"})
    assert (answer.status_code, answer["Location"]) == (302, "/admin/login/?next=/api/v1/docs")
    assert client.get("/api/v1/docs", headers={"accept": "*/*"}).status_code == 401
    assert client.get("/api/v1/docs", headers={"authorization": "Bearer x"}).status_code == 401

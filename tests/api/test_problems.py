"""Every error is a problem document, whoever raises it: ours, the framework's, the middleware's."""

import json

import jsonschema
import pytest
from django.db import OperationalError
from redis.exceptions import ConnectionError as RedisDown

from agents.models import Agent
from common.api.endpoints.me import MeView
from common.api.errors import MAX_FAULTS
from tests.factories import ApiClient, make_agent, make_key

pytestmark = pytest.mark.django_db

PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "instance", "code", "errors"],
    "properties": {
        "type": {"type": "string", "pattern": "^urn:fieldbook:problem:[a-z-]+$"},
        "title": {"type": "string", "minLength": 1},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string", "pattern": "^/api/"},
        "code": {"type": "string", "pattern": "^[A-Z_]+$"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "code", "detail"],
                "additionalProperties": False,
                "properties": {
                    "pointer": {"type": "string", "pattern": "^(/([^/~]|~[01])*)*$"},
                    "code": {"type": "string"},
                    "detail": {"type": "string", "minLength": 1},
                },
            },
        },
    },
}
#: What no answer may tell (reliability: error pages reveal nothing of the inside).
INSIDE = [
    b"Traceback",
    b"/site-packages/",
    b"SELECT",
    b"django.",
    b"SECRET_KEY",
    b"psycopg",
    b"sqlite",
    b"/work/",
]


def problem(answer, status, code):
    assert answer.status_code == status, answer.content.decode()[:500]
    assert answer["Content-Type"] == "application/problem+json"
    body = answer.json()
    jsonschema.validate(body, PROBLEM)
    assert (body["status"], body["code"]) == (status, code)
    assert not [word for word in INSIDE if word in answer.content]
    assert answer["X-Request-ID"]
    return body


CASES = [
    ("GET", "nothing/here", None, {}, 404, "NOT_FOUND"),
    ("GET", "agents/", None, {}, 404, "NOT_FOUND"),
    ("GET", "agents/1x", None, {}, 404, "NOT_FOUND"),
    ("GET", "agents/" + "9" * 19, None, {}, 404, "NOT_FOUND"),
    ("GET", "agents/%00", None, {}, 404, "NOT_FOUND"),
    ("GET", "agents/%ED%A0%80", None, {}, 404, "NOT_FOUND"),
    ("GET", "agents/999999", None, {}, 404, "AGENT_NOT_FOUND"),
    ("GET", "receipts/999999", None, {}, 404, "NOT_FOUND"),
    ("DELETE", "agents", None, {}, 405, "METHOD_NOT_ALLOWED"),
    ("TRACE", "agents", None, {}, 405, "METHOD_NOT_ALLOWED"),
    ("PUT", "receipts", {}, {}, 405, "METHOD_NOT_ALLOWED"),
    ("GET", "agents", None, {"accept": "text/html"}, 406, "NOT_ACCEPTABLE"),
    ("GET", "me", None, {"accept": "image/png"}, 406, "NOT_ACCEPTABLE"),
    ("POST", "agents", b"<a/>", {"content_type": "application/xml"}, 415, "UNSUPPORTED_MEDIA_TYPE"),
    ("POST", "agents", b"{}", {"content_type": ""}, 415, "UNSUPPORTED_MEDIA_TYPE"),
    (
        "POST",
        "agents",
        b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\na\r\n--x--\r\n',
        {"content_type": "multipart/form-data; boundary=x"},
        415,
        "UNSUPPORTED_MEDIA_TYPE",
    ),
    ("POST", "agents", b"{", {}, 400, "VALIDATION_ERROR"),
    ("POST", "agents", b"[]", {}, 400, "VALIDATION_ERROR"),
    ("POST", "agents", b" " * 1_048_577, {}, 413, "BODY_TOO_LARGE"),
    ("GET", "agents?name=%00", None, {}, 400, "VALIDATION_ERROR"),
    ("GET", "agents?%00=1", None, {}, 400, "VALIDATION_ERROR"),
    ("GET", "receipts?agent=²", None, {}, 400, "VALIDATION_ERROR"),
    ("GET", "receipts?agent=-1", None, {}, 400, "VALIDATION_ERROR"),
    ("GET", "receipts?agent=" + "1" * 19, None, {}, 400, "VALIDATION_ERROR"),
    ("GET", "receipts?type=gossip", None, {}, 400, "VALIDATION_ERROR"),
    ("GET", "agents", None, {"authorization": "Bearer nonsense"}, 401, "API_KEY_INVALID"),
    ("GET", "agents", None, {"authorization": "Basic YTpi"}, 401, "API_KEY_INVALID"),
    ("GET", "agents", None, {"authorization": "Bearer " + "x" * 8000}, 401, "API_KEY_INVALID"),
    ("GET", "agents", None, {"authorization": "Bearer fb_\u00e9"}, 401, "API_KEY_INVALID"),
    ("GET", "schema", None, {"authorization": "Bearer nonsense"}, 401, "API_KEY_INVALID"),
    ("GET", "docs", None, {"authorization": "Bearer nonsense"}, 401, "API_KEY_INVALID"),
    ("POST", "schema", {}, {}, 405, "METHOD_NOT_ALLOWED"),
    ("POST", "docs", {}, {}, 405, "METHOD_NOT_ALLOWED"),
]


@pytest.mark.parametrize(
    ("verb", "path", "body", "headers", "status", "code"),
    CASES,
    ids=[f"{verb} {path[:20]} {status}" for verb, path, _body, _headers, status, _code in CASES],
)
def test_every_error_has_the_one_shape(writer, verb, path, body, headers, status, code):
    problem(writer.request(verb, path, body, **headers), status, code)


@pytest.mark.parametrize("path", ["agents", "me", "receipts", "schema", "docs", "agents/1", "receipts/1"])
def test_without_a_key_it_is_401_and_says_how(path):
    answer = ApiClient().get(path)
    problem(answer, 401, "AUTH_REQUIRED")
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_browser_without_a_login_is_led_to_it_from_the_page_of_the_document():
    answer = ApiClient().get("docs", accept="text/html")
    assert (answer.status_code, answer["Location"]) == (302, "/admin/login/?next=/api/v1/docs")
    wrong = ApiClient("fb_wrong").get("docs", accept="text/html")
    assert (wrong.status_code, wrong.json()["code"]) == (401, "API_KEY_INVALID")


def test_without_the_scope_it_is_403_and_names_it(reader):
    body = problem(reader.post("agents", {}), 403, "SCOPE_MISSING")
    assert "agents:write" in body["detail"]


def test_405_names_what_is_allowed(writer):
    answer = writer.delete("agents")
    assert {"GET", "POST"} <= set(answer["Allow"].split(", "))


@pytest.mark.parametrize("path", ["agents", "me", "receipts", "agents/1/documents", "agents/1"])
def test_options_say_what_is_allowed_and_no_more(writer, path):
    answer = writer.request("OPTIONS", path)
    assert (answer.status_code, answer.content) == (204, b"")
    assert "GET" in answer["Allow"]


def test_a_pointer_escapes_what_would_split_it(writer, acme):
    agent = make_agent(acme)
    answer = writer.patch(f"agents/{agent.pk}", b'{"a/b~c": {"sortOrder": 1, "sort_order": 2}}')
    body = problem(answer, 400, "VALIDATION_ERROR")
    assert body["errors"][0]["pointer"] == "/a~1b~0c/sort_order"


def test_a_thousand_faults_make_no_answer_of_a_megabyte(writer, acme):
    agent = make_agent(acme)
    answer = writer.patch(f"agents/{agent.pk}", {"experiences": [{"content": ""}] * 1500})
    body = problem(answer, 400, "AGENT_EXPERIENCE_CONTENT_INVALID")
    assert len(body["errors"]) == MAX_FAULTS
    assert len(answer.content) < 50_000


@pytest.mark.parametrize(
    ("language", "title"),
    [("zh-hans", "请求无效"), ("en", "Invalid request"), ("zh-CN,zh;q=0.9", "请求无效")],
)
def test_people_read_errors_in_their_language(writer, language, title):
    body = problem(writer.post("agents", {}, **{"accept-language": language}), 400, "VALIDATION_ERROR")
    if language == "en":
        assert body["title"] == title
        assert "required" in body["errors"][0]["detail"]


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (ZeroDivisionError("/work/secret SELECT"), 500, "SERVER_ERROR"),
        (OperationalError("SELECT psycopg"), 503, "SERVICE_UNAVAILABLE"),
        (RedisDown("Traceback"), 503, "SERVICE_UNAVAILABLE"),
    ],
)
def test_a_failure_inside_tells_nothing_of_the_inside(reader, monkeypatch, failure, status, code):
    def fail(*args, **kwargs):
        raise failure

    monkeypatch.setattr(MeView, "get", fail)
    answer = reader.get("me")
    problem(answer, status, code)
    if status == 503:
        assert int(answer["Retry-After"]) >= 1


def test_an_answer_to_head_has_no_body(reader):
    answer = reader.request("HEAD", "agents")
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize("charset", ["latin-1", "utf-16", "nonsense", "utf-7", '"gbk"'])
def test_an_announced_charset_changes_nothing_bodies_are_utf_8(writer, charset):
    sent = json.dumps({"name": "运维", "system_prompt": "x"}, ensure_ascii=False).encode()
    headers = {"content_type": f"application/json; charset={charset}"}
    answer = writer.request("POST", "agents?name=%E8%BF%90", sent, **headers)
    assert answer.status_code == 201, answer.content.decode()
    assert Agent.objects.get().name == "运维"
    assert writer.request("GET", "agents?name=%E8%BF%90%41", **headers).status_code == 200


@pytest.mark.parametrize(
    "form",
    [
        b"content=%00",
        b"content=\x00",
        b"%00=a",
        b"content=%ff",
        b"content=\xff",
        b"content=%ED%A0%80",
        b"a&" * 30_000,
    ],
    ids=lambda form: ascii(form[:20]),
)
def test_a_hostile_form_is_refused(writer, acme, form):
    agent = make_agent(acme)
    answer = writer.request(
        "POST", f"agents/{agent.pk}/experiences", form, content_type="application/x-www-form-urlencoded"
    )
    problem(answer, 400, "VALIDATION_ERROR")
    assert agent.experiences.count() == 0


def test_both_spellings_with_equal_values_are_one_field_with_different_ones_an_error(writer, acme):
    agent = make_agent(acme)
    path = f"agents/{agent.pk}/experiences"
    assert writer.post(path, b'{"content":"a","sortOrder":0,"sort_order":0}').status_code == 201
    for other in (b"1", b"null", b"true", b'"0"', b"[]"):
        answer = writer.post(path, b'{"content":"a","sortOrder":0,"sort_order":' + other + b"}")
        assert problem(answer, 400, "VALIDATION_ERROR")["errors"][0]["pointer"] == "/sort_order"
    answer = writer.post(path, b'{"content":"a","sort_order":1,"sortOrder":true}')
    problem(answer, 400, "VALIDATION_ERROR")


def test_unknown_fields_are_ignored_and_never_stored(writer):
    sent = {"name": "a", "systemPrompt": "x", "favouriteColour": "#fff", "nested": {"sortOrder": [1]}}
    answer = writer.post("agents", sent)
    assert answer.status_code == 201
    assert "favourite_colour" not in answer.json()


def test_a_key_of_a_disabled_company_is_told_no_more_than_a_wrong_one(acme):
    client = ApiClient(make_key(acme, scopes=["read"]))
    type(acme).objects.filter(pk=acme.pk).update(enabled=False)
    disabled = client.get("agents").json()
    wrong = ApiClient("fb_" + "a" * 8 + "_" + "b" * 43).get("agents").json()
    assert disabled == wrong

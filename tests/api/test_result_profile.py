"""The result+json profile under /agents: an envelope in camelCase, errors with their HTTP status."""

import pytest

from tests.factories import ApiClient, make_agent

pytestmark = pytest.mark.django_db

RESULT = {"accept": "application/vnd.result+json"}


def test_an_answer_is_wrapped_and_in_camel_case(writer, acme):
    agent = make_agent(acme, rows=["a"])
    answer = writer.get(f"agents/{agent.pk}", **RESULT)
    assert answer["Content-Type"] == "application/vnd.result+json; charset=utf-8"
    body = answer.json()
    assert (body["code"], body["message"]) == (0, "ok")
    assert body["data"]["systemPrompt"] == "你是运维助手。"
    assert body["data"]["experienceCount"] == 1
    assert set(body["data"]["experiences"][0]) == {
        "id",
        "content",
        "sortOrder",
        "enabled",
        "createdAt",
        "updatedAt",
    }
    assert answer["ETag"] == '"1"'


def test_lists_writes_and_deletes_are_wrapped_too(writer, acme):
    agent = make_agent(acme)
    listed = writer.get("agents", **RESULT).json()["data"]
    assert (listed["count"], listed["results"][0]["skillNames"]) == (1, [])
    sent = {
        "name": "新",
        "systemPrompt": "x",
        "experiences": [{"content": "一", "sortOrder": 0, "enabled": False}],
    }
    made = writer.post("agents", sent, **RESULT)
    assert (made.status_code, made.json()["data"]["enabledExperienceCount"]) == (201, 0)
    gone = writer.delete(f"agents/{agent.pk}", **RESULT)
    assert (gone.status_code, gone.content) == (204, b"")


@pytest.mark.parametrize(
    ("verb", "path", "body", "status", "code", "message"),
    [
        (
            "POST",
            "agents/{pk}/experiences",
            {"content": ""},
            400,
            3023,
            "最佳实践经验内容无效（需 1～300 字）",
        ),
        (
            "PATCH",
            "agents/{pk}",
            {"experiences": [{"content": "字" * 301}]},
            400,
            3023,
            "最佳实践经验内容无效（需 1～300 字）",
        ),
        ("GET", "agents/{pk}/experiences/999", None, 404, 3024, "最佳实践经验不存在"),
        ("DELETE", "agents/{pk}/experiences/999", None, 404, 3024, "最佳实践经验不存在"),
        ("GET", "agents/999999", None, 404, 404, None),
        ("PATCH", "agents/{pk}", {"experiences": [{"id": 1, "content": "x"}]}, 400, 400, None),
        ("PATCH", "agents/{pk}", {"language": "fr"}, 400, 400, None),
        ("PATCH", "agents/{pk}", b"{", 400, 400, None),
        ("TRACE", "agents/{pk}", None, 405, 405, None),
        ("GET", "agents/{pk}/nothing", None, 404, 404, None),
        ("PATCH", "agents/{pk}", b"x" * 1_100_000, 413, 413, None),
    ],
)
def test_an_error_keeps_its_status_and_has_a_number_and_a_message(
    writer, acme, verb, path, body, status, code, message
):
    agent = make_agent(acme)
    answer = writer.request(verb, path.format(pk=agent.pk), body, **RESULT)
    assert answer.status_code == status
    assert answer["Content-Type"].split(";")[0] == "application/vnd.result+json"
    told = answer.json()
    assert (set(told), told["code"], told["data"]) == ({"code", "message", "data"}, code, None)
    assert told["message"] == message or (message is None and told["message"])


@pytest.mark.parametrize(("key", "status"), [(None, 401), ("fb_bad", 401)])
def test_who_is_not_known_is_told_so_in_the_envelope(key, status):
    answer = ApiClient(key).get("agents", **RESULT)
    assert (answer.status_code, answer.json()["code"]) == (status, status)


def test_elsewhere_the_profile_is_not_spoken(reader):
    answer = reader.get("receipts", **RESULT)
    assert answer.status_code == 406
    assert answer["Content-Type"] == "application/problem+json"


def test_receipts_of_an_agent_are_under_agents_and_speak_it(reader, acme):
    agent = make_agent(acme)
    data = reader.get(f"agents/{agent.pk}/receipts", **RESULT).json()["data"]
    assert data["results"][0]["agentName"] == agent.name
    # Keys inside `detail` are data.
    assert "after_sha256" in data["results"][0]["detail"]


def test_output_is_raw_utf_8(reader, acme):
    make_agent(acme, name="中文 😀")
    for headers in ({}, RESULT):
        assert "中文 😀".encode() in reader.get("agents", **headers).content

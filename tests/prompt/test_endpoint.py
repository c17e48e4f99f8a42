"""GET and POST /agents/{id}/prompt: the answer, its media types, ETag, refusals, and what it never does."""

from hashlib import sha256
from unittest import mock

import pytest
import time_machine
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from agents.services.agents import switch_agents
from agents.services.documents import put_document
from common.companies.models import ApiKey
from common.receipts.models import Receipt
from common.text import estimated_tokens
from experiences.models import Experience
from prompt import services
from prompt.rules.requests import TEXT_LIMITS
from prompt.services import Source
from tests.factories import ApiClient, an_edit, make_agent, make_key

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(acme):
    return make_agent(acme, rows=["先查日志", ("停用的", False), "再看监控"])


def url(agent):
    return f"agents/{agent.pk}/prompt"


def test_the_answer_has_these_fields_in_this_order(reader, agent):
    body = reader.get(url(agent)).json()
    assert list(body) == [
        "agent_id",
        "version",
        "language",
        "text",
        "sections",
        "chars",
        "estimated_tokens",
        "injection_id",
        "warnings",
        "updated_at",
    ]
    assert (body["agent_id"], body["version"], body["language"]) == (agent.pk, 1, "zh")
    assert (body["injection_id"], body["warnings"]) == (None, [])
    assert body["chars"] == len(body["text"])
    assert body["estimated_tokens"] == estimated_tokens(body["text"])
    assert body["updated_at"].endswith("+08:00")
    assert [list(section) for section in body["sections"]] == [
        ["key", "heading", "text", "chars", "item_ids"]
    ] * len(body["sections"])
    experiences = body["sections"][1]
    ids = list(agent.experiences.filter(enabled=True).order_by("order").values_list("pk", flat=True))
    assert experiences == {
        "key": "experiences",
        "heading": "## 最佳实践经验",
        "text": "- 先查日志\n- 再看监控",
        "chars": 13,
        "item_ids": ids,
    }


def test_the_text_leaves_as_raw_utf8(reader, agent):
    assert "你是运维助手。".encode() in reader.get(url(agent)).content


def test_plain_text_is_the_text_alone_under_the_same_etag(reader, agent):
    full, plain = reader.get(url(agent)), reader.get(url(agent), accept="text/plain")
    assert plain["Content-Type"] == "text/plain; charset=utf-8"
    assert plain.content.decode() == full.json()["text"]
    assert plain["ETag"] == full["ETag"] == f'"{sha256(plain.content).hexdigest()}"'
    for answer in (full, plain):
        assert {"Accept", "Authorization"} <= set(answer["Vary"].split(", "))


def test_the_result_profile_answers_in_its_envelope(reader, agent):
    body = reader.get(url(agent), accept="application/vnd.result+json").json()
    assert (body["code"], body["message"]) == (0, "ok")
    assert body["data"]["estimatedTokens"] and "itemIds" in body["data"]["sections"][0]


@pytest.mark.parametrize("accept", ["application/json", "text/plain"])
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("{tag}", 304),
        ("W/{tag}", 304),
        ('"other", {tag}', 304),
        ("*", 304),
        ('"other"', 200),
        ("", 200),
        ("nonsense", 200),
    ],
)
def test_a_known_text_is_not_sent_again(reader, agent, header, status, method, accept):
    tag = reader.get(url(agent))["ETag"]
    sent = {"if-none-match": header.format(tag=tag), "accept": accept}
    answer = reader.request(method, url(agent), None, **sent)
    assert answer.status_code == status
    assert answer["ETag"] == tag
    assert {"Accept", "Authorization"} <= set(answer["Vary"].split(", "))
    if status == 304:
        assert answer.content == b"" and "Content-Type" not in answer


def test_a_change_shows_in_the_next_fetch(reader, writer, agent):
    before = reader.get(url(agent))
    writer.post(f"agents/{agent.pk}/experiences", {"content": "新的一条"})
    after = reader.get(url(agent), **{"if-none-match": before["ETag"]})
    assert after.status_code == 200
    assert "- 新的一条" in after.json()["text"]
    assert after.json()["version"] == before.json()["version"] + 1


def test_head_answers_the_headers_of_get(reader, agent):
    assert reader.request("HEAD", url(agent))["ETag"] == reader.get(url(agent))["ETag"]


def test_a_disabled_agent_is_gone(reader, agent):
    switch_agents(agent_ids=[agent.pk], enabled=False, edit=an_edit())
    for answer in (
        reader.get(url(agent)),
        reader.post(url(agent)),
        reader.get(url(agent), accept="text/plain"),
    ):
        assert answer.status_code == 410
        assert answer.json()["code"] == "AGENT_DISABLED"
        assert answer["Content-Type"].startswith("application/problem+json")
        assert "你是运维助手" not in answer.content.decode()


def test_unknown_foreign_deleted_and_other_agents_look_alike(reader, acme, rival, agent):
    foreign = make_agent(rival)
    deleted = make_agent(acme)
    Agent.objects.filter(pk=deleted.pk).update(deleted_at="2026-01-01T00:00:00Z")
    bound = ApiClient(make_key(acme, scopes=["read"], agent_id=make_agent(acme).pk))
    answers = [
        reader.get("agents/999999/prompt"),
        reader.get(url(foreign)),
        reader.post(url(foreign), {}),
        reader.get(url(deleted)),
        bound.get(url(agent)),
    ]
    for answer in answers:
        assert answer.status_code == 404
        assert answer.json()["code"] == "AGENT_NOT_FOUND"
    assert len({answer.json()["detail"] for answer in answers}) == 1


def test_a_key_bound_to_the_agent_fetches_its_prompt(acme, agent):
    bound = ApiClient(make_key(acme, scopes=["read"], agent_id=agent.pk))
    assert bound.get(url(agent)).status_code == 200


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    ("scopes", "status"),
    [(["read"], 200), (["report"], 403), (["agents:write"], 403), (["proposals:decide"], 403)],
)
def test_both_methods_need_the_scope_read_and_no_more(acme, agent, method, scopes, status):
    assert ApiClient(make_key(acme, scopes)).request(method, url(agent)).status_code == status


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_nobody_fetches_without_a_key(agent, method):
    answer = ApiClient().request(method, url(agent), accept="text/plain")
    assert answer.status_code == 401
    assert answer["Content-Type"].startswith("application/problem+json")


def test_staff_fetch_with_their_session_and_company(signed_in, viewer, stranger, agent):
    path = f"/api/v1/{url(agent)}?company=acme"
    assert signed_in(viewer).get(path).status_code == 200
    assert signed_in(stranger).get(path).status_code == 404


@pytest.mark.parametrize("name", sorted(TEXT_LIMITS))
@pytest.mark.parametrize("character", ["字", "x", "😀"])
def test_each_text_has_its_limit(reader, agent, name, character):
    limit = TEXT_LIMITS[name]
    assert reader.post(url(agent), {name: character * limit + " \r\n"}).status_code == 200
    answer = reader.post(url(agent), {name: character * (limit + 3)})
    assert answer.status_code == 400
    problem = answer.json()
    assert problem["code"] == "VALIDATION_ERROR"
    assert (problem["limit"], problem["actual"]) == (limit, limit + 3)
    assert problem["errors"][0]["pointer"] == f"/{name}"
    assert str(limit) in problem["detail"] and "3" in problem["detail"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"user_id": ""}, "/user_id"),
        ({"user_id": "a/b"}, "/user_id"),
        ({"user_id": "a\n"}, "/user_id"),
        ({"user_id": "用户"}, "/user_id"),
        ({"user_id": "x" * 65}, "/user_id"),
        ({"user_id": 7}, "/user_id"),
        ({"task": 5}, "/task"),
        ({"task": ["x"]}, "/task"),
        ({"keywords": ["k"] * 11}, "/keywords"),
        ({"keywords": "k"}, "/keywords"),
        ({"files": [1]}, "/files"),
        ({"tags": {"a": "b"}}, "/tags"),
        ({"environment": {str(number): "v" for number in range(31)}}, "/environment"),
        ({"environment": {"k": 1}}, "/environment"),
        ({"environment": ["k"]}, "/environment"),
        ({"environment": {" ": "v"}}, "/environment"),
        ({"time_precision": "second"}, "/time_precision"),
        ({"timePrecision": ["day"]}, "/time_precision"),
        ([], ""),
    ],
)
def test_a_request_that_is_not_as_described_is_refused_with_its_place(reader, agent, body, pointer):
    answer = reader.post(url(agent), body)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize(
    "body",
    [
        None,
        {},
        {"unknown": 1},
        {"task": None, "keywords": None, "environment": None, "user_id": None, "time_precision": None},
        {"keywords": ["k"] * 10, "files": [], "environment": {str(n): "v" for n in range(30)}},
        {"userId": "Bob_1.x@example-y", "timePrecision": "minute"},
    ],
)
def test_absent_null_and_unknown_fields_are_fine(reader, agent, body):
    assert reader.post(url(agent), body).status_code == 200


def test_get_understands_user_and_precision_and_ignores_the_rest(reader, acme):
    agent = make_agent(acme)
    put_document(
        agent=agent, company=acme, path="users/bob/profile.md", text="喜欢简短", edit=an_edit(), request="t"
    )
    text = reader.get(f"{url(agent)}?user_id=bob&time_precision=minute&task=x&environment=y").json()["text"]
    assert "喜欢简短" in text and ":" in text.split("## 当前时间")[1]
    assert reader.get(f"{url(agent)}?userId=bob").json()["text"].count("喜欢简短") == 1
    assert "喜欢简短" not in reader.get(f"{url(agent)}?user_id=Bob").json()["text"]
    assert reader.get(f"{url(agent)}?user_id=a/b").status_code == 400


@pytest.mark.parametrize("rows", [1, 10, 100])
def test_the_number_of_queries_does_not_depend_on_the_rows(reader, acme, rows):
    documents = [(f"memory/{number}.md", "x") for number in range(rows)]
    agent = make_agent(acme, rows=[f"row {number}" for number in range(rows)], documents=documents)
    reader.get(url(agent))
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert reader.get(url(agent)).status_code == 200
    # key, agent, documents, experiences, version again
    assert len(queries) == 5, [query["sql"] for query in queries]


def counts():
    return [model.objects.count() for model in (Agent, Experience, Receipt)]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_fetch_writes_nothing_but_the_use_of_the_key(reader, agent, method):
    before = counts()
    with CaptureQueriesContext(connection) as queries:
        reader.request(method, url(agent))
    writes = [q["sql"] for q in queries if q["sql"].split()[0] in ("INSERT", "UPDATE", "DELETE")]
    assert [sql for sql in writes if ApiKey._meta.db_table not in sql] == []
    assert counts() == before


def failing(loading):
    raise RuntimeError("the documents are gone")


def test_a_failing_section_is_named_and_the_fetch_succeeds(reader, acme):
    agent = make_agent(acme, rows=["先查日志"], documents=[("principles.md", "不删数据")])
    with mock.patch.dict(services.SOURCES, {"documents": Source(failing)}):
        answer = reader.get(url(agent))
    assert answer.status_code == 200
    body = answer.json()
    assert any("principles" in warning for warning in body["warnings"])
    assert "不删数据" not in body["text"] and "先查日志" in body["text"]


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (RuntimeError("the rows are gone"), 500, "SERVER_ERROR"),
        (OperationalError("the rows are gone"), 503, "SERVICE_UNAVAILABLE"),
    ],
)
@pytest.mark.parametrize("accept", ["application/json", "text/plain"])
def test_a_failing_required_section_is_an_error_and_never_an_empty_prompt(
    reader, agent, error, status, code, accept
):
    with mock.patch.dict(services.SOURCES, {"experiences": Source(mock.Mock(side_effect=error))}):
        answer = reader.get(url(agent), accept=accept)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert "gone" not in answer.content.decode() and "你是运维助手" not in answer.content.decode()


class Recorder:
    """A source that counts its deliveries."""

    def __init__(self, outcome="11111111-1111-1111-1111-111111111111"):
        self.outcome, self.seen = outcome, []

    def record(self, loading, loaded, rendered):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        self.seen.append((loading.agent.pk, loaded, sorted(rendered.keys)))
        return self.outcome


def with_recorder(recorder):
    rows = services.SOURCES["experiences"].load
    return mock.patch.dict(services.SOURCES, {"experiences": Source(rows, recorder.record)})


def test_only_post_records_a_delivery_and_only_of_a_delivered_section(reader, acme, agent):
    recorder = Recorder()
    with with_recorder(recorder):
        assert reader.get(url(agent)).json()["injection_id"] is None
        assert reader.post(url(make_agent(acme))).json()["injection_id"] is None
        assert recorder.seen == []
        assert reader.post(url(agent)).json()["injection_id"] == recorder.outcome
    assert [seen[0] for seen in recorder.seen] == [agent.pk]


def test_a_failing_log_costs_no_prompt(reader, agent):
    with with_recorder(Recorder(RuntimeError("full"))):
        answer = reader.post(url(agent))
    assert (answer.status_code, answer.json()["injection_id"]) == (200, None)


@pytest.mark.parametrize(
    ("moment", "day"),
    [("2026-06-12T15:59:59Z", "2026-06-12 星期五"), ("2026-06-12T16:00:00Z", "2026-06-13 星期六")],
)
@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles"])
def test_the_day_turns_at_local_midnight_whatever_the_process_thinks(
    reader, agent, monkeypatch, moment, day, zone
):
    monkeypatch.setenv("TZ", zone)
    with time_machine.travel(moment, tick=False):
        assert f"{day} (Asia/Shanghai)" in reader.get(url(agent)).json()["text"]

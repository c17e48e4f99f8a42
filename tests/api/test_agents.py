"""Agents over REST: create, read, change, find, page, delete, default, copy, export."""

import pytest
from django.utils import timezone

from agents.models import Agent, AgentVersion, Document
from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from experiences.models import Experience
from tests.factories import ApiClient, make_agent, make_key

pytestmark = pytest.mark.django_db

AGENT = {"name": "运维助手", "system_prompt": "你是运维助手。"}


def faults(answer, code="VALIDATION_ERROR"):
    assert answer.status_code == 400, answer.content.decode()
    assert answer.json()["code"] == code
    return {fault["pointer"]: fault["detail"] for fault in answer.json()["errors"]}


def test_a_new_agent_has_the_documented_defaults(writer):
    body = writer.post("agents", AGENT).json()
    wanted = {
        "company": "acme",
        "description": "",
        "language": "zh",
        "enabled": True,
        "is_default": False,
        "inject_session_recaps": False,
        "introspection_enabled": False,
        "owner": None,
        "tags": [],
        "skill_names": [],
        "version": 1,
        "experience_count": 0,
        "enabled_experience_count": 0,
        "experiences": [],
    }
    assert {name: body[name] for name in wanted} == wanted
    assert body["created_at"].endswith("+08:00")


@pytest.mark.parametrize(
    ("sent", "pointer", "in_detail"),
    [
        ({"name": "a"}, "/system_prompt", ""),
        ({"system_prompt": "a"}, "/name", ""),
        ({**AGENT, "name": None}, "/name", ""),
        ({**AGENT, "name": " \u3000\u200b"}, "/name", ""),
        ({**AGENT, "name": "字" * 101}, "/name", "101"),
        ({**AGENT, "name": 7}, "/name", ""),
        ({**AGENT, "system_prompt": None}, "/system_prompt", ""),
        ({**AGENT, "system_prompt": "\u200b \n"}, "/system_prompt", ""),
        ({**AGENT, "system_prompt": "字" * 100_001}, "/system_prompt", "100001"),
        ({**AGENT, "description": "a" * 1003}, "/description", "3"),
        ({**AGENT, "language": "fr"}, "/language", ""),
        ({**AGENT, "language": ["zh"]}, "/language", ""),
        ({**AGENT, "enabled": "perhaps"}, "/enabled", ""),
        ({**AGENT, "tags": "ops"}, "/tags", ""),
        ({**AGENT, "tags": ["a"] * 21}, "/tags", "21"),
        ({**AGENT, "tags": ["ok", "字" * 31]}, "/tags/1", "31"),
        ({**AGENT, "tags": ["ok", ""]}, "/tags/1", ""),
        ({**AGENT, "tags": [{"a": 1}]}, "/tags", ""),
        ({**AGENT, "skill_names": [7]}, "/skill_names", ""),
        ({**AGENT, "message": "m" * 501}, "/message", "501"),
    ],
)
def test_a_bad_field_is_named_and_nothing_is_stored(writer, sent, pointer, in_detail):
    told = faults(writer.post("agents", sent))
    assert list(told) == [pointer]
    assert in_detail in told[pointer]
    assert not Agent.objects.exists()
    assert not Receipt.objects.filter(trigger="agent_created").exists()


@pytest.mark.parametrize(
    ("field", "text", "stored"),
    [
        ("name", "  运维\u3000", "运维"),
        ("name", "字" * 100, "字" * 100),
        ("name", "😀" * 100, "😀" * 100),
        ("name", "ﷺ" * 100, "ﷺ" * 100),
        ("system_prompt", "\r\n一\r\n二\r", "一\n二"),
        ("system_prompt", "字" * 100_000, "字" * 100_000),
        ("description", "字" * 1000, "字" * 1000),
        ("tags", ["运维", " ops ", "OPS", "ｏｐｓ"], ["运维", "ops"]),
        ("skill_names", ["code-review"], ["code-review"]),
    ],
    ids=lambda value: ascii(value)[:24],
)
def test_texts_are_stored_trimmed_with_lf_and_counted_in_code_points(writer, field, text, stored):
    answer = writer.post("agents", {**AGENT, field: text})
    assert answer.status_code == 201, answer.content.decode()[:300]
    assert answer.json()[field] == stored


def test_patch_changes_what_is_named_and_put_needs_name_and_role(writer, acme):
    agent = make_agent(acme, name="a", description="d", tags=["t"])
    answer = writer.patch(f"agents/{agent.pk}", {"description": "new", "language": None})
    assert answer.status_code == 200
    assert (answer.json()["description"], answer.json()["tags"], answer.json()["version"]) == (
        "new",
        ["t"],
        2,
    )
    assert faults(writer.put(f"agents/{agent.pk}", {"name": "a"})).keys() == {"/system_prompt"}


@pytest.mark.parametrize("other", ["ops bot", "OPS  Bot", "ｏｐｓ ｂｏｔ", " ops\u3000bot "])
def test_a_name_is_taken_in_any_spelling_of_its_key(writer, rival_writer, acme, other):
    make_agent(acme, name="ops bot")
    second = make_agent(acme, name="second")
    told = faults(writer.post("agents", {**AGENT, "name": other}), "AGENT_NAME_TAKEN")
    assert list(told) == ["/name"]
    faults(writer.patch(f"agents/{second.pk}", {"name": other}), "AGENT_NAME_TAKEN")
    assert rival_writer.post("agents", {**AGENT, "name": other}).status_code == 201


def test_an_agent_may_respell_its_own_name(writer, acme):
    agent = make_agent(acme, name="ops bot")
    assert writer.patch(f"agents/{agent.pk}", {"name": "Ops Bot"}).json()["name"] == "Ops Bot"


def test_names_whose_key_is_longer_than_its_column_are_still_told_apart(writer):
    names = ["ﷺ" * 99 + end for end in ("一", "二")]
    assert [writer.post("agents", {**AGENT, "name": name}).status_code for name in names] == [201, 201]
    faults(writer.post("agents", {**AGENT, "name": names[0]}), "AGENT_NAME_TAKEN")


@pytest.mark.parametrize("spelling", ["ops bot", "OPS%20%20BOT", "%EF%BD%8F%EF%BD%90%EF%BD%93%20bot"])
def test_agents_are_found_by_name(reader, acme, spelling):
    agent = make_agent(acme, name="Ops Bot")
    make_agent(acme, name="other")
    found = reader.get(f"agents?name={spelling}").json()
    assert (found["count"], [row["id"] for row in found["results"]]) == (1, [agent.pk])
    assert reader.get("agents?name=nobody").json()["results"] == []


def test_the_summary_leaves_the_rows_out_and_keeps_the_counts(reader, acme):
    agent = make_agent(acme, rows=["a", ("b", False)])
    for body in (
        reader.get("agents?fields=summary").json()["results"][0],
        reader.get(f"agents/{agent.pk}?fields=summary").json(),
    ):
        assert "experiences" not in body
        assert (body["experience_count"], body["enabled_experience_count"]) == (2, 1)


def test_250_agents_of_one_moment_are_walked_once_each(reader, acme):
    now = timezone.now()
    Agent.objects.bulk_create(
        Agent(company=acme, name=f"n{number:03d}", name_key=f"n{number:03d}", system_prompt="x")
        for number in range(250)
    )
    Agent.objects.update(created_at=now)
    seen, url, sizes = [], "agents?page_size=100&fields=summary", []
    while url:
        page = reader.get(url.removeprefix("http://testserver")).json()
        sizes.append(len(page["results"]))
        seen += [row["id"] for row in page["results"]]
        url = page["next"]
    assert (page["count"], sizes) == (250, [100, 100, 50])
    assert len(set(seen)) == 250


@pytest.mark.parametrize(
    ("query", "status", "pointer"),
    [
        ("page_size=200", 200, None),
        ("page_size=201", 400, "/page_size"),
        ("page_size=0", 400, "/page_size"),
        ("page_size=-1", 400, "/page_size"),
        ("page_size=ten", 400, "/page_size"),
        ("page_size=²", 400, "/page_size"),
        ("page=0", 400, "/page"),
        ("page=-1", 400, "/page"),
        ("page=last", 400, "/page"),
        ("page=1_0", 400, "/page"),
        ("page=٣", 400, "/page"),
        ("page=" + "9" * 5000, 400, "/page"),
        ("page=2", 404, None),
        ("page=999999999999999999", 404, None),
    ],
    ids=lambda value: ascii(value)[:24],
)
def test_a_page_is_a_number_and_a_page_beyond_the_end_is_not_found(reader, acme, query, status, pointer):
    make_agent(acme)
    answer = reader.get(f"agents?{query}")
    assert answer.status_code == status
    if pointer:
        assert answer.json()["errors"][0]["pointer"] == pointer


def test_unknown_deleted_and_foreign_agents_are_answered_alike(writer, acme, rival):
    deleted, foreign = make_agent(acme), make_agent(rival)
    writer.delete(f"agents/{deleted.pk}")
    bodies = []
    for pk in (deleted.pk, foreign.pk, 10**17):
        answer = writer.get(f"agents/{pk}")
        assert (answer.status_code, answer.json()["code"]) == (404, "AGENT_NOT_FOUND")
        bodies.append({**answer.json(), "instance": None})
    assert bodies[0] == bodies[1] == bodies[2]


def test_delete_frees_the_name_drops_the_rows_and_keeps_the_history(writer, acme):
    agent = make_agent(acme, name="ops", rows=["a", "b"])
    assert writer.delete(f"agents/{agent.pk}").status_code == 204
    assert writer.delete(f"agents/{agent.pk}").status_code == 404
    assert not Experience.objects.exists()
    assert AgentVersion.objects.filter(agent_id=agent.pk).exists()
    assert list(Receipt.objects.filter(agent_id=agent.pk).values_list("agent_name", flat=True)) == [
        "ops",
        "ops",
    ]
    assert writer.post("agents", {**AGENT, "name": "OPS"}).status_code == 201
    assert verify_chain(acme).intact


def test_the_default_agent_cannot_be_deleted_and_there_is_one(writer, acme):
    first, second = make_agent(acme, is_default=True), make_agent(acme)
    answer = writer.delete(f"agents/{first.pk}")
    assert (answer.status_code, answer.json()["code"]) == (409, "AGENT_DEFAULT_UNDELETABLE")
    assert writer.patch(f"agents/{second.pk}", {"is_default": True}).status_code == 200
    assert list(Agent.objects.filter(is_default=True)) == [second]
    first.refresh_from_db()
    assert first.version == 2, "the agent that lost the flag has a version of its own"
    assert writer.delete(f"agents/{first.pk}").status_code == 204


def test_a_copy_has_equal_contents_new_ids_and_nothing_of_its_own_yet(writer, acme):
    source = make_agent(
        acme,
        name="ops",
        is_default=True,
        tags=["t"],
        skill_names=["s"],
        description="d",
        rows=["one", ("two", False), "three"],
        documents=[("principles.md", "# 绝不做\n\n删库\n"), ("users/u1/profile.md", "likes tea")],
    )
    names = [writer.post(f"agents/{source.pk}/copy").json()["name"] for _ in range(3)]
    assert names == ["ops - 副本", "ops - 副本 2", "ops - 副本 3"]
    copy = writer.get(f"agents?name={names[0]}").json()["results"][0]
    original = writer.get(f"agents/{source.pk}").json()
    same = ("system_prompt", "description", "tags", "skill_names", "language")
    assert {name: copy[name] for name in same} == {name: original[name] for name in same}
    rows = [[(row["content"], row["enabled"]) for row in body["experiences"]] for body in (copy, original)]
    assert rows[0] == rows[1]
    assert not {row["id"] for row in copy["experiences"]} & {row["id"] for row in original["experiences"]}
    assert (copy["is_default"], copy["version"], copy["owner"]) == (False, 1, None)
    documents = writer.get(f"agents/{copy['id']}/documents").json()["results"]
    assert [(row["path"], row["version"]) for row in documents] == [("principles.md", 1)]


@pytest.mark.parametrize("size", [94, 95, 96, 100])
def test_the_name_of_a_copy_fits(writer, acme, size):
    source = make_agent(acme, name="字" * size)
    assert writer.post(f"agents/{source.pk}/copy").json()["name"] == "字" * min(size, 95) + " - 副本"


def test_a_shared_agent_is_read_by_all_changed_by_none_and_copied_home(writer, acme, global_company):
    shared = make_agent(global_company, name="shared", rows=["a"], documents=[("principles.md", "# 准则\n")])
    row = shared.experiences.get()
    assert writer.get(f"agents/{shared.pk}").json()["company"] == "_global"
    assert shared.pk in [body["id"] for body in writer.get("agents").json()["results"]]
    for verb, path, body in [
        ("PUT", f"agents/{shared.pk}", AGENT),
        ("PATCH", f"agents/{shared.pk}", {"description": "mine"}),
        ("DELETE", f"agents/{shared.pk}", None),
        ("POST", f"agents/{shared.pk}/experiences", {"content": "x"}),
        ("PATCH", f"agents/{shared.pk}/experiences/{row.pk}", {"content": "x"}),
        ("DELETE", f"agents/{shared.pk}/experiences/{row.pk}", None),
        ("PUT", f"agents/{shared.pk}/documents", {"path": "principles.md", "text": "x"}),
    ]:
        answer = writer.request(verb, path, body)
        assert (answer.status_code, answer.json()["code"]) == (403, "COMPANY_FORBIDDEN"), (verb, path)
    shared.refresh_from_db()
    assert (shared.version, shared.experiences.get().content) == (1, "a")
    copy = writer.post(f"agents/{shared.pk}/copy")
    assert (copy.status_code, copy.json()["company"]) == (201, "acme")
    assert Document.objects.get(agent_id=copy.json()["id"]).company == acme
    home = ApiClient(make_key(global_company, scopes=["read", "agents:write"]))
    assert home.patch(f"agents/{shared.pk}", {"description": "ours"}).status_code == 200


def test_a_key_of_one_agent_works_for_this_agent_only(acme):
    mine, other = make_agent(acme, rows=["a"]), make_agent(acme)
    key = ApiClient(make_key(acme, scopes=["read", "agents:write"], agent_id=mine.pk))
    assert [row["id"] for row in key.get("agents").json()["results"]] == [mine.pk]
    assert key.get("me").json()["agent"] == mine.pk
    assert key.get(f"agents/{other.pk}").status_code == 404
    assert key.patch(f"agents/{other.pk}", {"description": "x"}).status_code == 404
    assert key.patch(f"agents/{mine.pk}", {"description": "x"}).status_code == 200
    for path in ("agents", f"agents/{mine.pk}/copy"):
        answer = key.post(path, AGENT)
        assert (answer.status_code, answer.json()["code"]) == (403, "SCOPE_MISSING")
    assert key.get("receipts/verify").status_code == 403
    listed = key.get("receipts").json()["results"]
    assert {row["agent"] for row in listed} == {mine.pk}


def test_the_export_holds_agent_rows_and_body_documents(reader, acme):
    agent = make_agent(
        acme,
        name="ops",
        rows=["a", ("b", False)],
        documents=[("principles.md", "x\r\n"), ("users/u1/profile.md", "private")],
    )
    body = reader.get(f"agents/{agent.pk}/export").json()
    assert body["agent"]["name"] == "ops"
    assert [(row["content"], row["enabled"]) for row in body["experiences"]] == [("a", True), ("b", False)]
    assert body["documents"] == [{"path": "principles.md", "text": "x\r\n"}]

"""Agents over REST: the golden rows of the nested and the single path."""

import pytest

from agents.models import Agent, AgentVersion
from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from tests.factories import make_agent

pytestmark = pytest.mark.django_db


def rows_of(answer):
    return [(row["content"], row["sort_order"], row["enabled"]) for row in answer["experiences"]]


def test_an_agent_is_created_with_rows_in_order_and_leaves_a_version_and_a_receipt(writer, acme):
    answer = writer.post(
        "agents",
        {
            "name": "运维",
            "systemPrompt": "你是运维助手。",
            "experiences": [{"content": " 先查日志 "}, {"content": "再重启", "enabled": False}],
        },
    )
    assert answer.status_code == 201, answer.content.decode()
    body = answer.json()
    assert rows_of(body) == [("先查日志", 0, True), ("再重启", 1, False)]
    assert answer["ETag"] == '"1"'
    assert AgentVersion.objects.get(agent_id=body["id"]).number == 1
    assert Receipt.objects.get(agent_id=body["id"], trigger="agent_created").agent_name == "运维"
    assert verify_chain(acme).intact


def test_put_updates_known_rows_adds_new_ones_and_deletes_the_rest(writer, acme):
    agent = make_agent(acme, rows=["one", "two"])
    first, second = agent.experiences.order_by("order")
    answer = writer.put(
        f"agents/{agent.pk}",
        {
            "name": agent.name,
            "system_prompt": "x",
            "experiences": [{"id": first.pk, "content": "a"}, {"content": "b"}],
        },
    )
    assert answer.status_code == 200, answer.content.decode()
    assert rows_of(answer.json()) == [("a", 0, True), ("b", 1, True)]
    assert answer.json()["experiences"][0]["id"] == first.pk
    assert not agent.experiences.filter(pk=second.pk).exists()


@pytest.mark.parametrize(
    ("sent", "left"), [({}, 2), ({"experiences": None}, 2), ({"experiences": []}, 0)]
)
def test_absent_and_null_rows_stay_and_an_empty_list_clears(writer, acme, sent, left):
    agent = make_agent(acme, rows=["one", "two"])
    answer = writer.put(f"agents/{agent.pk}", {"name": agent.name, "system_prompt": "x", **sent})
    assert answer.status_code == 200
    assert agent.experiences.count() == left


def test_a_row_of_another_agent_is_refused_and_nothing_changes(writer, acme):
    mine, other = make_agent(acme, rows=["mine"]), make_agent(acme, rows=["other"])
    foreign = other.experiences.get()
    answer = writer.put(
        f"agents/{mine.pk}",
        {"name": "renamed", "system_prompt": "x", "experiences": [{"id": foreign.pk, "content": "x"}]},
    )
    assert answer.status_code == 400
    problem = answer.json()
    assert problem["code"] == "AGENT_EXPERIENCE_ID_INVALID"
    assert problem["errors"][0]["pointer"] == "/experiences/0/id"
    assert str(foreign.pk) in problem["errors"][0]["detail"]
    assert Agent.objects.get(pk=mine.pk).name == mine.name
    assert [row.content for row in mine.experiences.all()] == ["mine"]
    assert [row.content for row in other.experiences.all()] == ["other"]

"""The nested list `experiences` of an agent: the golden rows of the main path, over REST."""

import pytest

from agents.models import Agent, AgentVersion
from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from experiences.models import Experience
from experiences.rules import MAX_ROWS_AT_ONCE
from tests.factories import make_agent

pytestmark = pytest.mark.django_db


def rows_of(answer):
    return [(row["content"], row["sort_order"], row["enabled"]) for row in answer.json()["experiences"]]


def contents(agent):
    return list(Experience.objects.of_agent(agent.pk).values_list("content", "order", "enabled"))


def put(client, agent, **fields):
    body = {"name": agent.name, "system_prompt": agent.system_prompt, **fields}
    return client.put(f"agents/{agent.pk}", body)


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
    assert rows_of(answer) == [("先查日志", 0, True), ("再重启", 1, False)]
    assert answer["ETag"] == '"1"'
    pk = answer.json()["id"]
    assert AgentVersion.objects.get(agent_id=pk).number == 1
    assert Receipt.objects.get(agent_id=pk, trigger="agent_created").agent_name == "运维"
    assert verify_chain(acme).intact


def test_put_updates_known_rows_adds_new_ones_and_deletes_the_rest(writer, acme):
    agent = make_agent(acme, rows=["one", "two"])
    first, second = Experience.objects.of_agent(agent.pk)
    answer = put(writer, agent, experiences=[{"id": first.pk, "content": "a"}, {"content": "b"}])
    assert answer.status_code == 200, answer.content.decode()
    assert rows_of(answer) == [("a", 0, True), ("b", 1, True)]
    assert answer.json()["experiences"][0]["id"] == first.pk
    assert not Experience.objects.filter(pk=second.pk).exists()


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize(("sent", "left"), [({}, 2), ({"experiences": None}, 2), ({"experiences": []}, 0)])
def test_absent_and_null_rows_stay_and_an_empty_list_clears(writer, acme, method, sent, left):
    agent = make_agent(acme, rows=["one", "two"])
    body = {"name": agent.name, "system_prompt": "x", **sent}
    assert writer.request(method, f"agents/{agent.pk}", body).status_code == 200
    assert agent.experiences.count() == left


@pytest.mark.parametrize("name", ["tags", "skill_names"])
def test_absent_and_null_lists_stay_and_an_empty_list_clears(writer, acme, name):
    agent = make_agent(acme, **{name: ["一", "two"]})
    assert put(writer, agent).json()[name] == ["一", "two"]
    assert put(writer, agent, **{name: None}).json()[name] == ["一", "two"]
    assert put(writer, agent, **{name: []}).json()[name] == []


def test_swapping_two_rows_keeps_both(writer, acme):
    agent = make_agent(acme, rows=["one", "two"])
    first, second = Experience.objects.of_agent(agent.pk)
    swapped = [{"id": second.pk, "content": "two"}, {"id": first.pk, "content": "one"}]
    answer = put(writer, agent, experiences=swapped)
    assert answer.status_code == 200
    assert rows_of(answer) == [("two", 0, True), ("one", 1, True)]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("a", None), ("b", None), ("c", None)], "abc"),
        ([("a", 2), ("b", 1), ("c", 0)], "cba"),
        ([("a", 5), ("b", None), ("c", None)], "bca"),
        ([("a", 1), ("b", 1), ("c", 1)], "abc"),
        ([("a", 7), ("b", 7), ("c", 0)], "cab"),
        ([("a", -3), ("b", None), ("c", -9)], "cab"),
        ([("甲", 2147483647), ("乙", -2147483648), ("丙", None)], "乙丙甲"),
    ],
)
def test_the_wanted_position_decides_and_ties_keep_the_order_of_the_list(writer, acme, rows, expected):
    agent = make_agent(acme)
    sent = [{"content": content, "sortOrder": order} for content, order in rows]
    answer = put(writer, agent, experiences=sent)
    assert "".join(row["content"] for row in answer.json()["experiences"]) == expected
    assert [row["sort_order"] for row in answer.json()["experiences"]] == [0, 1, 2]


def test_a_known_row_keeps_its_switch_and_its_text_unless_told_otherwise(writer, acme):
    agent = make_agent(acme, rows=[("off", False), "on"])
    off, on = Experience.objects.of_agent(agent.pk)
    sent = [{"id": on.pk}, {"id": off.pk, "content": "still off", "enabled": None}]
    assert put(writer, agent, experiences=sent).status_code == 200
    assert contents(agent) == [("on", 0, True), ("still off", 1, False)]


def refused(answer, code):
    assert answer.status_code == 400, answer.content.decode()
    problem = answer.json()
    assert problem["code"] == code
    return {fault["pointer"]: fault for fault in problem["errors"]}


def test_a_row_of_another_agent_is_refused_and_nothing_changes(writer, acme):
    mine, other = make_agent(acme, rows=["mine"]), make_agent(acme, rows=["other"])
    foreign = other.experiences.get()
    answer = writer.put(
        f"agents/{mine.pk}",
        {"name": "renamed", "system_prompt": "x", "experiences": [{"id": foreign.pk, "content": "x"}]},
    )
    fault = refused(answer, "AGENT_EXPERIENCE_ID_INVALID")["/experiences/0/id"]
    assert str(foreign.pk) in fault["detail"]
    assert Agent.objects.get(pk=mine.pk).name == mine.name
    assert contents(mine) == [("mine", 0, True)]
    assert contents(other) == [("other", 0, True)]


@pytest.mark.parametrize("bad", [0, -1, 10**15, 2**63 - 1, 1.5, True, "1", "", [], {}, {"id": 1}])
def test_an_id_that_is_no_row_of_the_agent_is_refused_whatever_it_is(writer, acme, bad):
    agent = make_agent(acme, rows=["one"])
    answer = put(writer, agent, experiences=[{"content": "a"}, {"id": bad, "content": "b"}])
    assert set(refused(answer, "AGENT_EXPERIENCE_ID_INVALID")) == {"/experiences/1/id"}
    assert contents(agent) == [("one", 0, True)]


def test_true_is_not_the_row_number_one(writer, acme):
    """To Python `true` and 1.0 equal 1, so a check by equality would let them through."""
    agent = make_agent(acme)
    Experience.objects.create(pk=1, agent=agent, content="one", order=0)
    for bad in (True, 1.0):
        answer = put(writer, agent, experiences=[{"id": bad, "content": "x"}])
        refused(answer, "AGENT_EXPERIENCE_ID_INVALID")


def test_an_id_named_twice_is_refused(writer, acme):
    agent = make_agent(acme, rows=["one"])
    row = agent.experiences.get()
    answer = put(writer, agent, experiences=[{"id": row.pk, "content": "a"}, {"id": row.pk, "content": "b"}])
    assert set(refused(answer, "AGENT_EXPERIENCE_ID_INVALID")) == {"/experiences/1/id"}
    assert contents(agent) == [("one", 0, True)]


def test_any_id_in_a_create_is_refused(writer, acme):
    row = make_agent(acme, rows=["one"]).experiences.get()
    sent = {"name": "new", "system_prompt": "x", "experiences": [{"id": row.pk, "content": "a"}]}
    refused(writer.post("agents", sent), "AGENT_EXPERIENCE_ID_INVALID")
    assert not Agent.objects.filter(name="new").exists()


def test_one_bad_row_of_two_changes_nothing_not_even_the_name(writer, acme):
    agent = make_agent(acme, rows=["one"])
    sent = {
        "name": "renamed",
        "system_prompt": "x",
        "experiences": [{"content": "fine"}, {"content": "字" * 301}],
    }
    answer = writer.put(f"agents/{agent.pk}", sent)
    fault = refused(answer, "AGENT_EXPERIENCE_CONTENT_INVALID")["/experiences/1/content"]
    assert all(number in fault["detail"] for number in ("300", "301", "1"))
    agent.refresh_from_db()
    assert agent.name != "renamed"
    assert agent.version == 1
    assert contents(agent) == [("one", 0, True)]


def test_every_bad_row_is_named(writer, acme):
    rows = [{"content": ""}, {"content": "fine"}, {"content": 7}, {}, {"content": None}]
    answer = put(writer, make_agent(acme), experiences=rows)
    faults = refused(answer, "AGENT_EXPERIENCE_CONTENT_INVALID")
    assert sorted(faults) == [f"/experiences/{index}/content" for index in (0, 2, 3, 4)]


@pytest.mark.parametrize(
    ("rows", "pointer"),
    [
        ("none", "/experiences"),
        ({"0": {"content": "a"}}, "/experiences"),
        ([{"content": "a", "enabled": "maybe"}], "/experiences/0/enabled"),
        ([{"content": "a", "enabled": 1}], "/experiences/0/enabled"),
        ([{"content": "a"}, {"content": "b", "sort_order": "first"}], "/experiences/1/sort_order"),
        ([{"content": "a", "sort_order": 2**31}], "/experiences/0/sort_order"),
        ([{"content": "a", "sort_order": 1.5}], "/experiences/0/sort_order"),
        ([{"content": "a", "sort_order": True}], "/experiences/0/sort_order"),
        (["text"], "/experiences/0"),
        ([None], "/experiences/0"),
        ([[]], "/experiences/0"),
    ],
)
def test_a_row_of_the_wrong_shape_is_named_by_its_pointer(writer, acme, rows, pointer):
    agent = make_agent(acme, rows=["one"])
    faults = refused(put(writer, agent, experiences=rows), "VALIDATION_ERROR")
    assert list(faults) == [pointer]
    assert contents(agent) == [("one", 0, True)]


def test_150_rows_go_at_once_with_the_list_and_with_the_agent(writer, acme):
    rows = [f"经验 {number}" for number in range(150)]
    cleared, deleted = make_agent(acme, rows=rows), make_agent(acme, rows=rows)
    assert put(writer, cleared, experiences=[]).json()["experience_count"] == 0
    assert writer.delete(f"agents/{deleted.pk}").status_code == 204
    assert Experience.objects.count() == 0
    receipt = Receipt.objects.get(trigger="agent_deleted")
    assert receipt.detail["experiences_deleted"] == 150


def test_too_many_rows_are_refused_before_any_is_looked_at(writer, acme):
    rows = [{"content": 7}] * (MAX_ROWS_AT_ONCE + 3)
    answer = put(writer, make_agent(acme), experiences=rows)
    fault = refused(answer, "VALIDATION_ERROR")["/experiences"]
    assert all(text in fault["detail"] for text in (str(MAX_ROWS_AT_ONCE), str(MAX_ROWS_AT_ONCE + 3), "3"))
    assert answer.json()["limit"] == MAX_ROWS_AT_ONCE


def test_equal_texts_are_kept_side_by_side(writer, acme):
    answer = put(writer, make_agent(acme), experiences=[{"content": "same"}, {"content": "same"}])
    assert rows_of(answer) == [("same", 0, True), ("same", 1, True)]


def test_a_put_that_changes_nothing_adds_no_version_and_no_receipt(writer, acme):
    agent = make_agent(acme, rows=["one"])
    row = agent.experiences.get()
    before = Receipt.objects.count()
    answer = put(writer, agent, experiences=[{"id": row.pk, "content": " one\r\n"}])
    assert answer["ETag"] == '"1"'
    assert Receipt.objects.count() == before
    assert AgentVersion.objects.filter(agent=agent).count() == 1

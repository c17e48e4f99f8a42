"""The history of an agent over REST: versions, diff, restore."""

import pytest

from agents.models import AgentVersion
from common.receipts.models import Receipt
from experiences.models import Experience
from tests.factories import make_agent

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(acme):
    return make_agent(acme, name="ops", rows=["a", ("b", False), "c", "d"])


@pytest.fixture
def staff(signed_in, operator):
    """An Editor of acme who calls the API with the session of the admin."""
    client = signed_in(operator)
    client.get("/admin/login/")

    def post(path, body=None):
        return client.post(f"/api/v1/{path}?company=acme", body or {}, content_type="application/json")

    return post


def rows(agent):
    return list(Experience.objects.of_agent(agent.pk).values_list("pk", "content", "order", "enabled"))


def test_every_change_is_a_version_newest_first_with_author_and_message(writer, reader, agent):
    writer.patch(f"agents/{agent.pk}", {"description": "d", "message": "因为 why"})
    writer.post(f"agents/{agent.pk}/experiences", {"content": "e"})
    listed = reader.get(f"agents/{agent.pk}/versions").json()
    assert [row["number"] for row in listed["results"]] == [3, 2, 1]
    assert "snapshot" not in listed["results"][0]
    second = reader.get(f"agents/{agent.pk}/versions/2").json()
    assert (second["message"], second["source"]) == ("因为 why", "api")
    assert second["author"].startswith("key:")
    assert second["snapshot"]["settings"]["description"] == "d"
    assert [row["content"] for row in second["snapshot"]["rows"]] == ["a", "b", "c", "d"]


def test_the_number_of_the_last_version_is_the_version_of_the_agent(writer, agent):
    body = writer.patch(f"agents/{agent.pk}", {"tags": ["x"]}).json()
    assert body["version"] == AgentVersion.objects.filter(agent=agent).count() == 2


def test_a_diff_names_role_settings_rows_and_moves_as_moves(writer, reader, agent):
    (a, *_), (b, *_), (c, *_), (d, *_) = rows(agent)
    sent = {
        "name": "ops",
        "system_prompt": "你是发布助手。",
        "description": "new",
        "experiences": [{"id": d}, {"id": a, "content": "A"}, {"id": b, "enabled": True}, {"content": "e"}],
    }
    assert writer.put(f"agents/{agent.pk}", sent).status_code == 200
    diff = reader.get(f"agents/{agent.pk}/versions/diff?from=1&to=2").json()
    assert "-你是运维助手。" in diff["role"]
    assert "+你是发布助手。" in diff["role"]
    assert diff["settings"] == [{"name": "description", "old": "", "new": "new"}]
    kinds = {(row["kind"], row["id"]) for row in diff["rows"] if row["kind"] != "added"}
    assert kinds == {("removed", c), ("moved", d), ("changed", a), ("switched", b)}
    assert [row["new"] for row in diff["rows"] if row["kind"] == "added"] == ["e"]
    move = next(row for row in diff["rows"] if row["kind"] == "moved")
    assert (move["old_position"], move["new_position"]) == (3, 0)


def test_a_diff_shows_documents_by_path_also_in_camel_case(writer, agent):
    writer.put(f"agents/{agent.pk}/documents", {"path": "memory/my_notes.md", "text": "x"})
    diff = writer.get(
        f"agents/{agent.pk}/versions/diff?from=1&to=2", accept="application/vnd.result+json"
    ).json()["data"]
    assert [row["path"] for row in diff["documents"]] == ["memory/my_notes.md"]
    assert diff["documents"][0]["old"] is None
    assert diff["documents"][0]["new"]["version"] == 1


@pytest.mark.parametrize(
    "query", ["", "from=1", "from=1&to=x", "from=²&to=1", "from=-1&to=1", "from=1&to=1.0"]
)
def test_a_diff_needs_two_numbers(reader, agent, query):
    assert reader.get(f"agents/{agent.pk}/versions/diff?{query}").status_code == 400


@pytest.mark.parametrize("number", [0, 9, 10**17])
def test_an_unknown_version_is_not_found(reader, staff, agent, number):
    assert reader.get(f"agents/{agent.pk}/versions/{number}").status_code == 404
    assert reader.get(f"agents/{agent.pk}/versions/diff?from=1&to={number}").status_code == 404


def test_restore_brings_rows_back_under_their_ids_with_content_order_and_switch(writer, staff, agent):
    before = rows(agent)
    writer.put(
        f"agents/{agent.pk}",
        {
            "name": "renamed",
            "system_prompt": "other",
            "experiences": [{"id": before[2][0], "content": "C"}, {"content": "new"}],
        },
    )
    answer = staff(f"agents/{agent.pk}/versions/1/restore", {"message": "zurück"})
    assert answer.status_code == 200, answer.content.decode()
    assert rows(agent) == before
    body = answer.json()
    assert (body["name"], body["system_prompt"], body["version"]) == ("ops", "你是运维助手。", 3)
    last = AgentVersion.objects.filter(agent=agent).latest("number")
    assert (last.source, last.author, last.message) == ("restore", "operator", "zurück")
    assert Receipt.objects.filter(agent_id=agent.pk, trigger="agent_restored").count() == 1


def test_new_rows_after_a_restore_get_new_ids(writer, staff, agent):
    writer.put(f"agents/{agent.pk}", {"name": "ops", "system_prompt": "x", "experiences": []})
    staff(f"agents/{agent.pk}/versions/1/restore")
    answer = writer.post(f"agents/{agent.pk}/experiences", {"content": "e"})
    assert answer.status_code == 201
    assert answer.json()["id"] > max(pk for pk, *_ in rows(agent)[:-1])


def test_restoring_what_is_there_adds_nothing(staff, agent):
    assert staff(f"agents/{agent.pk}/versions/1/restore").json()["version"] == 1


def test_restore_leaves_the_default_flag_where_it_is(writer, staff, acme, agent):
    writer.patch(f"agents/{agent.pk}", {"is_default": True})
    assert staff(f"agents/{agent.pk}/versions/1/restore").json()["is_default"] is True


def test_a_name_that_was_taken_since_is_not_restored_over_it(writer, staff, acme, agent):
    writer.patch(f"agents/{agent.pk}", {"name": "other"})
    make_agent(acme, name="ops")
    answer = staff(f"agents/{agent.pk}/versions/1/restore")
    assert answer.json()["code"] == "AGENT_NAME_TAKEN"
    assert len(rows(agent)) == 4


def test_no_key_restores(writer, agent):
    answer = writer.post(f"agents/{agent.pk}/versions/1/restore")
    assert (answer.status_code, answer.json()["code"]) == (403, "SCOPE_MISSING")


def test_a_viewer_may_not_restore(signed_in, viewer, agent):
    client = signed_in(viewer)
    answer = client.post(f"/api/v1/agents/{agent.pk}/versions/1/restore?company=acme")
    assert (answer.status_code, answer.json()["code"]) == (403, "PERMISSION_DENIED")

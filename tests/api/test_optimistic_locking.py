"""ETag and If-Match on agents: a write that names an old version is refused, with the version there is now."""

import pytest

from experiences.models import Experience
from tests.factories import make_agent

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(acme):
    return make_agent(acme, rows=["a", "b"])


def writes(agent):
    """Every write on an existing agent: verb, path, body."""
    row = Experience.objects.of_agent(agent.pk).first()
    full = {"name": agent.name, "system_prompt": "new", "experiences": []}
    return {
        "PUT": ("PUT", f"agents/{agent.pk}", full),
        "PATCH": ("PATCH", f"agents/{agent.pk}", {"description": "new"}),
        "DELETE": ("DELETE", f"agents/{agent.pk}", None),
        "POST row": ("POST", f"agents/{agent.pk}/experiences", {"content": "new"}),
        "PUT row": ("PUT", f"agents/{agent.pk}/experiences/{row.pk}", {"content": "new"}),
        "PATCH row": ("PATCH", f"agents/{agent.pk}/experiences/{row.pk}", {"sort_order": 1}),
        "DELETE row": ("DELETE", f"agents/{agent.pk}/experiences/{row.pk}", None),
    }


WRITES = ["PUT", "PATCH", "DELETE", "POST row", "PUT row", "PATCH row", "DELETE row"]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(
    "stale", ['"1"', '"0"', '"3"', '"x"', "2", "", '"2', 'W/"1"', '"99999999999999999999"']
)
def test_a_write_on_an_old_version_is_refused_and_changes_nothing(writer, agent, write, stale):
    writer.patch(f"agents/{agent.pk}", {"description": "someone else"})
    before = writer.get(f"agents/{agent.pk}").json()
    verb, path, body = writes(agent)[write]
    answer = writer.request(verb, path, body, **{"if-match": stale})
    assert answer.status_code == 412, answer.content.decode()
    problem = answer.json()
    assert (problem["code"], problem["current_version"]) == ("VERSION_MISMATCH", 2)
    assert problem["changed_by"].startswith("key:")
    assert problem["changed_at"]
    assert writer.get(f"agents/{agent.pk}").json() == before


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("current", ['"1"', 'W/"1"', '"0", "1"', "*", None])
def test_a_write_on_the_current_version_passes(writer, agent, write, current):
    verb, path, body = writes(agent)[write]
    headers = {} if current is None else {"if-match": current}
    assert writer.request(verb, path, body, **headers).status_code < 300


@pytest.mark.parametrize("write", WRITES)
def test_where_the_setting_asks_for_it_a_write_without_a_version_is_refused(writer, agent, write, settings):
    settings.REQUIRE_IF_MATCH = True
    verb, path, body = writes(agent)[write]
    answer = writer.request(verb, path, body)
    assert (answer.status_code, answer.json()["code"]) == (428, "PRECONDITION_REQUIRED")
    assert writer.request(verb, path, body, **{"if-match": '"1"'}).status_code < 300


def test_what_makes_a_new_row_needs_no_version(writer, agent, settings):
    settings.REQUIRE_IF_MATCH = True
    assert writer.post("agents", {"name": "n", "system_prompt": "x"}).status_code == 201
    assert writer.post(f"agents/{agent.pk}/copy").status_code == 201
    assert writer.get(f"agents/{agent.pk}").status_code == 200


def test_a_document_names_its_version_in_the_body_or_in_the_header(writer, agent, settings):
    settings.REQUIRE_IF_MATCH = True
    path, body = f"agents/{agent.pk}/documents", {"path": "memory/a.md", "text": "x"}
    assert writer.put(path, body).status_code == 428
    assert writer.put(path, {**body, "base_version": 0}).status_code == 201
    assert writer.put(path, {**body, "text": "y"}, **{"if-match": '"1"'}).status_code == 200


def test_each_answer_names_the_version_to_send_next(writer, agent):
    row = Experience.objects.of_agent(agent.pk).first()
    tag = writer.get(f"agents/{agent.pk}")["ETag"]
    for verb, path, body in [
        ("PATCH", f"agents/{agent.pk}", {"description": "new"}),
        ("POST", f"agents/{agent.pk}/experiences", {"content": "c"}),
        ("PATCH", f"agents/{agent.pk}/experiences/{row.pk}", {"content": "A"}),
        ("DELETE", f"agents/{agent.pk}/experiences/{row.pk}", None),
    ]:
        answer = writer.request(verb, path, body, **{"if-match": tag})
        assert answer.status_code < 300, answer.content.decode()
        assert answer["ETag"] != tag
        tag = answer["ETag"]
    assert (
        tag
        == writer.get(f"agents/{agent.pk}")["ETag"]
        == writer.get(f"agents/{agent.pk}/experiences")["ETag"]
    )

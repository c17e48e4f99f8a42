"""Copy, switch, export and delete one agent: asked first, done once, by POST."""

import pytest
from django.contrib.auth.models import Permission

from agents.models import Agent, AgentVersion
from common.receipts.models import Receipt
from experiences.models import Experience
from tests import factories
from tests.admin.agent_forms import agent_page, form_of, said, send, stored

YES = {"confirmed": "yes"}


@pytest.fixture
def agent(acme):
    return factories.make_agent(
        acme, "运维助手", rows=["一", ("二", False)], documents=[("persona.md", "# L0\r\nx")], tags=["ops"]
    )


def verb(agent, name):
    return agent_page(agent).replace("change", name)


@pytest.mark.parametrize("name", ["copy", "switch", "delete", "export", "history", "history/1/restore"])
def test_looking_changes_nothing(signed_in, chief, agent, name):
    client = signed_in(chief)
    before = stored()
    assert client.get(verb(agent, name)).status_code == 200
    assert stored() == before


@pytest.mark.parametrize("name", ["copy", "switch", "delete", "history/1/restore"])
def test_an_unconfirmed_post_changes_nothing(signed_in, chief, agent, name):
    client = signed_in(chief)
    before = stored()
    assert client.post(verb(agent, name), {"company": "acme"}).status_code == 200
    assert stored() == before


def test_a_copy_opens_after_it_was_made(signed_in, operator, agent):
    response = signed_in(operator).post(verb(agent, "copy"), {**YES, "company": "acme"})
    copy = Agent.objects.get(name="运维助手 - 副本")
    assert response["Location"] == agent_page(copy)
    assert list(copy.experiences.values_list("content", "enabled")) == [("一", True), ("二", False)]
    assert copy.documents.get().path == "persona.md"


def test_a_page_that_was_clicked_twice_switches_once(signed_in, operator, agent):
    client = signed_in(operator)
    assert 'name="enabled" value="no"' in client.get(verb(agent, "switch")).content.decode()
    for _click in range(2):
        client.post(verb(agent, "switch"), {**YES, "enabled": "no"})
    agent.refresh_from_db()
    assert (agent.enabled, agent.version) == (False, 2)


def test_a_deleted_agent_is_gone_with_its_rows_and_leaves_a_receipt(signed_in, administrator, agent):
    client = signed_in(administrator)
    assert "Its 2 experiences are deleted" in client.get(verb(agent, "delete")).content.decode()
    client.post(verb(agent, "delete"), YES)
    assert not Experience.objects.exists()
    assert Receipt.objects.get(trigger="agent_deleted").agent_name == "运维助手"
    assert client.get(agent_page(agent)).status_code == 404
    assert factories.make_agent(agent.company, "运维助手").pk != agent.pk


def test_the_default_agent_stays_and_says_why(signed_in, administrator, acme):
    agent = factories.make_agent(acme, is_default=True)
    client = signed_in(administrator)
    before = stored()
    response = client.post(verb(agent, "delete"), YES)
    assert response["Location"] == agent_page(agent)
    assert "make another agent the default first" in said(response)
    assert stored() == before


def test_djangos_own_word_for_yes_deletes_as_well(signed_in, administrator, agent):
    signed_in(administrator).post(verb(agent, "delete"), {"post": "yes"})
    assert not Agent.objects.live().exists()


def test_the_export_of_one_agent_has_all_of_it(signed_in, viewer, agent):
    response = signed_in(viewer).get(verb(agent, "export"))
    assert "attachment" in response["Content-Disposition"]
    content = response.json()
    assert content["agent"]["name"] == "运维助手"
    assert [row["content"] for row in content["experiences"]] == ["一", "二"]
    assert content["documents"] == [{"path": "persona.md", "text": "# L0\r\nx"}]


def test_the_page_offers_what_the_person_may_do(signed_in, viewer, operator, administrator, agent):
    def offered(person):
        page = signed_in(person).get(agent_page(agent)).content.decode()
        return [name for name in ("copy", "switch", "delete", "export", "history") if f"{name}/" in page]

    assert offered(viewer) == ["export", "history"]
    assert offered(operator) == ["copy", "switch", "export", "history"]
    assert offered(administrator) == ["copy", "switch", "delete", "export", "history"]


def test_without_the_permission_to_switch_the_box_is_no_way_round(signed_in, operator, agent):
    operator.groups.clear()
    operator.user_permissions.set(Permission.objects.filter(codename__in=["view_agent", "change_agent"]))
    client = signed_in(operator)
    values = form_of(client.get(agent_page(agent)))
    assert "enabled" not in values
    send(client, agent_page(agent), values | {"description": "x"})
    agent.refresh_from_db()
    assert (agent.description, agent.enabled) == ("x", True)
    assert AgentVersion.objects.filter(agent=agent).count() == 2

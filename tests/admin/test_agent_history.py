"""The history of an agent: who, when, why; the difference of any two versions; one click back."""

import pytest

from agents.models import AgentVersion
from agents.services.agents import update_agent
from experiences.models import Experience
from experiences.rules import RowInput
from tests import factories
from tests.admin.agent_forms import agent_page, said, stored

HUGE = "9" * 30


@pytest.fixture
def agent(acme):
    agent = factories.make_agent(acme, "运维助手", system_prompt="第一行\n第二行", rows=["一", "二", "三"])
    one, two, three = agent.experiences.all()
    rows = [
        RowInput("三", id=three.pk),
        RowInput("一改", id=one.pk, enabled=False),
        RowInput("四"),
    ]
    edit = factories.an_edit(message="因为<b>x</b>")
    update_agent(
        agent_id=agent.pk, fields={"system_prompt": "第一行\n第二行改", "tags": ["ops"]}, rows=rows, edit=edit
    )
    agent.refresh_from_db()
    return agent


def page_of(agent, rest=""):
    return agent_page(agent).replace("change/", f"history/{rest}")


def contents(agent):
    return list(Experience.objects.of_agent(agent.pk).values_list("content", "enabled"))


def test_each_version_is_listed_with_who_and_why(signed_in, viewer, agent):
    page = signed_in(viewer).get(page_of(agent)).content.decode()
    assert "因为&lt;b&gt;x&lt;/b&gt;" in page
    assert page.index(">v2<") < page.index(">v1<")
    assert f"/admin/receipts/receipt/?agent__id__exact={agent.pk}" in page


def test_the_difference_shows_role_rows_and_settings(signed_in, viewer, agent):
    response = signed_in(viewer).get(page_of(agent, "compare/?from=1&to=2"))
    comparison = response.context["comparison"]
    kinds = [(row.kind, str(row.old), str(row.new)) for row in comparison.rows]
    assert ("removed", "二", "") in kinds
    assert ("added", "", "四") in kinds
    assert ("changed", "一", "一改") in kinds
    assert {row.kind for row in comparison.rows} == {"removed", "added", "changed", "switched", "moved"}
    assert any("<mark>" in str(row.new) for row in comparison.role)
    assert [value.name for value in comparison.settings] == ["tags"]


def test_two_versions_can_be_named_in_either_order(signed_in, viewer, agent):
    client = signed_in(viewer)
    one = client.get(page_of(agent, "compare/?from=1&to=2")).context["comparison"]
    assert client.get(page_of(agent, "compare/?from=2&to=1")).context["comparison"] == one


@pytest.mark.parametrize(
    "query", ["", "?from=1", "?from=1&to=99", "?from=x&to=1", "?from=-1&to=1", f"?from=1&to={HUGE}"]
)
def test_a_comparison_of_nothing_is_not_found(signed_in, viewer, agent, query):
    assert signed_in(viewer).get(page_of(agent, f"compare/{query}")).status_code == 404


def restore(client, agent, number, **more):
    return client.post(page_of(agent, f"{number}/restore/"), {"confirmed": "yes", **more})


def test_a_version_comes_back_with_content_order_and_switches(signed_in, operator, agent):
    response = restore(signed_in(operator), agent, 1, base_version=2)
    assert "Version 1 is back, as version 3" in said(response)
    agent.refresh_from_db()
    assert (agent.system_prompt, agent.tags, agent.version) == ("第一行\n第二行", [], 3)
    assert contents(agent) == [("一", True), ("二", True), ("三", True)]
    assert AgentVersion.objects.get(agent=agent, number=3).source == "restore"


def test_before_a_restore_its_difference_is_shown(signed_in, operator, agent):
    page = signed_in(operator).get(page_of(agent, "1/restore/"))
    assert not page.context["comparison"].is_empty
    assert 'name="base_version" value="2"' in page.content.decode()


@pytest.mark.parametrize("version", ["1", "", "x"])
def test_a_stale_restore_changes_nothing(signed_in, operator, agent, version):
    client = signed_in(operator)
    before = stored()
    assert "in the meantime" in said(restore(client, agent, 1, base_version=version))
    assert stored() == before


def test_restoring_needs_its_own_permission(signed_in, viewer, operator, agent):
    assert restore(signed_in(viewer), agent, 1, base_version=2).status_code == 403
    assert "restore" not in signed_in(viewer).get(page_of(agent)).content.decode()
    assert "restore" in signed_in(operator).get(page_of(agent)).content.decode()
    assert agent.version == 2


def test_a_version_that_never_was_cannot_be_restored(signed_in, operator, agent):
    assert restore(signed_in(operator), agent, 9, base_version=2).status_code == 404


def test_a_long_history_is_paged_and_reads_no_snapshots(signed_in, viewer, acme, count_queries):
    short, long = factories.make_agent(acme), factories.make_agent(acme)
    for number in range(60):
        update_agent(agent_id=long.pk, fields={"description": f"d{number}"}, edit=factories.an_edit())
    client = signed_in(viewer)
    asked = [count_queries(lambda agent=agent: client.get(page_of(agent))) for agent in (short, long)]
    assert asked[0] == asked[1]
    page = client.get(page_of(long, "?p=2")).content.decode()
    assert "v11" in page
    assert "v12<" not in page

"""The list of agents: counts without a query a row, filters that leak no names, bulk verbs behind a confirmation."""

import pytest

from agents.models import Agent
from tests import factories
from tests.admin.agent_forms import said, stored

LIST = "/admin/agents/agent/"


def names(response):
    return [agent.name for agent in response.context["cl"].result_list]


def bulk(client, action, agents, **more):
    chosen = {"action": action, "_selected_action": [agent.pk for agent in agents]}
    return client.post(LIST, {**chosen, **more})


@pytest.fixture
def three(acme):
    return [
        factories.make_agent(acme, "a", rows=["1", "2", ("3", False)], tags=["ops"]),
        factories.make_agent(acme, "b", rows=["1"], tags=["ops2", "运维"], description="值班 on call"),
        factories.make_agent(acme, "c", enabled=False, tags=["100%"]),
    ]


def test_each_agent_is_listed_with_its_rows_counted(signed_in, viewer, three):
    page = signed_in(viewer).get(LIST)
    assert names(page) == ["a", "b", "c"]
    counts = [
        (agent.enabled_experience_count, agent.experience_count) for agent in page.context["cl"].result_list
    ]
    assert counts == [(2, 3), (1, 1), (0, 0)]
    assert "2/3" in page.content.decode()


def test_the_counts_can_be_sorted_by(signed_in, viewer, three):
    columns = signed_in(viewer).get(LIST).context["cl"].list_display
    place = columns.index("experience_counts")
    assert names(signed_in(viewer).get(f"{LIST}?o=-{place}")) == ["a", "b", "c"]
    assert names(signed_in(viewer).get(f"{LIST}?o={place}")) == ["c", "b", "a"]


def test_deleted_agents_are_not_listed(signed_in, viewer, three):
    Agent.objects.filter(name="b").update(deleted_at="2026-01-01T00:00:00Z")
    assert names(signed_in(viewer).get(LIST)) == ["a", "c"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("tag=ops", ["a"]),
        ("tag=运维", ["b"]),
        ("tag=100%25", ["c"]),
        ("tag=op", []),
        ("enabled__exact=0", ["c"]),
        ("q=值班", ["b"]),
        ("q=CALL", ["b"]),
        ("company=acme", ["a", "b", "c"]),
        ("company=_global", []),
        ("company=rival", []),
    ],
)
def test_the_list_can_be_narrowed(signed_in, viewer, rival, three, query, found):
    factories.make_agent(rival, "secret", tags=["ops"])
    assert names(signed_in(viewer).get(f"{LIST}?{query}")) == found


@pytest.mark.parametrize("query", ["tag=%00", "company=%00", "q=%00", "%00=1", "tag=a&tag=b%00"])
def test_a_nul_in_the_query_is_refused_and_not_passed_on(signed_in, viewer, query):
    assert signed_in(viewer).get(f"{LIST}?{query}").status_code == 400


def test_companies_of_others_are_not_even_named(signed_in, viewer, chief, rival, three):
    rival.name = "Unknown Customer"
    rival.save()
    assert "Unknown Customer" not in signed_in(viewer).get(LIST).content.decode()
    assert "Unknown Customer" in signed_in(chief).get(LIST).content.decode()


def test_shared_agents_are_listed_for_all(signed_in, viewer, global_company, rival):
    factories.make_agent(global_company, "shared")
    factories.make_agent(rival, "secret")
    assert names(signed_in(viewer).get(LIST)) == ["shared"]


def test_the_company_of_the_header_narrows_to_it_and_the_shared_ones(
    signed_in, chief, global_company, rival, three
):
    factories.make_agent(global_company, "shared")
    factories.make_agent(rival, "theirs")
    client = signed_in(chief)
    session = client.session
    session["company"] = "rival"
    session.save()
    assert names(client.get(LIST)) == ["shared", "theirs"]


def test_the_list_asks_the_database_as_often_for_many_agents_as_for_one(
    signed_in, viewer, acme, count_queries
):
    client = signed_in(viewer)
    asked = []
    for total in (1, 10, 40):
        while Agent.objects.count() < total:
            factories.make_agent(acme, rows=["x"], tags=["t"])
        asked.append(count_queries(lambda: client.get(LIST)))
    assert asked[0] == asked[1] == asked[2] <= 12


@pytest.mark.parametrize("action", ["copy_chosen", "enable_chosen", "disable_chosen"])
def test_a_bulk_verb_names_the_agents_first_and_does_nothing(signed_in, operator, three, action):
    client = signed_in(operator)
    before = stored()
    page = bulk(client, action, three[:2]).content.decode()
    assert "<li>a</li>" in page
    assert "<li>b</li>" in page
    assert "<li>c</li>" not in page
    assert stored() == before


def test_disabling_switches_the_chosen_ones(signed_in, operator, three):
    response = bulk(signed_in(operator), "disable_chosen", three[:2], confirmed="yes")
    assert "2 agents were disabled" in said(response)
    assert not Agent.objects.filter(enabled=True).exists()
    assert list(Agent.objects.values_list("version", flat=True)) == [2, 2, 1]


def test_enabling_switches_only_what_was_off(signed_in, operator, three):
    response = bulk(signed_in(operator), "enable_chosen", three, confirmed="yes")
    assert "1 agent was enabled" in said(response)


def test_copies_keep_rows_and_land_in_the_chosen_company(signed_in, chief, rival, three):
    bulk(signed_in(chief), "copy_chosen", three[:2], confirmed="yes", company="rival")
    copies = Agent.objects.filter(company=rival).order_by("name")
    assert [copy.name for copy in copies] == ["a - 副本", "b - 副本"]
    assert list(copies[0].experiences.values_list("content", "enabled")) == [
        ("1", True),
        ("2", True),
        ("3", False),
    ]


def test_copies_go_into_no_company_of_others(signed_in, operator, rival, three):
    client = signed_in(operator)
    before = stored()
    bulk(client, "copy_chosen", three[:1], confirmed="yes", company="rival")
    assert stored() == before


def test_a_shared_agent_can_be_copied_but_not_switched_by_others(signed_in, operator, global_company, acme):
    shared = factories.make_agent(global_company, "shared")
    assert bulk(signed_in(operator), "disable_chosen", [shared], confirmed="yes").status_code == 403
    bulk(signed_in(operator), "copy_chosen", [shared], confirmed="yes", company="acme")
    assert Agent.objects.get(company=acme).name == "shared - 副本"


@pytest.mark.parametrize("action", ["copy_chosen", "enable_chosen", "disable_chosen", "delete_selected"])
@pytest.mark.parametrize("person", ["viewer", "approver", "stranger"])
def test_who_has_no_permission_runs_no_verb(request, signed_in, three, action, person):
    client = signed_in(request.getfixturevalue(person))
    before = stored()
    bulk(client, action, three, confirmed="yes", post="yes", company="acme")
    assert stored() == before


def test_the_chosen_agents_come_as_one_file_that_can_be_imported(signed_in, viewer, three):
    response = bulk(signed_in(viewer), "export_chosen", three)
    assert response["Content-Disposition"] == 'attachment; filename="agents.json"'
    content = response.json()
    assert content["format"] == "fieldbook.agents"
    assert [agent["agent"]["name"] for agent in content["agents"]] == ["a", "b", "c"]

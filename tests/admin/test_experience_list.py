"""The list of all experience rows: bulk verbs close gaps and version agents; a row never changes its agent."""

import pytest

from agents.models import AgentVersion
from common.receipts.models import Receipt
from experiences.models import Experience
from tests import factories
from tests.admin.agent_forms import (
    agent_page,
    errors_of,
    form_of,
    row_page,
    said,
    save,
    send,
    stored,
    with_new_rows,
)

LIST = "/admin/experiences/experience/"
FORM = "experience_form"


@pytest.fixture
def agent(acme):
    return factories.make_agent(acme, "运维助手", rows=["r1", "r2", "r3", "r4", "r5"])


@pytest.fixture
def editor(signed_in, operator):
    return signed_in(operator)


def rows_of(agent):
    return list(Experience.objects.of_agent(agent.pk).values_list("content", "order"))


def bulk(client, action, rows, **more):
    return client.post(LIST, {"action": action, "_selected_action": [row.pk for row in rows], **more})


def pick(agent, *contents):
    return list(agent.experiences.filter(content__in=contents))


def shown(response):
    return [row.content for row in response.context["cl"].result_list]


@pytest.mark.parametrize("yes", [{"confirmed": "yes"}, {"post": "yes"}], ids=["ours", "Django's"])
def test_delete_selected_leaves_no_gap_and_the_next_row_is_last(editor, agent, yes):
    bulk(editor, "delete_selected", pick(agent, "r2", "r4"), **yes)
    assert rows_of(agent) == [("r1", 0), ("r3", 1), ("r5", 2)]
    send(editor, agent_page(agent), with_new_rows(form_of(editor.get(agent_page(agent))), "new"))
    assert rows_of(agent) == [("r1", 0), ("r3", 1), ("r5", 2), ("new", 3)]


def test_deleting_rows_whose_ids_are_out_of_order_keeps_the_sequence(editor, acme):
    agent = factories.make_agent(acme, rows=["pk1", "pk2", "pk3", "pk4"])
    one, two, three, four = agent.experiences.order_by("pk")
    for row, order in ((one, 1), (two, 0), (three, 2), (four, 3)):
        Experience.objects.filter(pk=row.pk).update(order=order)
    bulk(editor, "delete_selected", [one, two], confirmed="yes")
    assert rows_of(agent) == [("pk3", 0), ("pk4", 1)]


def test_a_bulk_verb_names_the_rows_and_waits(editor, agent):
    before = stored()
    for action in ("delete_selected", "enable_chosen", "disable_chosen"):
        page = bulk(editor, action, pick(agent, "r2", "r4")).content.decode()
        assert "<li>r2</li>" in page
        assert "<li>r4</li>" in page
        assert "<li>r1</li>" not in page
    assert stored() == before


def test_switching_rows_of_two_agents_versions_both(editor, acme, agent):
    other = factories.make_agent(acme, rows=["x", ("y", False)])
    response = bulk(editor, "disable_chosen", pick(agent, "r1") + pick(other, "x", "y"), confirmed="yes")
    assert "2 experiences were disabled" in said(response)
    assert AgentVersion.objects.filter(number=2).count() == 2
    assert Receipt.objects.filter(trigger="agent_changed").count() == 2
    bulk(editor, "enable_chosen", pick(other, "y"), confirmed="yes")
    assert other.experiences.get(content="y").enabled is True


def test_one_foreign_row_refuses_the_whole_verb(signed_in, chief, operator, acme, agent, global_company):
    shared = factories.make_agent(global_company, rows=["shared"])
    client = signed_in(operator)
    before = stored()
    for action in ("delete_selected", "disable_chosen"):
        chosen = pick(agent, "r1") + pick(shared, "shared")
        assert bulk(client, action, chosen, confirmed="yes").status_code == 403
    assert stored() == before


def test_rows_of_others_cannot_even_be_chosen(editor, rival, agent):
    foreign = factories.make_agent(rival, rows=["secret"])
    before = stored()
    page = bulk(editor, "delete_selected", pick(foreign, "secret"), confirmed="yes")
    assert "secret" not in page.content.decode()
    assert stored() == before


@pytest.mark.parametrize("action", ["delete_selected", "enable_chosen", "disable_chosen"])
def test_who_may_only_look_runs_no_verb(signed_in, viewer, agent, action):
    client = signed_in(viewer)
    before = stored()
    bulk(client, action, pick(agent, "r1"), confirmed="yes")
    assert stored() == before


def test_too_many_rows_at_once_are_refused(editor, agent, monkeypatch):
    monkeypatch.setattr("common.admin.MAX_SELECTED", 2)
    before = stored()
    response = bulk(editor, "delete_selected", pick(agent, "r1", "r2", "r3"), confirmed="yes")
    assert "At most 2 rows" in said(response)
    assert stored() == before


def test_one_row_is_edited_through_its_agent(editor, agent):
    row = agent.experiences.get(content="r2")
    assert save(editor, row_page(row), FORM, content="  先看日志 \r\n ", enabled=None).status_code == 302
    row.refresh_from_db()
    assert (row.content, row.enabled, row.order) == ("先看日志", False, 1)
    assert AgentVersion.objects.filter(agent=agent).count() == 2


def test_a_row_cannot_be_moved_to_another_agent(editor, acme, agent):
    other = factories.make_agent(acme, rows=["c"])
    row = agent.experiences.get(content="r2")
    save(editor, row_page(row), FORM, agent=other.pk, content="changed")
    row.refresh_from_db()
    assert (row.agent, row.content) == (agent, "changed")
    assert rows_of(other) == [("c", 0)]


@pytest.mark.parametrize(("text", "told"), [("字" * 301, "remove 1"), (" \u200b", "blank"), ("", "blank")])
def test_a_bad_row_is_refused_here_as_everywhere(editor, agent, text, told):
    row = agent.experiences.get(content="r2")
    before = stored()
    assert told in errors_of(save(editor, row_page(row), FORM, content=text))
    assert stored() == before


def test_a_stale_row_is_refused_and_shows_what_changed(editor, agent, writer):
    row = agent.experiences.get(content="r2")
    opened = form_of(editor.get(row_page(row)), FORM)
    writer.patch(f"agents/{agent.pk}/experiences/{row.pk}", {"content": "theirs"})
    before = stored()
    response = send(editor, row_page(row), opened | {"content": "mine"})
    assert "VERSION_MISMATCH" in errors_of(response)
    assert "theirs" in response.content.decode()
    assert form_of(response, FORM)["content"] == "mine"
    assert stored() == before
    again = form_of(response, FORM) | {"seen_version": "2"}
    assert send(editor, row_page(row), again).status_code == 302
    row.refresh_from_db()
    assert row.content == "mine"


def test_a_new_row_needs_an_agent_and_comes_last(editor, acme, rival, agent):
    add = f"{LIST}add/"
    foreign = factories.make_agent(rival)
    response = save(editor, add, FORM, content="neu")
    assert "agent" in response.context["adminform"].form.errors
    response = save(editor, add, FORM, content="neu", agent=foreign.pk)
    assert "agent" in response.context["adminform"].form.errors
    assert save(editor, add, FORM, content="neu", agent=agent.pk).status_code == 302
    assert rows_of(agent)[-1] == ("neu", 5)


def test_one_row_is_deleted_after_it_was_asked(editor, agent):
    row = agent.experiences.get(content="r2")
    url = row_page(row).replace("change", "delete")
    assert "r2" in editor.get(url).content.decode()
    assert rows_of(agent)[1] == ("r2", 1)
    editor.post(url, {"confirmed": "yes"})
    assert rows_of(agent) == [("r1", 0), ("r3", 1), ("r4", 2), ("r5", 3)]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=r3", ["r3"]),
        ("enabled__exact=0", ["off"]),
        ("agent={agent}", ["r1", "r2", "r3", "r4", "r5"]),
        ("agent=x", []),
    ],
)
def test_the_list_can_be_narrowed(editor, acme, rival, agent, query, found):
    factories.make_agent(acme, rows=[("off", False)])
    factories.make_agent(rival, rows=["r3"])
    assert shown(editor.get(f"{LIST}?{query.format(agent=agent.pk)}")) == found


def test_the_list_asks_the_database_as_often_for_many_rows_as_for_one(signed_in, viewer, acme, count_queries):
    client = signed_in(viewer)
    asked = []
    for number in (1, 9, 40):
        for _agent in range(number):
            factories.make_agent(acme, rows=["x"])
        asked.append(count_queries(lambda: client.get(LIST)))
    assert asked[0] == asked[1] == asked[2] <= 12


def test_hidden_characters_are_shown_in_the_list(editor, acme):
    factories.make_agent(acme, rows=["先看\u202e日志"])
    assert '<span class="fieldbook-hidden">[U+202E]</span>' in editor.get(LIST).content.decode()

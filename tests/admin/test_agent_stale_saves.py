"""Two people on one agent page: the second save is refused, shows what happened, and keeps what was typed."""

import pytest

from agents.admin.held import VersionedForm
from agents.models import AgentVersion
from experiences.models import Experience
from tests import factories
from tests.admin.agent_forms import ROWS, agent_page, errors_of, form_of, save, send, stored, with_new_rows


@pytest.fixture
def agent(acme):
    return factories.make_agent(
        acme, "运维助手", rows=["一", "二", "三"], description="old", system_prompt="原来的角色"
    )


@pytest.fixture
def editor(signed_in, operator):
    return signed_in(operator)


def rows_of(agent):
    return list(Experience.objects.of_agent(agent.pk).values_list("content", flat=True))


def save_by_page(signed_in, administrator, agent, writer):
    save(signed_in(administrator), agent_page(agent), description="theirs", **{f"{ROWS}-0-content": "一别人"})


def save_by_api(signed_in, administrator, agent, writer):
    row = agent.experiences.get(order=0)
    assert writer.patch(f"agents/{agent.pk}", {"description": "theirs"}).status_code == 200
    assert writer.patch(f"agents/{agent.pk}/experiences/{row.pk}", {"content": "一别人"}).status_code == 200


BOTH_DOORS = pytest.mark.parametrize("other_save", [save_by_page, save_by_api])


@BOTH_DOORS
def test_a_stale_save_is_refused_and_stores_nothing(
    other_save, editor, signed_in, administrator, agent, writer
):
    opened = form_of(editor.get(agent_page(agent)))
    other_save(signed_in, administrator, agent, writer)
    before = stored()
    response = send(
        editor, agent_page(agent), opened | {"system_prompt": "我的角色", f"{ROWS}-1-content": "二我"}
    )
    assert response.status_code == 200
    assert "VERSION_MISMATCH" in errors_of(response)
    assert stored() == before
    shown = form_of(response)
    assert (shown["system_prompt"], shown[f"{ROWS}-1-content"]) == ("我的角色", "二我")
    assert shown["base_version"] == opened["base_version"]


def test_the_refusal_says_who_when_and_what(editor, signed_in, administrator, agent, writer):
    opened = form_of(editor.get(agent_page(agent)))
    save_by_page(signed_in, administrator, agent, writer)
    page = send(editor, agent_page(agent), opened | {"name": "neu"}).content.decode()
    assert "Changed by administrator" in page
    assert "now at version 2" in page
    assert "theirs" in page
    assert "一别人" in page


def test_sending_it_again_is_refused_again(editor, signed_in, administrator, agent, writer):
    opened = form_of(editor.get(agent_page(agent))) | {"system_prompt": "我的角色"}
    save_by_page(signed_in, administrator, agent, writer)
    again = form_of(send(editor, agent_page(agent), opened))
    before = stored()
    assert "VERSION_MISMATCH" in errors_of(send(editor, agent_page(agent), again))
    assert stored() == before


@BOTH_DOORS
def test_what_was_read_can_be_built_upon(other_save, editor, signed_in, administrator, agent, writer):
    """Only the person's own changes go on top: the other description and row stay."""
    opened = form_of(editor.get(agent_page(agent)))
    other_save(signed_in, administrator, agent, writer)
    opened |= {"system_prompt": "我的角色", f"{ROWS}-1-content": "二我"}
    again = form_of(send(editor, agent_page(agent), opened))
    agent.refresh_from_db()
    response = send(editor, agent_page(agent), again | {"seen_version": agent.version})
    assert response.status_code == 302
    agent.refresh_from_db()
    assert (agent.system_prompt, agent.description) == ("我的角色", "theirs")
    assert rows_of(agent) == ["一别人", "二我", "三"]


def test_a_version_that_came_after_the_read_one_is_refused(editor, signed_in, administrator, agent, writer):
    opened = form_of(editor.get(agent_page(agent)))
    save_by_page(signed_in, administrator, agent, writer)
    writer.patch(f"agents/{agent.pk}", {"description": "third"})
    response = send(editor, agent_page(agent), opened | {"seen_version": "2", "description": "mine"})
    assert "VERSION_MISMATCH" in errors_of(response)


def test_rows_deleted_meanwhile_come_back_only_where_they_were_changed(
    editor, signed_in, administrator, agent
):
    opened = form_of(editor.get(agent_page(agent)))
    other = signed_in(administrator)
    save(other, agent_page(agent), **{f"{ROWS}-0-DELETE": "on", f"{ROWS}-1-DELETE": "on"})
    again = form_of(send(editor, agent_page(agent), opened | {f"{ROWS}-1-content": "二我"}))
    response = send(editor, agent_page(agent), again | {"seen_version": "2"})
    assert response.status_code == 302
    assert rows_of(agent) == ["二我", "三"]


def test_rows_added_meanwhile_stay(editor, signed_in, administrator, agent):
    opened = form_of(editor.get(agent_page(agent)))
    other = signed_in(administrator)
    send(other, agent_page(agent), with_new_rows(form_of(other.get(agent_page(agent))), "四"))
    again = form_of(send(editor, agent_page(agent), opened | {f"{ROWS}-0-content": "一我"}))
    send(editor, agent_page(agent), again | {"seen_version": "2"})
    assert rows_of(agent) == ["一我", "二", "三", "四"]


def test_a_foreign_row_stays_refused_on_top_too(editor, signed_in, administrator, agent, acme, writer):
    foreign = factories.make_agent(acme, rows=["foreign"]).experiences.get()
    opened = form_of(editor.get(agent_page(agent)))
    save_by_page(signed_in, administrator, agent, writer)
    before = stored()
    forged = opened | {"seen_version": "2", f"{ROWS}-1-id": foreign.pk, f"{ROWS}-1-content": "stolen"}
    assert f"No experience {foreign.pk}" in errors_of(send(editor, agent_page(agent), forged))
    assert stored() == before


@pytest.mark.parametrize("version", [None, "", "x", "-1", "9" * 20])
def test_a_form_that_does_not_say_its_version_is_refused(editor, agent, version):
    before = stored()
    response = save(editor, agent_page(agent), base_version=version, description="x")
    assert response.status_code == 200
    assert response.context["adminform"].form.non_field_errors()
    assert stored() == before


def test_a_version_that_never_was_is_refused_without_a_comparison(editor, agent):
    response = save(editor, agent_page(agent), base_version="77", description="x")
    assert "VERSION_MISMATCH" in errors_of(response)
    assert "What changed meanwhile" not in response.content.decode()


def test_control_without_the_versions_the_second_save_would_win(
    monkeypatch, editor, signed_in, administrator, agent, writer
):
    opened = form_of(editor.get(agent_page(agent)))
    save_by_page(signed_in, administrator, agent, writer)
    monkeypatch.setattr(VersionedForm, "expected", None)
    assert send(editor, agent_page(agent), opened).status_code == 302
    agent.refresh_from_db()
    assert agent.description == "old"


def test_the_second_save_of_a_double_click_is_refused(editor, agent):
    opened = with_new_rows(form_of(editor.get(agent_page(agent))), "四")
    assert send(editor, agent_page(agent), opened).status_code == 302
    assert "VERSION_MISMATCH" in errors_of(send(editor, agent_page(agent), opened))
    assert rows_of(agent).count("四") == 1
    assert AgentVersion.objects.filter(agent=agent).count() == 2

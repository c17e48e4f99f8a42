"""Before a save: what it would change in the prompt. Nothing is stored."""

import pytest

from tests import factories
from tests.admin.agent_forms import ROWS, agent_page, form_of, save, send, stored, with_new_rows

PREVIEW = {"_preview_changes": ""}


@pytest.fixture
def agent(acme):
    return factories.make_agent(acme, system_prompt="原来的角色", rows=["一", ("关", False)])


@pytest.fixture
def editor(signed_in, operator):
    return signed_in(operator)


@pytest.fixture(params=["with the prompt", "without"])
def either_way(request, settings):
    if request.param == "without":
        settings.PROMPT_DIFF = ""


def panel_of(response):
    return response.content.decode().split('class="fieldbook-panel"')[1].split("</section>")[0]


def test_the_change_is_shown_and_nothing_stored(either_way, editor, agent):
    before = stored()
    values = with_new_rows(form_of(editor.get(agent_page(agent))), "二") | {"system_prompt": "新的角色"}
    response = send(editor, agent_page(agent), values | PREVIEW)
    assert response.status_code == 200
    assert stored() == before
    told = panel_of(response)
    assert "二" in told
    assert "新" in told
    assert "Nothing is stored yet" in told


def test_what_was_typed_stays_in_the_form(either_way, editor, agent):
    values = with_new_rows(form_of(editor.get(agent_page(agent))), "二") | {"system_prompt": "新的角色"}
    shown = form_of(send(editor, agent_page(agent), values | PREVIEW))
    assert (shown["system_prompt"], shown[f"{ROWS}-2-content"]) == ("新的角色", "二")
    assert send(editor, agent_page(agent), shown).status_code == 302
    agent.refresh_from_db()
    assert (agent.version, agent.system_prompt) == (2, "新的角色")


def test_the_diff_is_of_the_rendered_prompt(editor, agent):
    response = save(editor, agent_page(agent), **PREVIEW, **{f"{ROWS}-1-enabled": "on"})
    lines = [str(line) for _kind, line in response.context["held"].preview.lines]
    assert "+- 关" in lines
    assert not any(line.startswith("-") for line in lines)


def test_a_change_that_no_prompt_shows_is_called_nothing(editor, agent):
    response = save(
        editor, agent_page(agent), **PREVIEW, description="only for people", **{f"{ROWS}-1-content": "x"}
    )
    assert "the rendered prompt stays as it is" in panel_of(response)


def test_a_faulty_form_is_not_previewed(editor, agent):
    response = save(editor, agent_page(agent), **PREVIEW, **{f"{ROWS}-0-content": "字" * 301})
    assert response.context["held"] is None
    assert "What a save would change" not in response.content.decode()


def test_who_may_not_save_may_not_preview(signed_in, viewer, operator, agent):
    values = form_of(signed_in(operator).get(agent_page(agent)))
    assert send(signed_in(viewer), agent_page(agent), values | PREVIEW).status_code == 403

"""The staff page "Preview prompt": what it shows, to whom, and that looking changes nothing."""

import html
from unittest import mock

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agents.services.agents import switch_agents
from agents.services.documents import put_document
from prompt import services
from prompt.services import Source
from tests.factories import an_edit, make_agent, make_person

pytestmark = pytest.mark.django_db


def url(agent):
    return reverse("agent-prompt-preview", args=[agent.pk])


def page(answer):
    assert answer.status_code == 200, answer.status_code
    return html.unescape(answer.content.decode())


@pytest.fixture
def agent(acme):
    return make_agent(acme, name="值班", rows=["先查日志"], documents=[("principles.md", "# 不删数据")])


def test_the_page_shows_each_section_with_its_size_and_what_is_left_out(signed_in, viewer, agent):
    text = page(signed_in(viewer).get(url(agent)))
    assert url(agent) == f"/admin/agents/agent/{agent.pk}/prompt/"
    for shown in ("你是运维助手。", "## 最佳实践经验", "- 先查日志", "### 不删数据", "- 公司: acme"):
        assert shown in text
    for key in ("role", "experiences", "principles", "environment", "current_time"):
        assert f'data-section="{key}"' in text
    assert "6 characters, about 5 tokens" in text
    assert "## 用户偏好" in text and "There is nothing to show." in text
    assert "Version 1: " in text


def test_the_form_adds_a_users_documents(signed_in, viewer, agent, acme):
    put_document(
        agent=agent, company=acme, path="users/bob/profile.md", text="喜欢简短", edit=an_edit(), request="t"
    )
    client = signed_in(viewer)
    assert "喜欢简短" not in page(client.get(url(agent)))
    assert "喜欢简短" in page(client.get(url(agent), {"user_id": "bob", "task": "修复", "phase": "p"}))


def test_a_wrong_field_is_explained_beside_it_and_no_prompt_is_shown(signed_in, viewer, agent):
    text = page(signed_in(viewer).get(url(agent), {"user_id": "a/b"}))
    assert "A user id has 1 to 64" in text
    assert "data-section" not in text
    text = page(signed_in(viewer).get(url(agent), {"task": "x" * 4001}))
    assert "remove 1" in text


def test_a_shortened_section_says_so(signed_in, viewer, agent, acme):
    put_document(
        agent=agent,
        company=acme,
        path="users/bob/profile.md",
        text="长长的一行\n" * 1000,
        edit=an_edit(),
        request="t",
    )
    assert "shortened" in page(signed_in(viewer).get(url(agent), {"user_id": "bob"}))


def test_hidden_characters_are_shown_and_markup_is_not_run(signed_in, viewer, acme):
    agent = make_agent(acme, system_prompt="a\u202eb\u200b<script>alert(1)</script>")
    answer = signed_in(viewer).get(url(agent)).content.decode()
    marks = [f'<span class="fieldbook-hidden">[U+{code}]</span>' for code in ("202E", "200B")]
    assert "a{}b{}&lt;script&gt;".format(*marks) in answer
    assert "<script>alert" not in answer


def test_a_failing_section_is_named(signed_in, viewer, agent):
    with mock.patch.dict(services.SOURCES, {"documents": Source(mock.Mock(side_effect=RuntimeError))}):
        text = page(signed_in(viewer).get(url(agent)))
    assert "principles" in text and "could not be built" in text


def test_a_disabled_agent_can_be_looked_at_and_says_what_a_runtime_gets(signed_in, viewer, agent):
    switch_agents(agent_ids=[agent.pk], enabled=False, edit=an_edit())
    text = page(signed_in(viewer).get(url(agent)))
    assert "410" in text and "- 先查日志" in text


def test_a_shared_agent_is_previewed_for_each_company_the_person_sees(
    signed_in, viewer, rival, global_company
):
    shared = make_agent(global_company, name="共享")
    client = signed_in(viewer)
    assert "- 公司: _global" in page(client.get(url(shared)))
    text = page(client.get(url(shared), {"company": "acme"}))
    assert "- 公司: acme" in text
    assert "rival" not in text
    assert "- 公司" not in page(client.get(url(shared), {"company": "rival"}))


def test_the_company_chosen_in_the_header_is_the_first_choice(signed_in, viewer, global_company):
    shared = make_agent(global_company, name="共享")
    client = signed_in(viewer)
    session = client.session
    session["company"] = "acme"
    session.save()
    assert "- 公司: acme" in page(client.get(url(shared)))


def test_a_stranger_finds_nothing_and_staff_without_the_permission_are_refused(
    signed_in, stranger, acme, agent
):
    assert signed_in(stranger).get(url(agent)).status_code == 404
    bare = make_person("bare", companies=[acme])
    assert signed_in(bare).get(url(agent)).status_code == 403


@pytest.mark.parametrize("number", [999_999, 2**63, 10**30])
def test_an_unknown_agent_is_not_found(signed_in, chief, number):
    assert signed_in(chief).get(f"/admin/agents/agent/{number}/prompt/").status_code == 404


def test_nobody_looks_without_signing_in(client, agent):
    answer = client.get(url(agent))
    assert answer.status_code == 302 and "login" in answer["Location"]


def test_the_page_is_read_only_and_records_nothing(signed_in, viewer, agent):
    client = signed_in(viewer)
    assert client.post(url(agent)).status_code == 405
    record = mock.Mock(return_value="x")
    rows = services.SOURCES["experiences"].load
    with (
        mock.patch.dict(services.SOURCES, {"experiences": Source(rows, record)}),
        CaptureQueriesContext(connection) as queries,
    ):
        page(client.get(url(agent), {"task": "修复"}))
    record.assert_not_called()
    writes = [q["sql"] for q in queries if q["sql"].split()[0] in ("INSERT", "UPDATE", "DELETE")]
    assert writes == []


@pytest.mark.parametrize("rows", [1, 50])
def test_the_number_of_queries_does_not_depend_on_the_rows(signed_in, viewer, acme, rows):
    client = signed_in(viewer)
    agent = make_agent(acme, rows=[f"row {number}" for number in range(rows)])
    client.get(url(agent))
    with CaptureQueriesContext(connection) as queries:
        page(client.get(url(agent)))
    assert len(queries) <= 16, [query["sql"] for query in queries]

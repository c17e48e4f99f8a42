"""Stored text is shown as text, on every page that shows it."""

import pytest

from agents.models import ProtectedPath
from agents.services.agents import update_agent
from agents.services.documents import put_document
from experiences.rules import RowInput
from tests import factories
from tests.admin.agent_forms import agent_page, document_page, form_of, row_page, save, send

PAYLOADS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'-alert(1)-'",
    "</textarea><svg onload=alert(1)>",
    "{{ 7*7 }}{% if %}",
    "javascript:alert(1)",
    "`${alert(1)}`",
]
#: What must not stand in a page outside of an escaped text.
RAW = ["<script>alert(1)", "<img src=x", "<svg onload", "</textarea><svg", "'-alert(1)-'", "49{%"]


@pytest.fixture(params=PAYLOADS)
def poisoned(request, acme):
    """An agent with a payload in every text, and a second version of each."""
    text = request.param
    agent = factories.make_agent(
        acme,
        text,
        system_prompt=text,
        description=text,
        tags=[text[:30]],
        skill_names=[text],
        rows=[text, f"{text} two"],
        documents=[("memory/x.md", text)],
    )
    update_agent(
        agent_id=agent.pk,
        fields={"system_prompt": f"{text}\nmore"},
        rows=[RowInput(f"{text} new")],
        edit=factories.an_edit(message=text),
    )
    put_document(
        agent=agent,
        company=acme,
        path="memory/x.md",
        text=f"{text}\nmore",
        edit=factories.an_edit(),
        request="test",
        note=text,
    )
    ProtectedPath.objects.create(
        pattern="memory/x.md", section=text[:100], level="block", description=text, company=acme
    )
    return agent


def is_clean(response):
    assert response.status_code == 200
    page = response.content.decode()
    return not [raw for raw in RAW if raw in page]


def test_every_page_shows_text_as_text(signed_in, chief, poisoned):
    client = signed_in(chief)
    page, row, document = agent_page(poisoned), poisoned.experiences.get(), poisoned.documents.get()
    rule = ProtectedPath.objects.get(company=poisoned.company)
    urls = [
        "/admin/agents/agent/",
        page,
        page.replace("change", "history"),
        page.replace("change/", "history/compare/?from=1&to=2"),
        page.replace("change/", "history/1/restore/"),
        page.replace("change", "copy"),
        page.replace("change", "switch"),
        page.replace("change", "delete"),
        "/admin/experiences/experience/",
        row_page(row),
        row_page(row).replace("change", "delete"),
        "/admin/agents/document/",
        document_page(document),
        document_page(document).replace("change", "history"),
        document_page(document).replace("change/", "history/1/"),
        document_page(document).replace("change/", "history/compare/?from=1&to=2"),
        document_page(document).replace("change/", "history/1/restore/"),
        "/admin/agents/protectedpath/",
        f"/admin/agents/protectedpath/{rule.pk}/change/",
        "/admin/agents/protectedaccess/",
    ]
    for url in urls:
        assert is_clean(client.get(url)), url


def test_refusals_previews_and_confirmations_do_too(signed_in, chief, viewer, poisoned):
    client, page = signed_in(chief), agent_page(poisoned)
    opened = form_of(client.get(page))
    assert is_clean(
        send(client, page, opened | {"_preview_changes": "", "system_prompt": poisoned.name + "2"})
    )
    assert is_clean(send(client, page, opened | {"name": ""}))
    save(client, page, description=poisoned.name + "3")
    assert is_clean(send(client, page, opened))
    chosen = {"action": "disable_chosen", "_selected_action": poisoned.pk}
    assert is_clean(client.post("/admin/agents/agent/", chosen))
    assert is_clean(signed_in(viewer).get(page))


def test_pages_have_no_handlers_with_data(signed_in, chief, poisoned):
    page = signed_in(chief).get(agent_page(poisoned)).content.decode().casefold()
    for handler in ("onclick=", 'onerror="', 'onload="', "oninput=", "onchange=", 'href="javascript:'):
        assert handler not in page

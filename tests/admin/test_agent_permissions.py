"""Who may open and send which page of agents, rows, documents and protection; and that looking changes nothing."""

import pytest

from agents.models import Agent, Document, ProtectedPath
from experiences.models import Experience
from tests import factories
from tests.admin.agent_forms import agent_page, form_of, send, stored

PERSONS = ("viewer", "approver", "operator", "administrator", "stranger", "chief")
#: page -> what each person gets on GET, in the order of PERSONS. The rows are acme's; the stranger is rival's.
PAGES = {
    "agents/agent/": (200, 200, 200, 200, 200, 200),
    "agents/agent/add/": (403, 403, 200, 200, 200, 200),
    "agents/agent/import/": (403, 403, 403, 200, 200, 200),
    "agents/agent/{agent}/change/": (200, 200, 200, 200, 404, 200),
    "agents/agent/{agent}/history/": (200, 200, 200, 200, 404, 200),
    "agents/agent/{agent}/history/compare/?from=1&to=1": (200, 200, 200, 200, 404, 200),
    "agents/agent/{agent}/history/1/restore/": (403, 403, 200, 200, 404, 200),
    "agents/agent/{agent}/copy/": (403, 403, 200, 200, 404, 200),
    "agents/agent/{agent}/switch/": (403, 403, 200, 200, 404, 200),
    "agents/agent/{agent}/export/": (200, 200, 200, 200, 404, 200),
    "agents/agent/{agent}/delete/": (403, 403, 403, 200, 404, 200),
    "experiences/experience/": (200, 200, 200, 200, 200, 200),
    "experiences/experience/add/": (403, 403, 200, 200, 200, 200),
    "experiences/experience/import/": (403, 403, 200, 200, 200, 200),
    "experiences/experience/export/{agent}.csv": (200, 200, 200, 200, 404, 200),
    "experiences/experience/{row}/change/": (200, 200, 200, 200, 404, 200),
    "experiences/experience/{row}/delete/": (403, 403, 200, 200, 404, 200),
    "agents/document/": (200, 200, 200, 200, 200, 200),
    "agents/document/add/": (403, 403, 200, 200, 200, 200),
    "agents/document/{document}/change/": (200, 200, 200, 200, 404, 200),
    "agents/document/{document}/delete/": (403, 403, 403, 403, 403, 403),
    "agents/document/{document}/history/": (200, 200, 200, 200, 404, 200),
    "agents/document/{document}/history/1/": (200, 200, 200, 200, 404, 200),
    "agents/document/{document}/history/compare/?from=1&to=1": (200, 200, 200, 200, 404, 200),
    "agents/document/{document}/history/1/restore/": (403, 403, 200, 200, 404, 200),
    "agents/protectedpath/": (200, 200, 200, 200, 200, 200),
    "agents/protectedpath/add/": (403, 403, 403, 200, 200, 200),
    "agents/protectedpath/{rule}/change/": (200, 200, 200, 200, 404, 200),
    "agents/protectedpath/{rule}/delete/": (403, 403, 403, 200, 404, 200),
    "agents/protectedaccess/": (200, 200, 200, 200, 200, 200),
    "agents/protectedaccess/add/": (403, 403, 403, 403, 403, 403),
}


@pytest.fixture
def things(acme):
    agent = factories.make_agent(acme, "運維", rows=["一", "二"], documents=[("memory/x.md", "x")])
    rule = ProtectedPath.objects.create(pattern="memory/x.md", level="block", company=acme)
    row = agent.experiences.first()
    return {"agent": agent.pk, "row": row.pk, "document": agent.documents.get().pk, "rule": rule.pk}


def url_of(page, things):
    return "/admin/" + page.format(**things)


@pytest.mark.parametrize("person", PERSONS)
def test_each_person_gets_what_the_role_allows(request, signed_in, things, person):
    client = signed_in(request.getfixturevalue(person))
    before = stored()
    expected = {page: statuses[PERSONS.index(person)] for page, statuses in PAGES.items()}
    assert {page: client.get(url_of(page, things)).status_code for page in PAGES} == expected
    assert stored() == before


def test_nobody_gets_anything_without_signing_in(client, things):
    for page in PAGES:
        response = client.get(url_of(page, things))
        assert response.status_code == 302, page
        assert response["Location"].startswith("/admin/login/")


@pytest.mark.parametrize("person", ["viewer", "approver", "stranger"])
def test_who_may_only_look_writes_nothing_whatever_is_sent(request, signed_in, things, person):
    """The stranger may create in another company, but reaches nothing of acme."""
    client = signed_in(request.getfixturevalue(person))
    forged = dict.fromkeys(("name", "system_prompt", "content", "text", "pattern", "path"), "x")
    forged |= {
        "confirmed": "yes",
        "post": "yes",
        "company": "acme",
        "base_version": "1",
        "agent": things["agent"],
    }
    before = stored()
    for page in PAGES:
        assert client.post(url_of(page, things), forged).status_code in (403, 404, 302, 200), page
    assert stored() == before


@pytest.mark.parametrize("person", ["viewer", "approver"])
def test_a_forged_move_is_forbidden(request, signed_in, operator, things, person):
    agent = Agent.objects.get(pk=things["agent"])
    values = form_of(signed_in(operator).get(agent_page(agent)))
    values |= {"experiences-0-order": "1", "experiences-1-order": "0"}
    assert send(signed_in(request.getfixturevalue(person)), agent_page(agent), values).status_code == 403
    assert list(Experience.objects.of_agent(agent.pk).values_list("content", flat=True)) == ["一", "二"]
    assert send(signed_in(operator), agent_page(agent), values).status_code == 302
    assert list(Experience.objects.of_agent(agent.pk).values_list("content", flat=True)) == ["二", "一"]


def test_who_may_only_look_sees_no_controls(signed_in, viewer, things):
    page = signed_in(viewer).get(url_of("agents/agent/{agent}/change/", things)).content.decode()
    part = page.split('id="experiences-group"')[1].split("</section>")[0]
    assert "一" in part
    for control in ("<button", "<textarea", "x-sort", "data-add", "-DELETE"):
        assert control not in part
    assert "_save" not in page
    assert "_preview_changes" not in page


def test_shared_agents_are_read_only_for_others(signed_in, operator, administrator, chief, global_company):
    shared = factories.make_agent(global_company, "shared", rows=["一"], documents=[("memory/x.md", "x")])
    row, document = shared.experiences.get(), shared.documents.get()
    values = form_of(signed_in(chief).get(agent_page(shared)))
    pages = [
        agent_page(shared),
        f"/admin/experiences/experience/{row.pk}/change/",
        f"/admin/agents/document/{document.pk}/change/",
    ]
    for person in (operator, administrator):
        client = signed_in(person)
        before = stored()
        for page in pages:
            assert client.get(page).status_code == 200
            assert client.post(page, values | {"content": "x", "text": "x"}).status_code == 403
        verbs = [agent_page(shared).replace("change", verb) for verb in ("switch", "history/1/restore")]
        for verb in [*verbs, f"/admin/experiences/experience/{row.pk}/delete/"]:
            assert client.post(verb, {"confirmed": "yes", "base_version": "1"}).status_code == 403
        assert stored() == before


def test_a_member_of_the_shared_company_may_change_its_agents(signed_in, operator, global_company):
    global_company.members.add(operator)
    shared = factories.make_agent(global_company, "shared")
    client = signed_in(operator)
    values = form_of(client.get(agent_page(shared))) | {"description": "changed"}
    assert send(client, agent_page(shared), values).status_code == 302
    shared.refresh_from_db()
    assert shared.description == "changed"


@pytest.mark.parametrize(
    ("model", "field"), [("experiences/experience", "agent"), ("agents/document", "agent")]
)
def test_the_search_for_an_agent_finds_only_visible_ones(signed_in, stranger, things, rival, model, field):
    factories.make_agent(rival, "運維 rival")
    app, name = model.split("/")
    query = {"app_label": app, "model_name": name, "field_name": field, "term": "運維"}
    found = signed_in(stranger).get("/admin/autocomplete/", query).json()["results"]
    assert [row["text"] for row in found] == ["運維 rival"]


def test_rows_of_others_are_in_no_list(signed_in, stranger, things):
    client = signed_in(stranger)
    for page in ("agents/agent/", "experiences/experience/", "agents/document/"):
        assert len(client.get(f"/admin/{page}").context["cl"].result_list) == 0
    rules = client.get("/admin/agents/protectedpath/").context["cl"].result_list
    assert things["rule"] not in {rule.pk for rule in rules}
    assert Document.objects.count() == 1


@pytest.mark.parametrize(("person", "menus"), [("viewer", 0), ("administrator", 1)])
def test_a_list_has_a_menu_only_when_there_is_something_in_it(request, signed_in, acme, person, menus):
    page = signed_in(request.getfixturevalue(person)).get("/admin/agents/agent/").content.decode()
    assert page.count("more_horiz") == menus


@pytest.mark.parametrize(("person", "notice"), [("viewer", "Read-only for you."), ("operator", None)])
def test_a_page_that_cannot_be_changed_says_so(request, signed_in, things, person, notice):
    page = signed_in(request.getfixturevalue(person)).get(url_of("agents/agent/{agent}/change/", things))
    assert ("Read-only for you" in page.content.decode()) == bool(notice)


@pytest.mark.parametrize(("person", "may_copy"), [("operator", True), ("viewer", False)])
def test_an_agent_of_all_companies_says_who_changes_it(request, signed_in, global_company, person, may_copy):
    agent = factories.make_agent(global_company, "shared")
    client = signed_in(request.getfixturevalue(person))
    page = client.get(f"/admin/agents/agent/{agent.pk}/change/").content.decode()
    assert "shared by all companies" in page
    assert ("You may copy it" in page) == may_copy

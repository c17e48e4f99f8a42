"""No list and no detail asks the database more often because there are more rows."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, Document
from agents.services.agents import update_agent
from agents.services.documents import put_document
from experiences.models import Experience
from tests.factories import ApiClient, an_edit, make_agent, make_key

pytestmark = pytest.mark.django_db

#: path -> most queries it may ever take (2 of them find the key and note its use).
MOST = {
    "agents?page_size=200": 4,
    "agents?page_size=200&fields=summary": 4,
    "agents?name=many": 4,
    "agents/{agent}": 3,
    "agents/{agent}?fields=summary": 3,
    "agents/{agent}/export": 5,
    "agents/{agent}/experiences?page_size=200": 5,
    "agents/{agent}/versions?page_size=200": 5,
    "agents/{agent}/versions/1": 4,
    "agents/{agent}/versions/diff?from=1&to=2": 5,
    "agents/{agent}/documents?page_size=200": 5,
    "agents/{agent}/documents/{document}": 4,
    "agents/{agent}/documents/{document}/versions?page_size=200": 6,
    "agents/{agent}/documents/{document}/versions/1": 5,
    "agents/{agent}/documents/{document}/diff?from=1&to=2": 6,
    "agents/{agent}/receipts?page_size=200": 5,
    "receipts?page_size=200": 4,
    "receipts/{receipt}": 5,
    "receipts/{receipt}?format=yaml": 5,
    "receipts/verify": 8,
    "me": 2,
}


def grow(company, size):
    """A company of `size` agents, one of which has `size` rows, documents and versions each."""
    rows = [f"row {number}" for number in range(size)]
    paths = [(f"memory/{number:03d}.md", "x") for number in range(size)]
    agent = make_agent(company, name="many", rows=rows, documents=paths)
    for number in range(size + 1):
        update_agent(agent_id=agent.pk, fields={"description": f"d{number}"}, edit=an_edit())
        put_document(
            agent=agent,
            company=company,
            path="memory/000.md",
            text=f"t{number}",
            edit=an_edit(),
            request="test",
        )
    others = Agent.objects.bulk_create(
        Agent(company=company, name=f"a{number}", name_key=f"a{number}", system_prompt="x")
        for number in range(size - 1)
    )
    Experience.objects.bulk_create(
        Experience(agent=other, content="x", order=order) for other in others for order in range(3)
    )
    return agent


def counts(client, agent):
    places = {
        "agent": agent.pk,
        "document": Document.objects.get(agent=agent, path="memory/000.md").pk,
        "receipt": agent.receipts.order_by("-pk").first().pk,
    }
    found = {}
    for path in MOST:
        with CaptureQueriesContext(connection) as captured:
            answer = client.get(path.format(**places))
        assert answer.status_code == 200, (path, answer.content.decode()[:300])
        found[path] = len(captured)
    return found


def test_the_number_of_queries_does_not_grow_with_the_rows(acme, rival, global_company):
    found = {}
    for company, size in ((acme, 1), (rival, 10), (global_company, 100)):
        client = ApiClient(make_key(company, scopes=["read"]))
        client.get("me")
        found[size] = counts(client, grow(company, size))
    assert found[1] == found[10] == found[100]
    assert {path: count for path, count in found[1].items() if count > MOST[path]} == {}


def test_the_count_sees_a_query_a_row(acme):
    """Control: without the prefetch the list of agents would take one query an agent."""
    for number in range(5):
        make_agent(acme, name=f"a{number}", rows=["x"])
    with CaptureQueriesContext(connection) as captured:
        for agent in Agent.objects.all():
            list(agent.experiences.all())
    assert len(captured) == 6

"""H13 and C3: two companies, the same names, one shared agent; nothing of one shows in the other's prompt."""

import itertools

import pytest

from agents.services.documents import put_document
from tests.factories import ApiClient, an_edit, make_agent, make_company, make_key
from tests.sizes import sized

pytestmark = pytest.mark.django_db


def write_document(agent, company, path, text):
    put_document(agent=agent, company=company, path=path, text=text, edit=an_edit(), request="test")


@pytest.fixture
def two(acme, rival):
    """company slug -> (client, canary, agent of the same name)"""
    made = {}
    for company in (acme, rival):
        canary = f"canary-{company.slug}-57c1"
        agent = make_agent(
            company, name="值班", rows=[f"{canary} row"], documents=[("memory/a.md", f"{canary} memory")]
        )
        write_document(agent, company, "users/bob/profile.md", f"{canary} profile")
        made[company.slug] = (ApiClient(make_key(company, scopes=["read"])), canary, agent)
    return made


def test_prompts_of_two_companies_never_mix(two):
    turns = itertools.islice(itertools.cycle([("acme", "rival"), ("rival", "acme")]), sized(200, 1000))
    for number, (mine, other) in enumerate(turns):
        client, canary, agent = two[mine]
        query = "?user_id=bob" if number % 3 else ""
        body = client.get(f"agents/{agent.pk}/prompt{query}").content.decode()
        assert canary in body
        assert two[other][1] not in body
        assert client.get(f"agents/{two[other][2].pk}/prompt").status_code == 404


def test_a_shared_agent_shows_each_company_itself_and_its_own_users_only(two, global_company, acme, rival):
    shared = make_agent(
        global_company, name="共享", rows=["大家的经验"], documents=[("principles.md", "大家的准则")]
    )
    everyone = [acme, rival, global_company]
    for company in everyone:
        write_document(shared, company, "users/bob/profile.md", f"profile of {company.slug}")
        write_document(
            shared, company, f"users/bob/agents/{shared.pk}/memory/a.md", f"memory of {company.slug}"
        )
    keys = {company.slug: ApiClient(make_key(company, scopes=["read"])) for company in everyone}
    texts = {
        slug: client.get(f"agents/{shared.pk}/prompt?user_id=bob").json()["text"]
        for slug, client in keys.items()
    }
    for slug, text in texts.items():
        assert f"- 公司: {slug}\n" in text
        assert "大家的经验" in text and "大家的准则" in text
        for other in texts:
            assert (f"profile of {other}" in text) == (other == slug)
            assert (f"memory of {other}" in text) == (other == slug)


def test_a_company_cannot_fetch_another_companys_agent_by_naming_it(two, signed_in, operator):
    _client, _canary, agent = two["rival"]
    session = signed_in(operator)
    for company in ("acme", "rival", "_global"):
        assert session.get(f"/api/v1/agents/{agent.pk}/prompt?company={company}").status_code == 404


def test_a_key_of_a_disabled_company_fetches_nothing(db):
    company = make_company("closed")
    client, agent = ApiClient(make_key(company, scopes=["read"])), make_agent(company)
    assert client.get(f"agents/{agent.pk}/prompt").status_code == 200
    company.enabled = False
    company.save()
    assert client.get(f"agents/{agent.pk}/prompt").status_code == 401

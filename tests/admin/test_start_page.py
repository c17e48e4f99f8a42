"""The start page, the switches of company and language in the header, and the search of the sidebar."""

import pytest
from django.test import Client

from tests import factories

START = "/admin/"
SWITCH = "/admin/company/"


def test_the_start_page_says_how_much_there_is(signed_in, viewer, acme, rival):
    agent = factories.make_agent(acme, "运维助手", rows=["一", ("二", False), "三"])
    factories.make_agent(acme, "resting", enabled=False)
    factories.make_agent(rival, "canary", rows=["x"])
    response = signed_in(viewer).get(START)
    cards = {str(card["title"]): (card["value"], str(card["hint"])) for card in response.context["cards"]}
    assert cards == {"Agents": (2, "1 enabled, 1 disabled"), "Best-practice experiences": (3, "2 on, 1 off")}
    page = response.content.decode()
    assert f"/admin/agents/agent/{agent.pk}/change/" in page
    assert f"/admin/agents/agent/{agent.pk}/prompt/" in page
    assert "agent created" in page
    assert "canary" not in page
    assert "Recent actions" not in page


@pytest.mark.parametrize(
    ("person", "deeds"),
    [
        ("viewer", []),
        ("approver", []),
        ("operator", ["Add an agent"]),
        ("administrator", ["Import agents", "Add an agent", "Issue an API key"]),
        ("chief", ["Import agents", "Add an agent", "Issue an API key"]),
    ],
)
def test_what_one_may_do_is_offered(signed_in, request, person, deeds):
    response = signed_in(request.getfixturevalue(person)).get(START)
    assert [str(deed["title"]) for deed in response.context["deeds"]] == deeds
    for deed in response.context["deeds"]:
        assert deed["url"] in response.content.decode()


def test_who_has_no_role_is_told_what_to_do(signed_in, db):
    person = factories.make_person("newcomer")
    assert "You have no role yet." in signed_in(person).get(START).content.decode()


def test_the_start_page_takes_a_fixed_number_of_queries(
    signed_in, administrator, acme, django_assert_num_queries
):
    for number in range(12):
        factories.make_agent(acme, rows=[f"row {number}"] * 3)
        factories.make_key(acme, ["read"])
    client = signed_in(administrator)
    with django_assert_num_queries(16):
        assert client.get(START).status_code == 200


def test_the_chosen_company_narrows_lists_and_start_page(signed_in, chief, acme, rival):
    for company in (acme, rival):
        factories.make_agent(company, f"agent of {company.slug}")
        factories.make_key(company, ["read"], name=f"key of {company.slug}")
    client = signed_in(chief)
    response = client.post(SWITCH, {"company": "acme", "next": "/admin/companies/apikey/"})
    assert (response.status_code, response.url) == (302, "/admin/companies/apikey/")
    for url in ("/admin/companies/apikey/", "/admin/receipts/receipt/", "/admin/agents/agent/"):
        rows = client.get(url).context["cl"].result_list
        assert {row.company.slug for row in rows} == {"acme"}, url
    assert "agent of rival" not in client.get(START).content.decode()
    client.post(SWITCH, {"company": ""})
    assert "key of rival" in client.get("/admin/companies/apikey/").content.decode()


def test_a_link_to_a_row_of_another_own_company_still_opens(signed_in, chief, acme, rival):
    client = signed_in(chief)
    client.post(SWITCH, {"company": "acme"})
    assert client.get(f"/admin/companies/company/{rival.pk}/change/").status_code == 200


@pytest.mark.parametrize("slug", ["rival", "nowhere", "' OR 1=1 --", "\x00"])
def test_a_company_one_may_not_see_is_not_chosen(signed_in, administrator, rival, slug):
    client = signed_in(administrator)
    assert client.post(SWITCH, {"company": slug}).status_code == 404
    assert client.session.get("company", "") == ""


def test_companies_are_offered_as_far_as_one_may_see_them(signed_in, administrator, rival):
    page = signed_in(administrator).get(START).content.decode()
    assert '<option value="acme">' in page
    assert '<option value="_global">' in page
    assert "rival" not in page


def test_the_switch_is_a_post_with_a_token(administrator):
    client = Client(enforce_csrf_checks=True)
    client.force_login(administrator)
    assert client.get(SWITCH).status_code == 405
    assert client.post(SWITCH, {"company": "acme"}).status_code == 403
    assert Client().post(SWITCH, {"company": "acme"}).status_code == 302, "strangers go to the login page"


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example", "javascript:alert(1)", ""])
def test_the_switch_leads_nowhere_else(signed_in, administrator, address):
    response = signed_in(administrator).post(SWITCH, {"company": "acme", "next": address})
    assert response.url == START


def test_a_choice_is_forgotten_with_the_membership(signed_in, administrator, acme):
    client = signed_in(administrator)
    client.post(SWITCH, {"company": "acme"})
    acme.members.remove(administrator)
    client.get(START)
    assert client.session["company"] == ""


@pytest.mark.parametrize(("code", "word"), [("zh-hans", "登录"), ("en", "Log in")])
def test_the_language_is_switched_by_post_before_and_after_signing_in(signed_in, operator, code, word):
    client = Client()
    assert f'value="{code}"' in client.get("/admin/login/").content.decode()
    response = client.post("/i18n/setlang/", {"language": code, "next": "/admin/login/"})
    assert response.url == "/admin/login/"
    assert word in client.get("/admin/login/").content.decode()
    client.force_login(operator)
    page = client.get(START).content.decode()
    assert f'<html lang="{code}"' in page
    assert page.count('action="/i18n/setlang/"') >= 2


@pytest.mark.parametrize("code", ["zh-hans", "en"])
def test_each_language_is_offered_by_its_own_name(db, code):
    client = Client(headers={"accept-language": code})
    page = client.get("/admin/login/").content.decode()
    assert ">简体中文</button>" in page
    assert ">English</button>" in page


def test_the_language_is_not_switched_by_get(db):
    client = Client()
    client.get("/i18n/setlang/", {"language": "en"})
    assert "django_language" not in client.cookies


@pytest.mark.parametrize(
    ("language", "term", "found"),
    [
        ("en", "receipt", ["Receipts", "Receipt lines"]),
        ("en", "RECEIPT", ["Receipts", "Receipt lines"]),
        ("en", "xyz", []),
        ("zh-hans", "回执", ["回执", "回执条目"]),
    ],
)
def test_the_sidebar_search_finds_pages_in_the_language_of_the_moment(
    signed_in, viewer, language, term, found
):
    response = signed_in(viewer, language).get("/admin/search/", {"s": term})
    assert sorted(result.title for result in response.context["results"]) == sorted(found)


@pytest.mark.parametrize("query", [{"s": "a", "page": "x"}, {"s": "a", "page": "999"}, {"s": ""}, {}])
def test_odd_searches_are_answered(signed_in, viewer, query):
    assert signed_in(viewer).get("/admin/search/", query).status_code == 200

"""Companies in the admin: made and changed through the service, `_global` protected, nothing deleted."""

import pytest
from django.urls import reverse

from common.companies.models import Company
from common.receipts.models import Receipt
from tests import factories
from tests.admin.pages import save

LIST = "/admin/companies/company/"
ADD = "/admin/companies/company/add/"


def page_of(company):
    return reverse("admin:companies_company_change", args=[company.pk])


def test_a_new_company_leaves_a_receipt_in_its_own_chain(signed_in, chief, operator):
    response = save(signed_in(chief), ADD, slug="north", name="北方", enabled="on", members=[operator.pk])
    assert response.status_code == 302
    company = Company.objects.get(slug="north")
    assert list(company.members.all()) == [operator]
    receipt = Receipt.objects.get(company=company)
    assert (receipt.number, receipt.trigger, receipt.actor_name) == (1, "company_created", "chief")
    assert {line.target for line in receipt.lines.all()} == {
        "companies/north/slug",
        "companies/north/name",
        "companies/north/enabled",
        "companies/north/members",
    }


def test_who_makes_a_company_without_being_superuser_becomes_its_member(signed_in, administrator):
    save(signed_in(administrator), ADD, slug="north", name="North")
    assert list(Company.objects.get(slug="north").members.all()) == [administrator]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("slug", "North", "Enter a valid value."),
        ("slug", "-north", "Enter a valid value."),
        ("slug", "x" * 51, "at most 50 characters"),
        ("slug", "acme", "already exists"),
        ("slug", "_global", "already exists"),
        ("name", "\u200b\u2060", "1 to 100 visible characters"),
        ("name", "名" * 101, "at most 100 characters"),
    ],
)
def test_a_bad_company_is_refused_beside_its_field(signed_in, chief, acme, field, value, told):
    before = Company.objects.count()
    fields = {"slug": "north", "name": "North", field: value}
    response = save(signed_in(chief), ADD, **fields)
    assert response.status_code == 200
    assert told in " ".join(response.context["adminform"].form.errors[field])
    assert Company.objects.count() == before


def test_disabling_a_company_shuts_out_its_keys(signed_in, chief, acme, reader):
    assert reader.get("me").status_code == 200
    save(signed_in(chief), page_of(acme), enabled=None)
    assert reader.get("me").status_code == 401


def test_a_save_without_changes_writes_no_receipt(signed_in, chief, acme):
    save(signed_in(chief), page_of(acme))
    assert not Receipt.objects.filter(company=acme).exists()


@pytest.mark.parametrize("changes", [{"slug": "shared"}, {"name": "Shared"}, {"enabled": None}])
def test_the_shared_company_is_neither_renamed_nor_disabled(signed_in, chief, global_company, changes):
    save(signed_in(chief), page_of(global_company), **changes)
    stored = Company.objects.get(pk=global_company.pk)
    assert (stored.slug, stored.name, stored.enabled) == ("_global", global_company.name, True)


def test_the_shared_company_can_have_members(signed_in, chief, global_company, operator):
    save(signed_in(chief), page_of(global_company), members=[operator.pk])
    assert list(global_company.members.all()) == [operator]


def test_deleting_is_not_offered(signed_in, chief, acme):
    client = signed_in(chief)
    assert b"delete" not in client.get(page_of(acme)).content.lower().split(b"<body")[1].split(b"<script")[0]
    url = reverse("admin:companies_company_delete", args=[acme.pk])
    assert client.post(url, {"post": "yes"}).status_code == 403
    assert Company.objects.filter(pk=acme.pk).exists()


def test_a_company_that_one_is_no_member_of_is_not_there(signed_in, administrator, rival):
    client = signed_in(administrator)
    assert "rival" not in client.get(LIST).content.decode()
    assert client.get(page_of(rival)).status_code == 404
    assert client.post(page_of(rival), {"name": "Mine"}).status_code == 404


def test_only_members_change_the_shared_company(signed_in, administrator, global_company):
    client = signed_in(administrator)
    assert client.get(page_of(global_company)).status_code == 200
    assert client.post(page_of(global_company), {"members": [administrator.pk]}).status_code == 403
    assert not global_company.members.exists()


def test_members_are_chosen_among_people_one_may_see(signed_in, administrator, operator, stranger, acme):
    client = signed_in(administrator)
    assert "stranger" not in client.get(page_of(acme)).content.decode()
    response = save(client, page_of(acme), members=[administrator.pk, stranger.pk])
    assert response.status_code == 200
    assert "members" in response.context["adminform"].form.errors
    assert not acme.members.filter(pk=stranger.pk).exists()


def test_a_stale_form_is_refused_and_names_who_changed_the_company(signed_in, chief, administrator, acme):
    client = signed_in(chief)
    opened = client.get(page_of(acme))
    save(signed_in(administrator), page_of(acme), name="Acme 2")
    seen = opened.context["adminform"].form["seen"].value()
    response = client.post(page_of(acme), {"slug": "acme", "name": "Acme 3", "enabled": "on", "seen": seen})
    assert response.status_code == 200
    assert "administrator changed this in the meantime" in response.content.decode()
    assert Company.objects.get(pk=acme.pk).name == "Acme 2"


def test_without_the_comparison_the_second_save_would_win(signed_in, chief, administrator, acme, monkeypatch):
    monkeypatch.setattr("common.careful_admin.CarefulForm.state", lambda self: "same")
    save(signed_in(administrator), page_of(acme), name="Acme 2")
    signed_in(chief).post(page_of(acme), {"slug": "acme", "name": "Acme 3", "enabled": "on", "seen": "same"})
    assert Company.objects.get(pk=acme.pk).name == "Acme 3"


def test_the_list_counts_members_and_agents_in_a_fixed_number_of_queries(
    signed_in, chief, acme, operator, viewer, django_assert_num_queries
):
    factories.make_agent(acme)
    for number in range(20):
        factories.make_agent(factories.make_company(f"company-{number}"))
    client = signed_in(chief)
    with django_assert_num_queries(5):
        response = client.get(LIST)
    row = next(company for company in response.context["cl"].result_list if company.slug == "acme")
    assert (row.member_count, row.agent_count) == (2, 1)


def test_the_history_of_a_company_is_its_receipts(signed_in, chief, acme):
    client = signed_in(chief)
    save(client, page_of(acme), name="Acme 2")
    response = client.get(reverse("admin:companies_company_history", args=[acme.pk]), follow=True)
    assert [receipt.trigger for receipt in response.context["cl"].result_list] == ["company_changed"]

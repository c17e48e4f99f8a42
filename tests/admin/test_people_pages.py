"""People in the admin: nobody gives, takes or takes over more than they have themselves."""

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import Group, Permission
from django.urls import reverse

from common.accounts.models import User
from common.receipts.models import Receipt, ReceiptText
from tests import factories
from tests.admin.pages import save

LIST = "/admin/accounts/user/"
ADD = "/admin/accounts/user/add/"
PASSWORD = "Feldbuch-2026!"


def page_of(person):
    return reverse("admin:accounts_user_change", args=[person.pk])


def password_page_of(person):
    return reverse("admin:auth_user_password_change", args=[person.pk])


def role(name):
    return Group.objects.get(name=name).pk


def a_new_person(client, **fields):
    given = {"username": "zhang", "password1": PASSWORD, "password2": PASSWORD, **fields}
    return save(client, ADD, **given)


def errors_of(response):
    return response.context["adminform"].form.errors


def powers_of(person):
    person = User.objects.get(pk=person.pk)
    return (
        person.password,
        person.is_superuser,
        person.is_staff,
        person.is_active,
        sorted(person.groups.values_list("name", flat=True)),
        sorted(person.user_permissions.values_list("codename", flat=True)),
        sorted(person.companies.values_list("slug", flat=True)),
    )


def test_an_administrator_enters_a_colleague_who_can_sign_in(signed_in, administrator, acme, global_company):
    fields = {"first_name": "三", "last_name": "张", "groups": [role("Editor")], "companies": [acme.pk]}
    assert a_new_person(signed_in(administrator), **fields).status_code == 302
    person = authenticate(username="zhang", password=PASSWORD)
    assert person.is_staff
    assert not person.is_superuser
    assert [group.name for group in person.groups.all()] == ["Editor"]
    assert list(person.companies.all()) == [acme]
    receipt = Receipt.objects.get(company=global_company)
    assert (receipt.trigger, receipt.actor_name) == ("person_created", "administrator")
    assert Receipt.objects.get(company=acme).trigger == "company_changed"
    stored = "".join(ReceiptText.objects.values_list("text", flat=True))
    assert person.password not in stored
    assert PASSWORD not in stored


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"username": ""}, "username"),
        ({"username": "administrator"}, "username"),
        ({"username": "a b"}, "username"),
        ({"password1": "1", "password2": "1"}, "password2"),
        ({"password2": "different-2026!"}, "password2"),
        ({"email": "nonsense"}, "email"),
        ({"companies": []}, "companies"),
        ({"companies": ["999999"]}, "companies"),
        ({"groups": ["x"]}, "groups"),
    ],
)
def test_a_bad_form_is_refused_beside_its_field(signed_in, administrator, acme, fields, field):
    response = a_new_person(signed_in(administrator), **{"companies": [acme.pk], **fields})
    assert response.status_code == 200
    assert field in errors_of(response)
    assert User.objects.count() == 1


def test_a_changed_person_leaves_a_receipt_that_names_what_changed(
    signed_in, administrator, operator, global_company
):
    save(signed_in(administrator), page_of(operator), groups=[role("Approver")], email="new@example.test")
    assert powers_of(operator)[4] == ["Approver"]
    receipt = Receipt.objects.get(company=global_company)
    assert {line.target for line in receipt.lines.all()} == {
        "people/operator/email",
        "people/operator/roles",
    }


def test_companies_are_taken_away_with_a_receipt_in_their_chain(signed_in, administrator, operator, acme):
    save(signed_in(administrator), page_of(operator), companies=None)
    assert powers_of(operator)[6] == []
    assert ReceiptText.objects.get(receipt__company=acme).text == "− operator"


@pytest.mark.parametrize(
    "forged",
    [
        {"is_superuser": "on"},
        {"user_permissions": ["1", "2"]},
        {"is_superuser": "on", "user_permissions": ["1"]},
    ],
)
@pytest.mark.parametrize("target", ["administrator", "operator"])
def test_an_administrator_makes_nobody_more_than_an_administrator(
    signed_in, request, administrator, acme, target, forged
):
    person = request.getfixturevalue(target)
    before = powers_of(person)
    save(signed_in(administrator), page_of(person), **forged)
    a_new_person(signed_in(administrator), companies=[acme.pk], **forged)
    assert powers_of(person) == before
    assert not User.objects.filter(is_superuser=True).exists()
    assert not Permission.objects.filter(user__isnull=False).exists()


def test_a_superuser_is_changed_by_superusers_only(signed_in, administrator, chief, acme):
    acme.members.add(chief)
    before = powers_of(chief)
    client = signed_in(administrator)
    assert client.get(page_of(chief)).status_code == 200, "colleagues may be seen"
    assert client.post(page_of(chief), {"username": "chief", "is_active": ""}).status_code == 403
    assert client.get(password_page_of(chief)).status_code == 403
    given = {"password1": PASSWORD, "password2": PASSWORD}
    assert client.post(password_page_of(chief), given).status_code == 403
    assert powers_of(chief) == before


def test_a_superuser_of_no_shared_company_is_not_there(signed_in, administrator, chief):
    client = signed_in(administrator)
    assert "chief" not in client.get(LIST).content.decode()
    for url in (page_of(chief), password_page_of(chief)):
        assert client.get(url).status_code == 404


def test_a_role_with_more_rights_is_neither_offered_nor_accepted(signed_in, administrator, operator, acme):
    strong = Group.objects.create(name="Auditor")
    strong.permissions.add(Permission.objects.get(codename="delete_user"))
    client = signed_in(administrator)
    offered = client.get(page_of(operator)).context["adminform"].form.fields["groups"].queryset
    assert [group.name for group in offered] == ["Administrator", "Approver", "Editor", "Viewer"]
    assert "groups" in errors_of(save(client, page_of(operator), groups=[strong.pk]))
    assert "groups" in errors_of(a_new_person(client, groups=[strong.pk], companies=[acme.pk]))
    assert powers_of(operator)[4] == ["Editor"]


def test_who_has_more_rights_is_not_taken_over(signed_in, administrator, operator):
    operator.user_permissions.add(Permission.objects.get(codename="delete_user"))
    operator.is_active = False
    operator.save()
    before = powers_of(operator)
    client = signed_in(administrator)
    given = {"password1": PASSWORD, "password2": PASSWORD}
    assert client.post(password_page_of(operator), given).status_code == 403
    assert client.post(page_of(operator), {"username": "operator", "is_active": "on"}).status_code == 403
    assert powers_of(operator) == before


def test_a_member_of_another_company_too_is_not_taken_over(signed_in, administrator, operator, acme, rival):
    rival.members.add(operator)
    before = powers_of(operator)
    client = signed_in(administrator)
    page = client.get(page_of(operator))
    assert page.status_code == 200
    assert "Rival" not in page.content.decode()
    given = {"password1": PASSWORD, "password2": PASSWORD}
    assert client.post(password_page_of(operator), given).status_code == 403
    assert client.post(page_of(operator), {"username": "operator", "companies": []}).status_code == 403
    assert powers_of(operator) == before


def test_without_the_check_the_password_would_be_set(signed_in, administrator, operator, rival, monkeypatch):
    rival.members.add(operator)
    for module in ("admin", "services"):
        monkeypatch.setattr(f"common.accounts.{module}.may_manage", lambda manager, person: True)
    given = {"password1": PASSWORD, "password2": PASSWORD}
    signed_in(administrator).post(password_page_of(operator), given)
    assert authenticate(username="operator", password=PASSWORD)


def test_companies_of_others_are_neither_offered_nor_accepted(
    signed_in, administrator, operator, rival, global_company
):
    client = signed_in(administrator)
    assert "Rival" not in client.get(ADD).content.decode()
    for company in (rival, global_company):
        assert "companies" in errors_of(save(client, page_of(operator), companies=[company.pk]))
        assert "companies" in errors_of(a_new_person(client, companies=[company.pk]))
    assert powers_of(operator)[6] == ["acme"]


@pytest.mark.parametrize("person", ["viewer", "operator", "approver"])
def test_people_are_for_administrators(signed_in, request, person, administrator):
    client = signed_in(request.getfixturevalue(person))
    for url in (LIST, ADD, page_of(administrator), password_page_of(administrator)):
        assert client.get(url).status_code == 403
        assert client.post(url, {"username": "x"}).status_code == 403


def test_people_of_another_company_are_not_there(signed_in, stranger, operator):
    client = signed_in(stranger)
    assert "operator" not in client.get(LIST).content.decode()
    assert not client.get(LIST, {"q": "operator@example"}).context["cl"].result_list
    for url in (page_of(operator), password_page_of(operator)):
        assert client.get(url).status_code == 404


def test_nobody_locks_themselves_out(signed_in, chief, administrator):
    for person in (chief, administrator):
        before = powers_of(person)
        for field in ("is_active", "is_staff"):
            response = save(signed_in(person), page_of(person), **{field: None})
            assert response.status_code in (200, 302)
        assert powers_of(person) == before
    save(signed_in(chief), page_of(chief), is_superuser=None)
    assert powers_of(chief)[1] is True


def test_a_new_password_ends_the_sessions_of_the_person_and_leaves_a_receipt(
    signed_in, administrator, operator, global_company
):
    session = signed_in(operator)
    assert session.get("/admin/").status_code == 200
    given = {"password1": PASSWORD, "password2": PASSWORD}
    assert signed_in(administrator).post(password_page_of(operator), given).status_code == 302
    assert authenticate(username="operator", password=PASSWORD)
    assert session.get("/admin/").status_code == 302
    receipt = Receipt.objects.get(company=global_company)
    assert [line.target for line in receipt.lines.all()] == ["people/operator/password"]
    assert not ReceiptText.objects.exists()


@pytest.mark.parametrize(("first", "second"), [("1", "1"), (PASSWORD, "other"), ("", "")])
def test_a_weak_or_mistyped_password_is_refused(signed_in, administrator, operator, first, second):
    before = powers_of(operator)
    given = {"password1": first, "password2": second}
    assert signed_in(administrator).post(password_page_of(operator), given).status_code == 200
    assert powers_of(operator) == before


def test_a_deactivated_person_is_out_at_once(signed_in, administrator, operator):
    session = signed_in(operator)
    save(signed_in(administrator), page_of(operator), is_active=None)
    assert session.get("/admin/").status_code == 302


def test_people_are_never_deleted(signed_in, chief, operator):
    url = reverse("admin:accounts_user_delete", args=[operator.pk])
    assert signed_in(chief).post(url, {"post": "yes"}).status_code == 403
    assert User.objects.filter(pk=operator.pk).exists()


def test_a_superuser_may_make_a_superuser(signed_in, chief, operator):
    save(signed_in(chief), page_of(operator), is_superuser="on")
    assert powers_of(operator)[1] is True


def test_a_stale_form_is_refused(signed_in, chief, administrator, operator):
    client = signed_in(chief)
    opened = client.get(page_of(operator))
    save(signed_in(administrator), page_of(operator), groups=[role("Viewer")])
    seen = opened.context["adminform"].form["seen"].value()
    response = client.post(
        page_of(operator), {"username": "operator", "groups": [role("Administrator")], "seen": seen}
    )
    assert "administrator changed this in the meantime" in response.content.decode()
    assert powers_of(operator)[4] == ["Viewer"]


@pytest.mark.parametrize("lookup", ["password__startswith", "groups__name", "companies__name__startswith"])
def test_nothing_is_guessed_through_the_address(signed_in, administrator, lookup):
    assert signed_in(administrator).get(LIST, {lookup: "a"}).status_code == 400


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"company": "rival"}, ["stranger"]),
        ({"company": "acme"}, ["operator"]),
        ({"role": "Editor"}, ["operator"]),
        ({"is_active__exact": "0"}, []),
        ({"role": "x"}, []),
        ({"company": "nowhere"}, []),
    ],
)
def test_people_are_filtered(signed_in, chief, operator, stranger, query, found):
    query = {name: role(value) if value == "Editor" else value for name, value in query.items()}
    response = signed_in(chief).get(LIST, query)
    assert [person.username for person in response.context["cl"].result_list] == found


def test_the_list_takes_a_fixed_number_of_queries(signed_in, chief, acme, django_assert_num_queries):
    for number in range(20):
        factories.make_person(f"person-{number}", role="Viewer", companies=[acme])
    client = signed_in(chief)
    with django_assert_num_queries(9):
        assert client.get(LIST).status_code == 200


def test_roles_are_shown_in_words_and_not_editable(signed_in, administrator, chief):
    url = reverse("admin:auth_group_change", args=[role("Editor")])
    page = signed_in(administrator).get(url).content.decode()
    assert "changes agents, experiences and documents" in page
    assert "<b>best-practice experiences</b>: add · change · delete · view" in page
    client = signed_in(chief)
    assert client.post(url, {"name": "Editor", "permissions": []}).status_code == 403
    assert client.get("/admin/auth/group/add/").status_code == 403
    assert Group.objects.get(name="Editor").permissions.exists()


def test_roles_count_only_people_one_may_see(signed_in, administrator, operator, stranger):
    rows = signed_in(administrator).get("/admin/auth/group/").context["cl"].result_list
    assert {group.name: group.person_count for group in rows} == {
        "Administrator": 1,
        "Approver": 0,
        "Editor": 1,
        "Viewer": 0,
    }

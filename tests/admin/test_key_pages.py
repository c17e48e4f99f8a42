"""API keys in the admin: issued once, shown once, revoked with a confirmation, never edited."""

import re
from datetime import timedelta

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.core import serializers
from django.urls import reverse
from django.utils import timezone

from common.companies.models import ApiKey
from common.receipts.models import Receipt
from tests import factories
from tests.admin.pages import form_values, save, shown_messages

LIST = "/admin/companies/apikey/"
ADD = "/admin/companies/apikey/add/"
KEY_TEXT = re.compile(r"fb_[a-z0-9]{8}_[A-Za-z0-9_-]{43}")


def page_of(key):
    return reverse("admin:companies_apikey_change", args=[key.pk])


def revoke_page_of(key):
    return reverse("admin:companies_apikey_revoke", args=[key.pk])


def issue(client, of, **fields):
    return save(client, ADD, **{"name": "runtime", "company": of.pk, "scopes": ["read"], **fields})


def a_key(company, **fields):
    factories.make_key(company, fields.pop("scopes", ["read"]), **fields)
    return ApiKey.objects.order_by("-pk").first()


def everything_stored():
    return "".join(serializers.serialize("json", model.objects.all()) for model in apps.get_models())


def test_the_answer_shows_a_key_that_works(signed_in, administrator, acme):
    response = issue(signed_in(administrator), acme, scopes=["read", "report"])
    assert response.status_code == 200
    text = KEY_TEXT.search(response.content.decode()).group()
    assert factories.ApiClient(text).get("me").status_code == 200
    key = ApiKey.objects.get()
    assert (key.scopes, key.created_by, key.company) == (["read", "report"], "administrator", acme)
    receipt = Receipt.objects.get(company=acme)
    assert (receipt.trigger, receipt.actor_name) == ("api_key_issued", "administrator")


def test_the_page_has_a_curl_line_that_is_ready_to_run(signed_in, administrator, acme):
    agent = factories.make_agent(acme)
    page = issue(signed_in(administrator), acme, agent=agent.pk).content.decode()
    text = KEY_TEXT.search(page).group()
    wanted = f"curl -H 'Authorization: Bearer {text}' http://testserver/api/v1/agents/{agent.pk}/prompt"
    assert wanted.replace("'", "&#x27;") in page


def test_the_key_is_kept_nowhere_but_in_that_one_answer(signed_in, administrator, acme, caplog):
    client = signed_in(administrator)
    response = issue(client, acme)
    secret = KEY_TEXT.search(response.content.decode()).group().split("_", 2)[2]
    assert "no-store" in response["Cache-Control"]
    assert shown_messages(response) == []
    assert not LogEntry.objects.exists()
    assert secret not in str(response.headers) + str(response.cookies)
    assert all(secret not in str(session.get_decoded()) for session in Session.objects.all())
    assert secret not in everything_stored()
    assert secret not in caplog.text
    for url in (LIST, page_of(ApiKey.objects.get()), "/admin/", "/admin/receipts/receipt/"):
        assert secret not in client.get(url).content.decode()


def test_a_form_sent_again_issues_no_second_key(signed_in, administrator, acme):
    client = signed_in(administrator)
    values = {**form_values(client.get(ADD)), "name": "runtime", "company": acme.pk, "scopes": ["read"]}
    assert client.post(ADD, values).status_code == 200
    again = client.post(ADD, values)
    assert again.status_code == 302
    assert "issued its key already" in shown_messages(again)[0]
    assert ApiKey.objects.count() == 1


def test_a_key_may_expire(signed_in, administrator, acme):
    issue(signed_in(administrator), acme, expires_days="30")
    life = ApiKey.objects.get().expires_at - timezone.now()
    assert timedelta(days=29, hours=23) < life <= timedelta(days=30)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "\u200b"),
        ("name", "钥" * 101),
        ("scopes", []),
        ("scopes", ["admin"]),
        ("expires_days", "0"),
        ("expires_days", "-1"),
        ("expires_days", "99999999999999999999"),
        ("expires_days", "soon"),
        ("company", ""),
        ("company", "999999"),
        ("agent", "999999"),
        ("agent", "x"),
    ],
)
def test_a_bad_form_is_refused_beside_its_field(signed_in, administrator, acme, field, value):
    response = issue(signed_in(administrator), acme, **{field: value})
    assert response.status_code == 200
    assert field in response.context["adminform"].form.errors
    assert not ApiKey.objects.exists()


def test_a_key_is_issued_only_for_companies_one_is_a_member_of(
    signed_in, administrator, rival, global_company
):
    client = signed_in(administrator)
    offered = client.get(ADD).context["adminform"].form.fields["company"].queryset
    assert [company.slug for company in offered] == ["acme"]
    for company in (rival, global_company):
        assert "company" in issue(client, company).context["adminform"].form.errors
    assert not ApiKey.objects.exists()


def test_a_key_works_for_agents_that_its_company_can_read(signed_in, chief, acme, rival, global_company):
    client = signed_in(chief)
    shared, own, foreign = (factories.make_agent(company) for company in (global_company, acme, rival))
    assert issue(client, acme, agent=foreign.pk).context["adminform"].form.errors["agent"]
    assert not ApiKey.objects.exists()
    for agent in (shared, own):
        assert KEY_TEXT.search(issue(client, acme, agent=agent.pk).content.decode())


def test_agents_of_other_companies_are_not_offered(signed_in, administrator, acme, rival):
    factories.make_agent(rival, "secret project")
    factories.make_agent(acme, "own project")
    page = signed_in(administrator).get(ADD).content.decode()
    assert "own project" in page
    assert "secret project" not in page


def test_revoking_asks_first_and_then_shuts_the_key_out(signed_in, administrator, acme, reader):
    key = ApiKey.objects.get()
    client = signed_in(administrator)
    assert client.get(revoke_page_of(key)).status_code == 200
    assert client.post(revoke_page_of(key)).status_code == 200
    assert reader.get("me").status_code == 200, "nothing happens before the confirmation"
    assert client.post(revoke_page_of(key), {"confirmed": "yes"}).status_code == 302
    assert reader.get("me").status_code == 401
    receipt = Receipt.objects.filter(company=acme).order_by("-number").first()
    assert (receipt.trigger, receipt.actor_name) == ("api_key_revoked", "administrator")


def test_revoking_twice_says_so_and_writes_one_receipt(signed_in, administrator, acme):
    key = a_key(acme)
    client = signed_in(administrator)
    client.post(revoke_page_of(key), {"confirmed": "yes"})
    again = client.post(revoke_page_of(key), {"confirmed": "yes"})
    assert shown_messages(again)[-1] == "This key is revoked already."
    assert Receipt.objects.filter(trigger="api_key_revoked").count() == 1


def test_several_keys_are_revoked_at_once(signed_in, administrator, acme):
    keys = [a_key(acme) for _ in range(3)]
    client = signed_in(administrator)
    chosen = {"action": "revoke_selected", "_selected_action": [key.pk for key in keys[:2]]}
    page = client.post(LIST, chosen)
    assert page.status_code == 200
    assert not ApiKey.objects.exclude(revoked_at=None).exists()
    client.post(LIST, {**chosen, "confirmed": "yes"})
    assert list(ApiKey.objects.filter(revoked_at=None)) == [keys[2]]


@pytest.mark.parametrize("person", ["viewer", "operator", "approver"])
def test_keys_are_for_administrators(signed_in, request, person, acme):
    key = a_key(acme)
    client = signed_in(request.getfixturevalue(person))
    for url in (LIST, ADD, page_of(key), revoke_page_of(key)):
        assert client.get(url).status_code == 403
    assert client.post(revoke_page_of(key), {"confirmed": "yes"}).status_code == 403
    assert client.post(ADD, {"name": "x", "company": acme.pk, "scopes": ["read"]}).status_code == 403
    assert ApiKey.objects.get().revoked_at is None


def test_keys_of_another_company_are_not_there(signed_in, stranger, acme, global_company):
    key, shared = a_key(acme, name="acme key"), a_key(global_company, name="shared key")
    client = signed_in(stranger)
    page = client.get(LIST).content.decode()
    assert "acme key" not in page
    assert "shared key" not in page
    for url in (page_of(key), revoke_page_of(key), page_of(shared), revoke_page_of(shared)):
        assert client.get(url).status_code == 404
        assert client.post(url, {"confirmed": "yes"}).status_code in (403, 404)
    chosen = {"action": "revoke_selected", "_selected_action": [key.pk], "confirmed": "yes"}
    client.post(LIST, chosen)
    assert not ApiKey.objects.exclude(revoked_at=None).exists()


def test_a_key_is_not_editable(signed_in, chief, acme):
    key = a_key(acme, name="runtime")
    client = signed_in(chief)
    assert client.post(page_of(key), {"name": "renamed", "scopes": ["agents:write"]}).status_code == 403
    delete = reverse("admin:companies_apikey_delete", args=[key.pk])
    assert client.post(delete, {"post": "yes"}).status_code == 403
    stored = ApiKey.objects.get()
    assert (stored.name, stored.scopes) == ("runtime", ["read"])


def test_keys_are_filtered_by_state(signed_in, chief, acme, rival):
    now = timezone.now()
    live, revoked, expired = a_key(acme), a_key(acme), a_key(acme)
    disabled = a_key(rival)
    ApiKey.objects.filter(pk=revoked.pk).update(revoked_at=now)
    ApiKey.objects.filter(pk=expired.pk).update(expires_at=now - timedelta(seconds=1))
    rival.enabled = False
    rival.save()
    wanted = {"live": live, "revoked": revoked, "expired": expired, "disabled": disabled}
    for state, key in wanted.items():
        response = signed_in(chief).get(LIST, {"state": state})
        assert list(response.context["cl"].result_list) == [key], state


def test_keys_are_filtered_by_companies_one_may_see(signed_in, administrator, chief, acme, rival):
    mine, other = a_key(acme), a_key(rival)
    assert list(signed_in(chief).get(LIST, {"company": "rival"}).context["cl"].result_list) == [other]
    client = signed_in(administrator)
    assert list(client.get(LIST, {"company": "rival"}).context["cl"].result_list) == []
    assert list(client.get(LIST, {"company": "acme"}).context["cl"].result_list) == [mine]
    assert "Rival" not in client.get(LIST).content.decode()


@pytest.mark.parametrize("lookup", ["secret_hash__startswith", "secret_hash", "company__name__startswith"])
def test_nothing_is_guessed_through_the_address(signed_in, administrator, acme, lookup):
    a_key(acme)
    assert signed_in(administrator).get(LIST, {lookup: "a"}).status_code == 400


def test_the_list_takes_a_fixed_number_of_queries(signed_in, chief, acme, django_assert_num_queries):
    agent = factories.make_agent(acme)
    for _ in range(20):
        a_key(acme, agent_id=agent.pk)
    client = signed_in(chief)
    with django_assert_num_queries(6):
        assert client.get(LIST).status_code == 200

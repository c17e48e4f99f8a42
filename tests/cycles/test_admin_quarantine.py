"""Quarantines in the admin: a form that first shows what it would hold, and lifting with a reason."""

from datetime import timedelta

import pytest
from django.utils import timezone

from common.companies.models import ApiKey
from evolution.cycles.models import Quarantine
from evolution.knowledge.models import Knowledge
from tests.admin.pages import form_values
from tests.factories import make_key
from tests.knowledge.items import key_actor, make_knowledge

pytestmark = pytest.mark.django_db
LIST = "/admin/cycles/quarantine/"
HOLD = f"{LIST}hold/"


def sent(key, **more):
    since = timezone.localtime(timezone.now() - timedelta(days=1))
    return {"key": key.pk, "since": since.strftime("%Y-%m-%dT%H:%M"), "reason": "stolen", **more}


@pytest.fixture
def key(acme):
    make_knowledge(acme, actor=key_actor(acme))
    return ApiKey.objects.get()


def seen_in(response):
    return response.context["seen"]


def test_it_shows_first_and_holds_what_was_shown(signed_in, administrator, key):
    client = signed_in(administrator)
    shown = client.post(HOLD, sent(key))
    assert "items of knowledge" in shown.content.decode() and not Quarantine.objects.exists()
    response = client.post(HOLD, sent(key, seen=seen_in(shown)))
    row = Quarantine.objects.get()
    assert response.url == f"{LIST}{row.pk}/change/" and row.counts == {"knowledge": 1}
    assert Knowledge.objects.get().quarantined_at is not None
    page = client.get(response.url).content.decode()
    assert "stolen" in page and "Lift the quarantine" in page


def test_what_was_not_shown_is_not_held(signed_in, administrator, acme, key):
    client = signed_in(administrator)
    before = seen_in(client.post(HOLD, sent(key)))
    Knowledge.objects.filter(pk=make_knowledge(acme, "another").pk).update(created_by_key=key)
    again = client.post(HOLD, sent(key, seen=before)).content.decode()
    assert "It would hold something else by now" in again and not Quarantine.objects.exists()


@pytest.mark.parametrize("more", [{"reason": "\u200b"}, {"since": "2999-01-01T00:00"}, {"since": "x"}])
def test_bad_input_is_told_beside_the_field(signed_in, administrator, key, more):
    response = signed_in(administrator).post(HOLD, sent(key, seen="knowledge=1", **more))
    assert response.context["form"].errors and not Quarantine.objects.exists()


def test_lifting_needs_a_reason_and_brings_it_back(signed_in, administrator, key):
    client = signed_in(administrator)
    client.post(HOLD, sent(key, seen=seen_in(client.post(HOLD, sent(key)))))
    lift = f"{LIST}{Quarantine.objects.get().pk}/lift/"
    values = form_values(client.get(lift))
    client.post(lift, {**values, "reason": " "})
    assert Quarantine.objects.get().lifted_at is None
    client.post(lift, {**values, "reason": "false alarm"})
    assert Quarantine.objects.get().lift_reason == "false alarm"
    assert Knowledge.objects.get().quarantined_at is None
    assert client.get(lift).status_code == 302


def test_a_key_of_another_company_is_neither_offered_nor_taken(signed_in, stranger, acme, key, rival):
    make_key(rival, ["report"], name="own")
    client = signed_in(stranger)
    offered = client.get(HOLD).content.decode()
    assert "own (" in offered and key.prefix not in offered
    client.post(HOLD, sent(key, seen="knowledge=1"))
    assert not Quarantine.objects.exists()

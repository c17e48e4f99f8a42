"""The pages of phrases: seen by all staff, changed by administrators, through the service."""

import pytest
from django.urls import reverse

from common.receipts.models import Receipt
from evolution.memory.models import Phrase

LIST = reverse("admin:memory_phrase_changelist")
ADD = reverse("admin:memory_phrase_add")
FORM = {"kind": "teach", "language": "zh", "text": "牢记", "enabled": "on", "seen": ""}


@pytest.fixture
def phrase(db):
    return Phrase.objects.get(kind="teach", text="记住")


def page_of(phrase, name="change"):
    return reverse(f"admin:memory_phrase_{name}", args=[phrase.pk])


def filled(client, phrase, **changes):
    form = client.get(page_of(phrase)).context["adminform"].form
    values = {"kind": phrase.kind, "language": phrase.language, "text": phrase.text, "seen": form.state()}
    return {**values, **({"enabled": "on"} if phrase.enabled else {}), **changes}


@pytest.mark.parametrize("role", ["viewer", "operator", "approver"])
def test_staff_see_phrases_and_change_none(role, request, signed_in, phrase):
    client = signed_in(request.getfixturevalue(role))
    assert "记住" in client.get(LIST).content.decode()
    assert client.get(page_of(phrase)).status_code == 200
    assert client.post(page_of(phrase), FORM).status_code == 403
    assert client.post(ADD, FORM).status_code == 403
    assert client.post(page_of(phrase, "delete"), {"post": "yes"}).status_code == 403
    phrase.refresh_from_db()
    assert phrase.text == "记住"
    assert "delete_selected" not in client.get(LIST).content.decode()


def test_an_administrator_adds_changes_and_deletes(administrator, signed_in):
    client = signed_in(administrator)
    assert client.post(ADD, FORM).status_code == 302
    phrase = Phrase.objects.get(text="牢记")
    assert client.post(page_of(phrase), filled(client, phrase, text="务必牢记")).status_code == 302
    phrase.refresh_from_db()
    assert (phrase.text, phrase.key) == ("务必牢记", "务必牢记")
    history = client.get(page_of(phrase, "history"))
    assert f"phrases%2F{phrase.pk}%2F" in history.url
    assert client.post(page_of(phrase, "delete"), {"post": "yes"}).status_code == 302
    assert not Phrase.objects.filter(pk=phrase.pk).exists()
    actors = Receipt.objects.about(f"phrases/{phrase.pk}/").values_list("actor_name", "channel")
    assert list(actors) == [("administrator", "admin")] * 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("记住", "has the phrase already"),
        ("a ... b ... c", "may stand once"),
        ("记\u200b住", "show nothing"),
        ("", "required"),
    ],
)
def test_a_bad_phrase_is_refused_beside_its_field(administrator, signed_in, text, said):
    answer = signed_in(administrator).post(ADD, {**FORM, "text": text})
    assert answer.status_code == 200
    assert said in str(answer.context["adminform"].form.errors["text"])


def test_a_stale_save_is_refused(administrator, chief, signed_in, phrase):
    client = signed_in(administrator)
    stale = filled(client, phrase, text="牢记")
    other = signed_in(chief)
    other.post(page_of(phrase), filled(other, phrase, text="记牢"))
    answer = client.post(page_of(phrase), stale)
    assert answer.status_code == 200
    assert "chief changed this in the meantime" in answer.content.decode()
    phrase.refresh_from_db()
    assert phrase.text == "记牢"


def test_hidden_characters_of_stored_phrases_are_shown(administrator, signed_in, phrase):
    Phrase.objects.filter(pk=phrase.pk).update(text="记\u200b住")
    assert "[U+200B]" in signed_in(administrator).get(LIST).content.decode()


def test_the_list_takes_the_same_queries_for_any_number(
    administrator, signed_in, django_assert_max_num_queries
):
    client = signed_in(administrator)
    client.get(LIST)
    with django_assert_max_num_queries(12):
        assert client.get(f"{LIST}?kind__exact=teach&q=记").status_code == 200


def test_the_sidebar_leads_to_phrases(viewer, signed_in):
    assert LIST in signed_in(viewer).get(reverse("admin:index")).content.decode()

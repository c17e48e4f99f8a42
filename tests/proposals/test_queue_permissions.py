"""Who may see, draft, edit, decide, apply and roll back; everybody else is refused, whatever they send."""

import pytest
from django.test import Client

from common.receipts.models import Receipt
from evolution.proposals.models import Proposal
from evolution.proposals.services.locking import hash_of
from tests.factories import make_agent
from tests.proposals.queue_pages import BULK, LIST, NOTE, QUEUE, numbered, page_of, text_of

pytestmark = pytest.mark.django_db
ITEMS = "/admin/proposals/proposalitem/"


@pytest.fixture
def agent(acme):
    return make_agent(acme, name="canary agent", documents=[("memory/notes.md", "# Notes\n")])


@pytest.fixture
def proposal(runtime, agent):
    runtime.draft(agent, NOTE | {"content": "canary"}, title="canary")
    return numbered("EP-001")


@pytest.fixture
def person(request):
    """The person of the parameter, by the name of their fixture."""
    return request.getfixturevalue(request.param)


def verbs(proposal):
    """(address, what is sent) of everything that changes a proposal."""
    pk = proposal.pk
    return {
        "approve": (f"{QUEUE}{pk}/decide/", {"verb": "approve", "item": "1"}),
        "reject": (f"{QUEUE}{pk}/decide/", {"verb": "reject", "item": "1", "reason": "r"}),
        "skip": (f"{QUEUE}{pk}/decide/", {"verb": "skip", "item": "1"}),
        "bulk": (BULK, {"verb": "skip", "chosen": pk, "confirmed": "yes"}),
        "bulk page": (BULK, {"verb": "skip", "chosen": pk}),
        "edit": (f"{QUEUE}{pk}/edit/1/", {"content": "mine"}),
        "apply": (f"{LIST}{pk}/apply/", {"confirmed": "yes"}),
        "rollback": (f"{LIST}{pk}/rollback/", {"confirmed": "yes", "reason": "r"}),
        "repropose": (f"{LIST}{pk}/repropose/", {"confirmed": "yes"}),
        "submit": (f"{LIST}{pk}/submit/", {"confirmed": "yes"}),
        "discard": (f"{LIST}{pk}/discard/", {"confirmed": "yes", "reason": "r"}),
        "page": (page_of(proposal), {"title": "mine", "status": "applied"}),
        "delete": (f"{LIST}{pk}/delete/", {"post": "yes"}),
    }


EDITS = {"edit", "repropose", "submit"}
NOBODY = {"page", "delete"}


@pytest.mark.parametrize("verb", sorted(verbs(Proposal(pk=1))))
@pytest.mark.parametrize(
    ("person", "may"),
    [("viewer", set()), ("operator", EDITS), ("stranger", set())],
    indirect=["person"],
)
def test_a_forged_post_is_refused(signed_in, proposal, person, may, verb):
    url, body = verbs(proposal)[verb]
    before = list(Proposal.objects.values()), list(proposal.items.values())
    if verb in may:
        assert signed_in(person).post(url, body).status_code == 302
        return
    answer = signed_in(person).post(url, body)
    is_stranger = person.username == "stranger"
    expected = {404, 403} if is_stranger else {403}
    if is_stranger and verb.startswith("bulk"):
        expected = {200}  # what one may not see is not there, so nothing is decided
    assert answer.status_code in expected
    assert b"canary" not in answer.content or not is_stranger
    assert (list(Proposal.objects.values()), list(proposal.items.values())) == before


@pytest.mark.parametrize("verb", sorted(set(verbs(Proposal(pk=1))) - NOBODY))
def test_a_get_changes_nothing(signed_in, chief, proposal, verb):
    before = list(Proposal.objects.values()), Receipt.objects.count()
    client = signed_in(chief)
    url, _body = verbs(proposal)[verb]
    assert client.get(url).status_code in (200, 405)
    for page in ("", "queue/", "queue/sources/", "audit/", "health/", f"{proposal.pk}/change/", "add/"):
        assert client.get(LIST + page).status_code == 200
    assert (list(Proposal.objects.values()), Receipt.objects.count()) == before


@pytest.mark.parametrize("verb", sorted(set(verbs(Proposal(pk=1))) - NOBODY))
def test_a_post_without_a_token_is_refused(chief, proposal, verb):
    client = Client(enforce_csrf_checks=True)
    client.force_login(chief)
    url, body = verbs(proposal)[verb]
    assert client.post(url, body).status_code == 403
    assert numbered("EP-001").status == "pending"


@pytest.mark.parametrize(
    ("person", "shown", "hidden"),
    [
        ("viewer", (), ("Approve", "Reject", ">Edit", "Draft one")),
        ("operator", (">Edit", "Draft one"), ("Approve", 'value="reject"')),
        ("approver", ("Approve and apply", 'value="reject"', ">Edit"), ("Draft one",)),
        ("administrator", ("Approve and apply", ">Edit", "Draft one"), ()),
    ],
    indirect=["person"],
)
def test_the_queue_offers_what_the_person_may_do(signed_in, proposal, person, shown, hidden):
    text = text_of(signed_in(person).get(QUEUE)).split("<dialog")[0]
    assert "canary" in text
    assert [word for word in shown if word not in text] == []
    assert [word for word in hidden if word in text] == []


@pytest.mark.parametrize("page", ["", "queue/", "queue/sources/", "audit/", "audit/?export=csv", "health/"])
def test_another_company_sees_nothing_of_it(signed_in, stranger, proposal, page):
    answer = signed_in(stranger).get(LIST + page)
    assert answer.status_code == 200
    assert "canary" not in text_of(answer)
    assert "canary" not in text_of(signed_in(stranger).get(ITEMS))
    assert signed_in(stranger).get(page_of(proposal)).status_code == 404


def test_foreign_ids_in_filters_tell_nothing(signed_in, stranger, proposal, agent):
    client = signed_in(stranger)
    for query in (f"agent={agent.pk}", "source=canary", f"p={proposal.pk}"):
        answer = client.get(f"{QUEUE}?{query}", follow=True)
        assert "canary agent" not in text_of(answer)
    form = client.get(f"{LIST}audit/?company={agent.company_id}&agent={agent.pk}")
    assert form.status_code == 200 and "canary" not in text_of(form)


@pytest.mark.parametrize("person", ["approver"], indirect=True)
def test_what_one_may_only_read_cannot_be_decided(signed_in, person, global_company, runtime):
    shared = make_agent(global_company, name="shared", documents=[("memory/notes.md", "# Notes\n")])
    runtime.draft(
        shared,
        {"type": "user_preference", "operation": "update", "target": "users/u/profile.md", "content": "x"},
    )
    proposal = numbered("EP-001")
    Proposal.objects.update(company=global_company)
    client = signed_in(person)
    assert "canary" not in text_of(client.get(QUEUE)) and client.get(QUEUE).context["shown"] is None
    assert "You can read this, but not decide" in text_of(client.get(f"{QUEUE}?p={proposal.pk}"))
    for verb in ("approve", "bulk", "edit", "apply"):
        url, body = verbs(proposal)[verb]
        assert client.post(url, body).status_code == 403
    assert Proposal.objects.get().status == "pending"


def test_approving_applying_and_rolling_back_are_three_permissions(
    signed_in, approver_only, runtime, proposal
):
    client = signed_in(approver_only.person)
    url, body = verbs(proposal)["approve"]
    shown = client.get(QUEUE).context["shown"].shown_hash
    assert client.post(url, body | {"shown_hash": shown}).status_code == 302
    assert numbered("EP-001").status == "approved"
    for verb in ("apply", "rollback"):
        url, body = verbs(proposal)[verb]
        assert client.post(url, body).status_code == 403
    text = text_of(client.get(page_of(proposal)))
    assert "/apply/" not in text and "/rollback/" not in text


def test_without_the_check_of_the_company_a_reader_would_decide(
    signed_in, approver, global_company, proposal, monkeypatch
):
    Proposal.objects.update(company=global_company)
    monkeypatch.setattr("common.admin.FieldbookAdmin.may_write", lambda self, request, obj: True)
    client = signed_in(approver)
    shown = hash_of(proposal.items.all())
    answer = client.post(f"{QUEUE}{proposal.pk}/decide/", {"verb": "skip", "item": "1", "shown_hash": shown})
    assert answer.status_code == 302 and Proposal.objects.get().status == "skipped"

"""Every write over REST leaves exactly the receipts it must, in its company's chain; a refused one leaves none."""

import json

import pytest
from django.db import transaction
from django.test import Client

from agents.models import Agent
from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from tests.api.routes import all_routes
from tests.factories import make_agent, make_person
from tests.house.api_world import AGENT, KNOWLEDGE, LESSON, PATTERN, PROPOSAL, ROUTES, body_for, build
from tests.house.digests import digest_of_everything

pytestmark = pytest.mark.django_db

WRITES = [
    (route, verb)
    for route in all_routes()
    for verb in route.verbs
    if verb != "GET" and verb in ROUTES.get(route.path, {})
]

#: How many receipts the call of `api_world` leaves, where it is not one.
RECEIPTS = {
    ("POST", f"{AGENT}/prompt"): 0,  # renders; changes nothing of the body
    ("POST", "proposals"): 0,  # a draft changes nothing yet
    ("POST", "parameters/<slug:name>/propose"): 0,  # the same
    ("POST", "parameter-changes/<id:change_id>/revert"): 0,  # the same
    ("POST", "teachings"): 0,  # the same
    ("PATCH", PROPOSAL): 0,  # the same
    ("PATCH", f"{PROPOSAL}/items/<id:number>"): 0,  # the same
    ("POST", f"{PROPOSAL}/submit"): 0,  # waits already: 409
    ("POST", f"{PROPOSAL}/repropose"): 0,  # nothing is wrong with it: 409
    ("POST", f"{PROPOSAL}/apply"): 0,  # not approved: 409
    ("POST", f"{PROPOSAL}/rollback"): 0,  # not applied: 409
    ("POST", "lessons/recall"): 0,  # reads; its log is no change
    ("POST", "lessons/check"): 0,  # advises
    ("POST", "recalls/<uuid:recall_id>/outcome"): 0,  # counts
    ("POST", "knowledge"): 0,  # a draft counts for nothing yet
    ("PATCH", KNOWLEDGE): 0,  # the same
    ("POST", f"{KNOWLEDGE}/restore"): 0,  # a draft: 409
    ("POST", "injections"): 0,  # reads; its log is no change
    ("POST", "patterns/suggest"): 0,  # reads
    ("POST", f"{PATTERN}/scaffold"): 0,  # reads
    ("POST", f"{PATTERN}/promote"): 0,  # not seen often enough: 409
    ("POST", "learning-items"): 0,  # waits; nothing is learnt yet
    ("POST", "lessons"): 0,  # a draft counts for nothing yet
    ("PATCH", LESSON): 0,  # the same
    ("POST", f"{LESSON}/archive"): 0,  # a draft: 409
    ("POST", f"{LESSON}/restore"): 0,  # the same
    ("POST", f"{LESSON}/promote"): 0,  # the same
}


@pytest.fixture
def victim(acme):
    return build(acme, "world")


@pytest.fixture
def session(db):
    """Whoever may do everything, over the same API."""
    client = Client(raise_request_exception=False)
    client.force_login(make_person("root", superuser=True))
    return client


def send(session, verb, route, parts, body):
    url = route.url(**{name: value for name, value in parts.items() if f":{name}>" in route.path})
    sent = "" if body is None else body if isinstance(body, bytes) else json.dumps(body)
    return session.generic(verb, f"{url}?company=acme", sent, "application/json")


def test_each_write_leaves_its_receipts_in_the_right_chain(acme, rival, victim, session, subtests):
    for route, verb in WRITES:
        with subtests.test(call=f"{verb} {route}"), transaction.atomic():
            before = Receipt.objects.count()
            answer = send(session, verb, route, victim, body_for(verb, route.path, victim))
            assert answer.status_code in (200, 201, 204, 409), answer.content.decode()
            expected = RECEIPTS.get((verb, route.path), 1)
            new = list(Receipt.objects.order_by("-pk")[: Receipt.objects.count() - before])
            assert len(new) == expected, [receipt.trigger for receipt in new]
            assert {receipt.company for receipt in new} <= {acme}
            assert verify_chain(acme).intact
            transaction.set_rollback(True)


def test_a_refused_write_leaves_no_receipt(victim, session, subtests):
    before = digest_of_everything()
    for route, verb in WRITES:
        if verb == "DELETE":
            continue
        with subtests.test(call=f"{verb} {route}"):
            assert send(session, verb, route, victim, b'{"name": NaN}').status_code == 400
    assert digest_of_everything() == before


#: Approving is one transaction and applying another, whose failure is kept as a state of the proposal; a report that
#: could not be processed keeps the attempt and its error.
KEEPS_ITS_FAILURES = {f"{PROPOSAL}/approve", "learning-items/process"}


def test_a_failure_while_the_receipt_is_written_leaves_nothing_at_all(victim, session, subtests, monkeypatch):
    def fail(*args, **kwargs):
        raise RuntimeError

    monkeypatch.setattr(Receipt, "save", fail)
    before = digest_of_everything()
    for route, verb in WRITES:
        if RECEIPTS.get((verb, route.path), 1) == 0 or route.path in KEEPS_ITS_FAILURES:
            continue
        with subtests.test(call=f"{verb} {route}"):
            assert send(session, verb, route, victim, body_for(verb, route.path, victim)).status_code == 500
            assert digest_of_everything() == before


def test_two_agents_that_change_with_one_request_have_a_receipt_each(acme, session):
    """The exception: who becomes the default agent takes the flag from another one."""
    first, second = make_agent(acme, is_default=True), make_agent(acme)
    before = Receipt.objects.count()
    answer = session.patch(
        f"/api/v1/agents/{second.pk}?company=acme", {"is_default": True}, content_type="application/json"
    )
    assert answer.status_code == 200
    new = Receipt.objects.order_by("-pk")[: Receipt.objects.count() - before]
    assert {receipt.agent_id for receipt in new} == {first.pk, second.pk}
    assert len(new) == 2


def test_a_receipt_says_who_through_which_door_and_what_before_and_after(writer, acme):
    agent = make_agent(acme, name="ops", rows=["one"])
    first = Receipt.objects.get(agent_id=agent.pk)
    writer.patch(f"agents/{agent.pk}", {"description": "new", "experiences": [{"content": "two"}]})
    receipt = Receipt.objects.filter(agent_id=agent.pk).latest("number")
    assert receipt.actor_name.startswith("key:")
    assert (receipt.channel, receipt.agent_name, receipt.type) == ("api", "ops", "change")
    assert receipt.detail["before_sha256"] == first.detail["after_sha256"]
    assert receipt.detail["after_sha256"] != receipt.detail["before_sha256"]
    assert receipt.detail["version"] == Agent.objects.get(pk=agent.pk).version == 2
    targets = sorted(line.type for line in receipt.lines.all())
    assert targets == ["experience_added", "experience_removed", "setting"]
    assert receipt.totals["total"] == receipt.totals["applied"] == 3

"""One decision about several proposals: shown before, decided one by one, told one by one."""

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import DatabaseError

from evolution.proposals.models import Proposal
from tests.admin.pages import form_values
from tests.factories import make_agent
from tests.proposals.queue_pages import BULK, LIST, NOTE, PROFILE, ROW, RULE, edit, numbered, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(acme):
    documents = [("principles.md", "# P\n"), ("memory/notes.md", "# Notes\n\n- one\n")]
    return make_agent(acme, name="运维", rows=["先查日志"], documents=documents)


@pytest.fixture
def client(signed_in, approver):
    return signed_in(approver)


def ask(client, verb, *proposals):
    return client.post(BULK, {"verb": verb, "chosen": [proposal.pk for proposal in proposals]})


def confirm(client, page, **changes):
    values = form_values(page)
    names = [name for name in values if name in ("verb", "chosen", "confirmed") or name.startswith("hash-")]
    return client.post(BULK, {name: values[name] for name in names} | changes)


def outcomes(answer):
    return [(o.shown.proposal.code, o.is_good) for o in answer.context["outcomes"]]


def status(*codes):
    return [numbered(code).status for code in codes]


def test_approving_several_shows_each_difference_first(client, runtime, agent):
    runtime.draft(agent, ROW | {"content": "再看监控"})
    runtime.draft(agent, PROFILE | {"content": "用表格"})
    page = ask(client, "approve", numbered("EP-001"), numbered("EP-002"))
    assert page.status_code == 200
    assert "再看监控" in text_of(page) and "用表格" in text_of(page)
    assert status("EP-001", "EP-002") == ["pending", "pending"]
    answer = confirm(client, page)
    assert outcomes(answer) == [("EP-001", True), ("EP-002", True)]
    assert status("EP-001", "EP-002") == ["applied", "applied"]


def test_high_risk_is_left_out_of_a_bulk_approval_and_says_why(client, runtime, agent):
    runtime.draft(agent, RULE | {"content": "x"})
    runtime.draft(agent, NOTE | {"content": "y"})
    page = ask(client, "approve", numbered("EP-001"), numbered("EP-002"))
    assert "Its risk is high: decide about it alone." in text_of(page)
    confirm(client, page)
    assert status("EP-001", "EP-002") == ["pending", "applied"]


def test_a_forged_bulk_approval_of_high_risk_is_refused(client, runtime, agent):
    runtime.draft(agent, RULE | {"content": "x"})
    proposal = numbered("EP-001")
    answer = client.post(BULK, {"verb": "approve", "chosen": proposal.pk, "confirmed": "yes", "reason": "r"})
    assert outcomes(answer) == [("EP-001", False)] and status("EP-001") == ["pending"]


def test_one_failure_neither_hides_nor_stops_the_others(client, runtime, agent):
    for row in ("甲", "乙", "丙", "丁"):
        runtime.draft(agent, ROW | {"content": f"{row}：先看一眼再动手"})
    codes = ["EP-001", "EP-002", "EP-003", "EP-004"]
    page = ask(client, "approve", *map(numbered, codes))
    edit(client, numbered("EP-002"), content="changed meanwhile")
    Proposal.objects.filter(number=3).update(status="skipped")
    answer = confirm(client, page)
    assert outcomes(answer) == [("EP-001", True), ("EP-002", False), ("EP-003", False), ("EP-004", True)]
    assert status(*codes) == ["applied", "pending", "skipped", "applied"]
    assert "no longer what you were shown" in text_of(answer)


def test_a_fault_of_the_database_in_one_is_told_and_the_others_go_on(client, runtime, agent, monkeypatch):
    from evolution.proposals.admin import queue

    runtime.draft(agent, ROW | {"content": "甲"})
    runtime.draft(agent, ROW | {"content": "乙"})
    skip = queue.skip

    def sometimes(*, proposal_id, decision):
        if proposal_id == numbered("EP-001").pk:
            raise DatabaseError("locked")
        return skip(proposal_id=proposal_id, decision=decision)

    monkeypatch.setattr(queue, "skip", sometimes)
    page = ask(client, "skip", numbered("EP-001"), numbered("EP-002"))
    assert outcomes(confirm(client, page)) == [("EP-001", False), ("EP-002", True)]


def test_rejecting_several_takes_one_reason(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "a"})
    runtime.draft(agent, RULE | {"content": "b"})
    page = ask(client, "reject", numbered("EP-001"), numbered("EP-002"))
    again = confirm(client, page)
    assert "Say why" in text_of(again) and status("EP-001", "EP-002") == ["pending", "pending"]
    confirm(client, page, reason="junk from one key")
    assert status("EP-001", "EP-002") == ["rejected", "rejected"]
    assert {proposal.decision_reason for proposal in Proposal.objects.all()} == {"junk from one key"}


def test_at_most_fifty_at_once(client, acme, agent, runtime):
    from tests.proposals.queue_pages import waiting_rows

    rows = waiting_rows(acme, agent, 60, risk="low")
    page = ask(client, "skip", *rows)
    assert "At most 50 proposals at once" in text_of(page)
    assert len(page.context["rows"]) == 50


@pytest.mark.parametrize("verb", ["", "delete", "apply"])
def test_an_unknown_verb_does_nothing(client, runtime, agent, verb):
    runtime.draft(agent, NOTE | {"content": "a"})
    assert ask(client, verb, numbered("EP-001")).status_code == 302
    assert status("EP-001") == ["pending"]


@pytest.mark.parametrize(
    ("action", "expected"),
    [("approve_chosen", "applied"), ("skip_chosen", "skipped"), ("reject_chosen", "rejected")],
)
def test_the_work_list_offers_the_same(client, runtime, agent, action, expected):
    runtime.draft(agent, NOTE | {"content": "a"})
    page = client.post(LIST, {"action": action, ACTION_CHECKBOX_NAME: numbered("EP-001").pk})
    assert page.status_code == 200
    confirm(client, page, reason="why")
    assert status("EP-001") == [expected]


def test_who_may_not_approve_is_not_offered_the_actions(signed_in, operator, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "a"})
    text = text_of(signed_in(operator).get(LIST))
    assert "approve_chosen" not in text

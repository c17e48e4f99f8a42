"""Decisions in the queue: exactly what was shown, told in one sentence, and the next proposal opens."""

import pytest
from django.db import DatabaseError

from agents.models import DocumentVersion
from common.receipts.models import Receipt
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.services import deciding
from tests.admin.pages import shown_messages
from tests.factories import make_agent, make_person
from tests.proposals.queue_pages import (
    NOTE,
    PROFILE,
    QUEUE,
    ROW,
    RULE,
    decide,
    edit,
    numbered,
    opened,
    text_of,
)

pytestmark = pytest.mark.django_db
NOTES = "# Notes\r\n\r\n- one\r\n"


@pytest.fixture
def agent(acme):
    documents = [("principles.md", "# 原则\n\n## 规则\n\n- 报告禁止附图\n"), ("memory/notes.md", NOTES)]
    return make_agent(acme, name="运维", rows=["先查日志"], documents=documents)


@pytest.fixture
def client(signed_in, approver):
    return signed_in(approver)


def states(proposal):
    return [item.status for item in ProposalItem.objects.filter(proposal=proposal).order_by("number")]


def current_text(agent, path):
    document = agent.documents.get(path=path)
    return DocumentVersion.objects.get(document=document, number=document.current_version).text


def test_who_may_apply_approves_and_applies_in_one_step_and_sees_the_next(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "two"})
    runtime.draft(agent, NOTE | {"content": "three"})
    first, second = numbered("EP-001"), numbered("EP-002")
    answer = decide(client, first, "approve")
    assert answer.status_code == 302 and answer.url == f"{QUEUE}?p={second.pk}"
    assert shown_messages(answer) == ["EP-001 applied: version 2 of memory/notes.md."]
    assert numbered("EP-001").status == "applied"
    assert "- two\r\n" in current_text(agent, "memory/notes.md")


def test_who_may_only_approve_leaves_it_to_be_applied(signed_in, approver_only, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "two"})
    answer = decide(signed_in(approver_only.person), numbered("EP-001"), "approve")
    assert shown_messages(answer) == ["EP-001 approved. It waits for somebody who may apply it."]
    assert numbered("EP-001").status == "approved"
    assert current_text(agent, "memory/notes.md") == NOTES


def test_the_filter_and_the_view_survive_a_decision(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "two"})
    answer = decide(client, numbered("EP-001"), "skip", query="?risk=medium&view=unified")
    assert answer.url == f"{QUEUE}?risk=medium&view=unified"


def test_a_high_risk_change_takes_a_reason_and_the_typed_name(client, runtime, agent):
    runtime.draft(agent, RULE | {"content": "先预发"})
    proposal = numbered("EP-001")
    refused = decide(client, proposal, "approve", reason="", confirmation="运维")
    assert refused.status_code == 400 and "A high-risk change needs a reason." in text_of(refused)
    refused = decide(client, proposal, "approve", reason="because of EP", confirmation="运")
    assert refused.status_code == 400
    assert "because of EP</textarea>" in text_of(refused), "what was typed is kept"
    assert numbered("EP-001").status == "pending"
    answer = decide(client, proposal, "approve", reason="agreed", confirmation="运维")
    assert answer.status_code == 302
    assert numbered("EP-001").status == "applied"


def test_the_proposer_of_a_high_risk_change_cannot_approve_it(signed_in, runtime, acme, agent):
    person = make_person("both", role="Administrator", companies=[acme])
    runtime.draft(agent, RULE | {"content": "x"})
    Proposal.objects.update(created_by_user=person)
    answer = decide(signed_in(person), numbered("EP-001"), "approve", reason="r", confirmation="运维")
    assert answer.status_code == 403
    assert numbered("EP-001").status == "pending"


def test_rejecting_takes_a_reason_that_the_receipt_keeps(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "two"})
    assert decide(client, numbered("EP-001"), "reject").status_code == 400
    answer = decide(client, numbered("EP-001"), "reject", reason="not true")
    assert shown_messages(answer) == ["EP-001 rejected."]
    assert states(numbered("EP-001")) == ["rejected"]
    assert Receipt.objects.get(trigger="proposal_rejected").totals["rejected"] == 1


def test_skipping_needs_nothing(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "two"})
    decide(client, numbered("EP-001"), "skip")
    assert numbered("EP-001").status == "skipped"


def test_items_are_decided_one_by_one_and_the_rest_waits(client, runtime, agent):
    runtime.draft(
        agent, NOTE | {"content": "two"}, ROW | {"content": "再看监控"}, PROFILE | {"content": "表格"}
    )
    proposal = numbered("EP-001")
    answer = decide(client, proposal, "approve", item=["2"])
    assert answer.url == f"{QUEUE}?p={proposal.pk}"
    assert shown_messages(answer) == ["EP-001: 1 of 3 items decided; the rest still waits."]
    assert states(proposal) == ["pending", "approved", "pending"]
    decide(client, proposal, "reject", item=["1"], reason="no")
    answer = decide(client, proposal, "skip")
    assert states(proposal) == ["rejected", "approved", "skipped"]
    assert numbered("EP-001").status == "approved"


def test_no_item_and_no_verb_decide_nothing(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "two"})
    proposal = numbered("EP-001")
    assert decide(client, proposal, "approve", item=None).status_code == 400
    assert decide(client, proposal, "").status_code == 400
    assert decide(client, proposal, "delete").status_code == 400
    assert states(proposal) == ["pending"]


def change_target(writer, agent):
    body = {"path": "memory/notes.md", "text": "meanwhile\n"}
    assert writer.put(f"agents/{agent.pk}/documents", body).status_code == 200


def test_a_proposal_that_changed_since_it_was_shown_is_refused(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "two"})
    proposal = numbered("EP-001")
    seen = opened(client, proposal).context["shown"].shown_hash
    edit(client, proposal, content="something else")
    answer = decide(client, proposal, "approve", shown_hash=seen)
    assert answer.status_code == 409
    assert "no longer what you were shown" in text_of(answer) and "something else" in text_of(answer)
    assert states(proposal) == ["pending"]


def test_without_the_digest_the_changed_proposal_would_be_approved(client, runtime, agent, monkeypatch):
    monkeypatch.setattr(deciding, "_check_shown", lambda proposal, decision: None)
    runtime.draft(agent, NOTE | {"content": "two"})
    proposal = numbered("EP-001")
    seen = opened(client, proposal).context["shown"].shown_hash
    edit(client, proposal, content="something else")
    assert decide(client, proposal, "approve", shown_hash=seen).status_code == 302


def test_a_missing_digest_is_no_digest(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "two"})
    assert decide(client, numbered("EP-001"), "approve", shown_hash=None).status_code == 409


def test_a_target_that_changed_since_it_was_shown_is_refused(client, runtime, writer, agent):
    runtime.draft(agent, NOTE | {"content": "two"})
    proposal = numbered("EP-001")
    seen = opened(client, proposal).context["shown"].shown_hash
    change_target(writer, agent)
    answer = decide(client, proposal, "approve", shown_hash=seen)
    assert answer.status_code == 409 and "memory/notes.md changed since" in text_of(answer)
    assert current_text(agent, "memory/notes.md") == "meanwhile\n"


def test_a_changed_target_is_worked_out_again_with_one_button(client, runtime, writer, agent):
    runtime.draft(agent, NOTE | {"content": "two"})
    change_target(writer, agent)
    proposal = numbered("EP-001")
    assert edit(client, proposal).url == f"{QUEUE}?p={proposal.pk}"
    assert decide(client, proposal, "approve").status_code == 302
    assert current_text(agent, "memory/notes.md").startswith("meanwhile\n")


def test_the_next_proposal_is_shown_on_the_text_that_the_last_one_left(client, runtime, agent):
    for words in ("two", "three", "four"):
        runtime.draft(agent, NOTE | {"content": words})
    for code in ("EP-001", "EP-002", "EP-003"):
        assert decide(client, numbered(code), "approve").status_code == 302
    assert current_text(agent, "memory/notes.md").splitlines()[-3:] == ["- two", "- three", "- four"]


def test_working_out_again_makes_nobody_an_author(client, runtime, writer, agent):
    runtime.draft(agent, RULE | {"content": "先预发"})
    body = {"path": "principles.md", "text": "# 原则\n\n## 规则\n\n- 新的\n"}
    assert writer.put(f"agents/{agent.pk}/documents", body).status_code == 200
    proposal = numbered("EP-001")
    assert decide(client, proposal, "approve", reason="r", confirmation="运维").status_code == 409
    edit(client, proposal)
    assert numbered("EP-001").last_edited_by == ""
    assert decide(client, proposal, "approve", reason="r", confirmation="运维").status_code == 302
    assert numbered("EP-001").status == "applied"
    assert "- 新的\n- 先预发\n" in current_text(agent, "principles.md")


def test_working_out_again_changes_nothing_where_nothing_has_changed(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "two"})
    before = Proposal.objects.values().get(), ProposalItem.objects.values().get()
    edit(client, numbered("EP-001"))
    assert (Proposal.objects.values().get(), ProposalItem.objects.values().get()) == before


def test_an_item_approved_on_the_old_text_is_open_again(client, runtime, writer, agent):
    runtime.draft(agent, NOTE | {"content": "two"}, PROFILE | {"content": "tables"})
    proposal = numbered("EP-001")
    decide(client, proposal, "approve", item=["1"])
    change_target(writer, agent)
    edit(client, proposal)
    assert states(proposal) == ["pending", "pending"]
    assert "meanwhile" in proposal.items.get(number=1).base_text


def test_the_second_of_two_reviewers_is_told_and_led_on(client, signed_in, chief, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "two"})
    runtime.draft(agent, PROFILE | {"content": "tables"})
    first, second = numbered("EP-001"), numbered("EP-002")
    shown = opened(client, first).context["shown"]
    decide(signed_in(chief), first, "approve")
    sent = {"verb": "approve", "item": ["1"], "shown_hash": shown.shown_hash}
    answer = client.post(f"{QUEUE}{first.pk}/decide/", sent)
    assert answer.url == f"{QUEUE}?p={second.pk}"
    assert "EP-001 is applied" in shown_messages(answer)[0]
    assert Receipt.objects.filter(trigger="proposal_applied").count() == 1


def test_a_failed_write_is_never_called_applied(client, runtime, agent, monkeypatch):
    def refuse(*args, **options):
        raise DatabaseError("disk full")

    runtime.draft(agent, NOTE | {"content": "two"})
    monkeypatch.setattr("evolution.proposals.operations.documents.write_text", refuse)
    answer = decide(client, numbered("EP-001"), "approve")
    told = shown_messages(answer)[0]
    assert "nothing was written" in told and "applied:" not in told
    assert numbered("EP-001").status == "failed"


def test_editing_in_place_recomputes_the_difference(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "two"})
    proposal = numbered("EP-001")
    box = opened(client, proposal, "&edit=1")
    assert 'name="content"' in text_of(box) and "\ntwo</textarea>" in text_of(box)
    assert edit(client, proposal, content="three and a half").status_code == 302
    assert "+- three and a half" in proposal.items.get().diff
    assert numbered("EP-001").last_edited_by == "approver"


def test_the_whole_text_keeps_its_line_ends(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "two"})
    proposal = numbered("EP-001")
    assert 'name="new_text"' in text_of(opened(client, proposal, "&edit=1&whole=new_text"))
    edit(client, proposal, new_text="# Notes\r\n\r\n- one\r\n- 2\r\n")
    decide(client, proposal, "approve")
    assert current_text(agent, "memory/notes.md") == "# Notes\r\n\r\n- one\r\n- 2\r\n"


def test_a_document_with_plain_line_ends_gets_no_others_from_the_browser(client, runtime, agent):
    runtime.draft(agent, RULE | {"content": "x"})
    proposal = numbered("EP-001")
    edit(client, proposal, new_text="# 原则\r\n\r\n## 规则\r\n\r\n- y\r\n")
    assert proposal.items.get().new_text == "# 原则\n\n## 规则\n\n- y\n"


def test_a_refused_edit_keeps_what_was_typed(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "two"})
    typed = "x" * 2001
    answer = edit(client, numbered("EP-001"), content=typed)
    assert answer.status_code == 400 and f"\n{typed}</textarea>" in text_of(answer)


def test_an_edit_of_what_somebody_else_edited_is_refused(client, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "two"})
    proposal = numbered("EP-001")
    edit(client, proposal, content="three")
    stale = client.post(f"{QUEUE}{proposal.pk}/edit/1/", {"version": 1, "content": "mine"})
    assert stale.status_code == 412 and "\nmine</textarea>" in text_of(stale)
    assert proposal.items.get().content == "three"


@pytest.mark.parametrize(
    ("choice", "proposal_state", "item_state"),
    [("keep_old", "skipped", "skipped"), ("drop", "skipped", "skipped"), ("keep_both", "pending", "pending")],
)
def test_a_conflict_is_decided_by_a_choice(client, runtime, agent, choice, proposal_state, item_state):
    runtime.draft(agent, RULE | {"content": "报告必须附图"})
    proposal = numbered("EP-001")
    refused = decide(client, proposal, "approve", reason="r", confirmation="运维")
    assert refused.status_code == 400 and "has a conflict" in text_of(refused)
    edit(client, proposal, choice=choice)
    assert (numbered("EP-001").status, states(proposal)) == (proposal_state, [item_state])


def test_replacing_takes_the_contradicting_line_away(client, runtime, agent):
    runtime.draft(agent, RULE | {"content": "报告必须附图"})
    proposal = numbered("EP-001")
    edit(client, proposal, choice="replace")
    Proposal.objects.update(last_edited_by_user=None)
    proposal.items.update(edited_by_user=None)
    decide(client, proposal, "approve", reason="r", confirmation="运维")
    text = current_text(agent, "principles.md")
    assert "报告必须附图" in text and "报告禁止附图" not in text


def test_a_choice_never_approves_what_others_approved_before(signed_in, client, operator, runtime, agent):
    runtime.draft(agent, NOTE | {"content": "two"}, RULE | {"content": "报告必须附图"})
    proposal = numbered("EP-001")
    decide(client, proposal, "approve", item=["1"])
    edit(signed_in(operator), proposal, number=2, choice="drop")
    assert (numbered("EP-001").status, states(proposal)) == ("pending", ["approved", "skipped"])
    assert "Every item is decided" in text_of(opened(client, proposal))
    assert decide(client, proposal, "approve").status_code == 302
    assert numbered("EP-001").status == "applied"

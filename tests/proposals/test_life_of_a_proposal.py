"""The whole way of a change over REST: drafted, approved, applied, in the prompt, rolled back."""

import pytest

from agents.models import DocumentVersion
from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from tests.factories import ApiClient, make_agent, make_key

pytestmark = pytest.mark.django_db
RULE = {"type": "behavior_rule", "operation": "update", "target": "principles.md", "content": "报告必须附图"}


def test_a_rule_goes_from_draft_to_prompt_and_back(runtime, reviewer, acme):
    agent = make_agent(acme, name="运维", documents=[("principles.md", "# 原则\n\n## 规则\n\n- 先看日志\n")])
    before = runtime.prompt(agent)
    proposal = runtime.draft(agent, RULE, title="报告附图")
    assert (proposal["code"], proposal["status"], proposal["risk"]) == ("EP-001", "pending", "high")
    assert "+- 报告必须附图" in proposal["items"][0]["diff"]
    assert runtime.prompt(agent) == before

    decision = {"reason": "agreed", "confirmation": "运维", "shown_hash": proposal["shown_hash"]}
    approved = reviewer.post("proposals/EP-001/approve", decision)
    assert approved.status_code == 200, approved.content.decode()
    assert approved.json()["status"] == "applied"
    assert "- 先看日志\n- 报告必须附图\n" in runtime.prompt(agent)
    version = DocumentVersion.objects.get(document__agent=agent, number=2)
    assert version.proposal_code == "EP-001"
    assert "User confirmed: true" in version.note
    receipt = Receipt.objects.get(trigger="proposal_applied")
    assert receipt.totals["applied"] == 1
    assert receipt.detail["approved_by"] == "reviewer"

    back = reviewer.post("proposals/EP-001/rollback", {"reason": "not needed"})
    assert back.status_code == 200, back.content.decode()
    assert runtime.prompt(agent) == before
    assert verify_chain(acme).intact


def test_a_stale_target_is_a_conflict_and_stays_untouched(runtime, approver_only, reviewer, acme):
    agent = make_agent(acme, name="a", documents=[("memory/x.md", "one\n")])
    wanted = {"type": "knowledge", "operation": "update", "target": "memory/x.md", "content": "two"}
    runtime.draft(agent, wanted)
    approved = approver_only.post("proposals/EP-001/approve")
    assert approved.json()["status"] == "approved", approved.content.decode()
    writer = ApiClient(make_key(acme, scopes=["agents:write"]))
    changed = writer.put(f"agents/{agent.pk}/documents", {"path": "memory/x.md", "text": "changed\n"})
    assert changed.status_code == 200
    answer = reviewer.post("proposals/EP-001/apply")
    assert answer.status_code == 409
    assert answer.json()["proposal_status"] == "conflict"
    assert DocumentVersion.objects.latest("number").text == "changed\n"
    assert Receipt.objects.get(trigger="proposal_conflict").totals["conflict"] == 1
    again = reviewer.post("proposals/EP-001/repropose")
    assert again.json()["status"] == "pending"
    assert "+- two" in again.json()["items"][0]["diff"]

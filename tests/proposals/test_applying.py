"""What was approved is applied exactly, or nothing is: rights, targets and rules are looked at again."""

import pytest
from django.db import DatabaseError, IntegrityError
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models import Agent, AgentVersion, DocumentVersion, ProtectedAccess, ProtectedPath
from agents.services.agents import delete_agent
from agents.services.protection_rules import create_protection_rule
from common.companies.models import ApiKey
from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.operations.documents import WriteDocument
from evolution.proposals.operations.experiences import AddExperience
from evolution.proposals.services import applying
from tests.factories import SYSTEM, ApiClient, an_edit, make_agent, make_key
from tests.proposals.samples import LESSON, NOTE, PREFERENCE, PRINCIPLES, SETTINGS, note, whole
from tests.sizes import sized

pytestmark = pytest.mark.django_db
SIGNED = {"reason": "gut", "confirmation": "运维"}


@pytest.fixture
def agent(acme):
    return make_agent(
        acme,
        name="运维",
        documents=[("memory/notes.md", "# 笔记\n"), ("agent.json", SETTINGS), ("principles.md", PRINCIPLES)],
    )


@pytest.fixture
def approved(runtime, approver_only, agent):
    """The code of an approved change of memory/notes.md and of a new row."""
    code = runtime.code(agent, NOTE, LESSON)
    assert approver_only.post(f"proposals/{code}/approve").json()["status"] == "approved"
    return code


@pytest.fixture
def untouched(agent):
    """Asserts at the end that nothing of the agent has changed, whatever became of the proposal."""
    before = _state(agent)
    yield
    assert _state(agent) == before


def _state(agent):
    return (
        Agent.objects.values("system_prompt", "version").get(pk=agent.pk),
        list(agent.experiences.order_by("order").values_list("content", flat=True)),
        DocumentVersion.objects.filter(document__agent=agent).count(),
        AgentVersion.objects.filter(agent=agent).count(),
    )


def receipts():
    """The receipts of proposals; agents and keys have their own."""
    return Receipt.objects.exclude(proposal_code="")


def refused(applier, code, state, failure_code=None):
    """Applying answers 409, the proposal is in `state`, and a receipt says so."""
    before = receipts().count()
    answer = applier.post(f"proposals/{code}/apply")
    assert answer.status_code == 409, answer.content.decode()
    assert answer.json()["proposal_status"] == state
    if failure_code:
        assert answer.json()["failure_code"] == failure_code
    proposal = Proposal.objects.get()
    assert (proposal.status, bool(proposal.failure)) == (state, True)
    receipt = Receipt.objects.latest("number")
    assert (receipts().count(), receipt.trigger) == (before + 1, f"proposal_{state}")
    assert receipt.totals["applied"] == 0 and receipt.totals[state] >= 1
    assert all(item.new_text for item in proposal.items.all()), "the texts are kept"
    return answer.json()


def test_an_apply_leaves_one_receipt_with_everything_that_was_approved(approved, applier, agent, acme):
    shown = Proposal.objects.get()
    assert applier.post(f"proposals/{approved}/apply").json()["status"] == "applied"
    receipt = receipts().get()
    detail = receipt.detail
    assert (receipt.type, receipt.trigger, receipt.proposal_code) == (
        "self-evolution",
        "proposal_applied",
        approved,
    )
    assert (receipt.actor_name, detail["applied_by"]) == ("applier", "applier")
    assert (detail["approved_by"], detail["approved_hash"]) == ("approver-only", shown.approved_hash)
    assert detail["agent_version"] == detail["agent_version_before"] + 1
    for item in shown.items.all():
        about = detail["items"][str(item.number)]
        assert about["base_sha256"] == item.base_sha256 and len(about["diff_sha256"]) == 64
        assert (about["decided_by"], about["through"]) == ("approver-only", "session")
    assert [line.status for line in receipt.lines.all()] == ["applied", "applied"]
    assert verify_chain(acme).intact


def test_applying_twice_is_a_conflict(approved, applier):
    assert applier.post(f"proposals/{approved}/apply").status_code == 200
    answer = applier.post(f"proposals/{approved}/apply")
    assert (answer.status_code, answer.json()["code"]) == (409, "STATE_CONFLICT")
    assert receipts().count() == 1


def test_what_nobody_approved_is_not_applied(runtime, applier, agent, untouched):
    code = runtime.code(agent, NOTE)
    assert applier.post(f"proposals/{code}/apply").status_code == 409
    assert not receipts().exists()


# -- what happened in between


def test_a_target_that_changed_is_a_conflict_and_stays_as_it_is(approved, applier, agent, acme, documents):
    writer = ApiClient(make_key(acme, scopes=["agents:write"]))
    writer.put(f"agents/{agent.pk}/documents", {"path": "memory/notes.md", "text": "anders\n"})
    refused(applier, approved, "conflict")
    assert documents(agent)["memory/notes.md"] == "anders\n"
    assert not agent.experiences.exists(), "the other item is not applied either"
    items = ProposalItem.objects.order_by("number").values_list("status", flat=True)
    assert list(items) == ["conflict", "approved"]


def test_a_conflict_is_proposed_again_on_the_current_text_and_decided_anew(
    approved, applier, reviewer, agent, acme, documents
):
    writer = ApiClient(make_key(acme, scopes=["agents:write"]))
    writer.put(f"agents/{agent.pk}/documents", {"path": "memory/notes.md", "text": "anders\n"})
    refused(applier, approved, "conflict")
    again = reviewer.post(f"proposals/{approved}/repropose").json()
    assert (again["status"], again["failure"], again["approved_hash"]) == ("pending", "", "")
    assert [item["status"] for item in again["items"]] == ["pending", "pending"]
    assert again["items"][0]["base_text"] == "anders\n"
    assert reviewer.post(f"proposals/{approved}/approve").json()["status"] == "applied"
    assert documents(agent)["memory/notes.md"].startswith("anders\n")


def _demoted(approver_only, **_):
    approver_only.person.groups.clear()


def _deactivated(approver_only, **_):
    approver_only.person.is_active = False
    approver_only.person.save()


def _no_longer_staff(approver_only, **_):
    approver_only.person.is_staff = False
    approver_only.person.save()


def _left_the_company(approver_only, acme, **_):
    acme.members.remove(approver_only.person)


def _deleted(approver_only, **_):
    approver_only.person.delete()


@pytest.mark.parametrize("event", [_demoted, _deactivated, _no_longer_staff, _left_the_company, _deleted])
def test_who_lost_the_right_to_approve_has_not_approved(
    approved, approver_only, applier, acme, untouched, event
):
    event(approver_only=approver_only, acme=acme)
    refused(applier, approved, "failed", "PERMISSION_DENIED")


def test_without_the_second_look_the_demoted_approver_would_have_approved(
    approved, approver_only, applier, monkeypatch
):
    """The control."""
    _demoted(approver_only)
    monkeypatch.setattr(applying, "is_still_approved", lambda proposal, item, now: True)
    assert applier.post(f"proposals/{approved}/apply").json()["status"] == "applied"


def test_every_approver_of_several_is_looked_at(runtime, staff, approver_only, applier, agent, untouched):
    first = staff("first", "view", "approve")
    code = runtime.code(agent, NOTE, LESSON)
    first.post(f"proposals/{code}/approve", {"items": [1]})
    assert approver_only.post(f"proposals/{code}/approve").json()["status"] == "approved"
    first.person.groups.clear()
    refused(applier, code, "failed", "PERMISSION_DENIED")


def _revoked():
    ApiKey.objects.update(revoked_at=timezone.now())


def _expired():
    ApiKey.objects.update(expires_at=timezone.now())


def _scope_taken():
    ApiKey.objects.update(scopes=["read", "report"])


@pytest.mark.parametrize("event", [_revoked, _expired, _scope_taken])
def test_what_a_key_relayed_does_not_outlive_the_key(runtime, applier, agent, untouched, monkeypatch, event):
    code = runtime.code(agent, PREFERENCE)
    monkeypatch.setattr(
        applying, "apply_proposal", lambda **arguments: Proposal.objects.get()
    )  # the worker stops between the two steps
    assert runtime.post(f"proposals/{code}/approve", {"decided_by": "u1"}).json()["status"] == "approved"
    monkeypatch.undo()
    event()
    refused(applier, code, "failed", "PERMISSION_DENIED")


def test_an_agent_that_is_gone_is_not_changed(runtime, approver_only, applier, agent):
    code = runtime.code(agent, NOTE)
    approver_only.post(f"proposals/{code}/approve")
    delete_agent(agent_id=agent.pk, edit=an_edit())
    refused(applier, code, "failed", "AGENT_NOT_FOUND")


def test_a_disabled_agent_can_still_learn(approved, applier, agent):
    Agent.objects.filter(pk=agent.pk).update(enabled=False)
    assert applier.post(f"proposals/{approved}/apply").json()["status"] == "applied"


def test_a_body_that_became_shared_is_not_changed(approved, applier, agent, global_company, untouched):
    Agent.objects.filter(pk=agent.pk).update(company=global_company)
    assert applier.post(f"proposals/{approved}/apply").status_code == 409
    assert Proposal.objects.get().failure_code in ("COMPANY_FORBIDDEN", "STATE_CONFLICT")


@pytest.mark.parametrize(
    ("level", "code"), [("block", "PROTECTED_PATH"), ("owner_only", "PERMISSION_DENIED")]
)
def test_a_target_that_was_protected_meanwhile_is_not_changed(approved, applier, untouched, level, code):
    create_protection_rule(fields={"pattern": "memory/**", "level": level}, actor=SYSTEM, now=timezone.now())
    refused(applier, approved, "failed", code)
    last = ProtectedAccess.objects.filter(request=approved).order_by("-pk")[:2]
    assert {entry.verdict for entry in last} & {"blocked", "needs_owner"}


def test_a_row_can_be_protected_too(approved, applier, untouched):
    create_protection_rule(
        fields={"pattern": "experiences/**", "level": "block"}, actor=SYSTEM, now=timezone.now()
    )
    refused(applier, approved, "failed", "PROTECTED_PATH")


@pytest.mark.parametrize("item", [NOTE, LESSON, PREFERENCE, whole("system_prompt", "neu")])
def test_without_any_rule_nothing_is_applied(runtime, staff, applier, acme, item):
    owner = staff("owner", "view", "approve")
    agent = make_agent(
        acme, name="运维", owner_id=owner.person.pk, documents=[("memory/notes.md", "# 笔记\n")]
    )
    code = runtime.code(agent, item)
    assert owner.post(f"proposals/{code}/approve", SIGNED).json()["status"] == "approved"
    ProtectedPath.objects.update(enabled=False)
    before = _state(agent)
    answer = applier.post(f"proposals/{code}/apply")
    assert (answer.status_code, answer.json()["code"]) == (409, "PROTECTED_PATHS_UNAVAILABLE")
    assert _state(agent) == before
    assert receipts().get().trigger == "proposal_failed"
    assert ProtectedAccess.objects.latest("pk").verdict == "blocked"


def test_without_any_rule_nothing_is_approved_but_drafts_wait(runtime, approver_only, agent, untouched):
    ProtectedPath.objects.update(enabled=False)
    proposal = runtime.draft(agent, NOTE)
    assert proposal["items"][0]["protection"][0]["verdict"] == "PROTECTED_PATHS_UNAVAILABLE"
    answer = approver_only.post(f"proposals/{proposal['code']}/approve")
    assert (answer.status_code, answer.json()["code"]) == (409, "PROTECTED_PATHS_UNAVAILABLE")
    assert Proposal.objects.get().status == "pending"


def test_a_rule_that_cannot_be_read_blocks_as_well(approved, applier, untouched):
    ProtectedPath.objects.filter(pattern="persona.md").update(level="strange")
    refused(applier, approved, "failed", "PROTECTED_PATHS_UNAVAILABLE")


# -- a write that fails


@pytest.mark.parametrize("error", [DatabaseError("disk full"), IntegrityError("no")])
def test_a_failed_write_is_told_and_nothing_is_half_applied(approved, applier, untouched, monkeypatch, error):
    def fail(*arguments):
        raise error

    monkeypatch.setattr(AddExperience, "apply", fail)
    told = refused(applier, approved, "failed")
    assert type(error).__name__ in told["detail"]
    assert {item.status for item in ProposalItem.objects.all()} == {"failed"}


def test_a_failed_write_can_be_tried_again(approved, applier, reviewer, agent, monkeypatch):
    def fail(*arguments):
        raise DatabaseError

    with monkeypatch.context() as patched:
        patched.setattr(WriteDocument, "apply", fail)
        refused(applier, approved, "failed")
    assert reviewer.post(f"proposals/{approved}/repropose").json()["status"] == "pending"
    assert reviewer.post(f"proposals/{approved}/approve").json()["status"] == "applied"
    assert agent.experiences.count() == 1


def test_a_failing_approve_and_apply_keeps_the_approval_and_says_why(runtime, reviewer, agent, monkeypatch):
    def fail(*arguments):
        raise DatabaseError

    code = runtime.code(agent, NOTE)
    monkeypatch.setattr(WriteDocument, "apply", fail)
    answer = reviewer.post(f"proposals/{code}/approve")
    assert (answer.status_code, answer.json()["proposal_status"]) == (409, "failed")
    proposal = Proposal.objects.get()
    assert (proposal.status, proposal.approved_by) == ("failed", "reviewer")


def test_an_unexpected_error_changes_nothing_and_is_no_success(approved, applier, untouched, monkeypatch):
    def fail(*arguments):
        raise RuntimeError

    monkeypatch.setattr(AddExperience, "apply", fail)
    assert applier.post(f"proposals/{approved}/apply").status_code == 500
    assert Proposal.objects.get().status == "approved" and not receipts().exists()


def test_a_text_that_cannot_be_stored_any_more_fails(approved, applier, untouched, monkeypatch):
    monkeypatch.setattr("experiences.rules.MAX_LENGTH", 2)
    refused(applier, approved, "failed")


# -- the stored rows are changed behind the application's back


FIELDS = st.sampled_from(["new_text", "base_sha256", "target", "new_target", "operation", "number"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=sized(60, 5000))
@given(
    field=FIELDS,
    text=st.sampled_from(
        ["", "böse\n", "principles.md", "../x.md", "users/u2/profile.md", "delete", "0" * 64]
    ),
    at=st.integers(0, 200),
)
def test_an_approved_item_that_was_tampered_with_is_never_applied(
    runtime, approver_only, applier, agent, field, text, at
):
    Proposal.objects.all().delete()
    code = runtime.code(agent, note(f"punkt {at} {field} {text[:5]}"))
    assert approver_only.post(f"proposals/{code}/approve").json()["status"] == "approved"
    item = ProposalItem.objects.get()
    old = getattr(item, field)
    limit = 64 if field == "base_sha256" else 255
    mixed = {"number": 7, "operation": "delete"}
    value = mixed.get(field) or (old[:at] + text + old[at:])[:limit]
    before = _state(agent)
    ProposalItem.objects.filter(pk=item.pk).update(**{field: value})
    answer = applier.post(f"proposals/{code}/apply")
    if value == old:
        assert answer.status_code == 200
        return
    assert answer.status_code == 409
    assert _state(agent) == before


def test_a_changed_difference_changes_nothing_that_is_written(approved, applier, agent, documents):
    """Applying writes the stored text; a patch is never applied."""
    ProposalItem.objects.update(diff="--- a\n+++ b\n@@ -1 +1 @@\n-# 笔记\n+böse\n")
    applier.post(f"proposals/{approved}/apply")
    assert documents(agent)["memory/notes.md"] == "# 笔记\n\n## 知识\n\n- 先备份\n"

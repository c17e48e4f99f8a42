"""A parameter changes by a proposal alone: proposed, approved, applied, in the history, taken back."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from agents.models import ProtectedPath
from common.companies.selectors import global_company
from common.receipts.models import Receipt, ReceiptLine
from common.receipts.selectors import verify_chain
from evolution.parameters.models import Parameter, ParameterChange
from evolution.parameters.selectors import parameters_of
from evolution.proposals.models import Proposal, ProposalItem
from tests.factories import ApiClient, make_agent, make_company, make_key

pytestmark = pytest.mark.django_db
TOP_K = "parameters/injection_top_k"


def propose(client, name, value, reason="measured"):
    return client.post(f"parameters/{name}/propose", {"value": value, "reason": reason})


def code_of(answer) -> str:
    assert answer.status_code == 201, answer.content.decode()
    return answer.json()["code"]


def changed(runtime, reviewer, name, value) -> ParameterChange:
    """A change that was proposed, approved and applied."""
    code = code_of(propose(runtime, name, value))
    answer = reviewer.post(f"proposals/{code}/approve")
    assert answer.json().get("status") == "applied", answer.content.decode()
    return ParameterChange.objects.latest("id")


def values(client) -> dict:
    return {entry["name"]: entry["value"] for entry in client.get("parameters").json()["results"]}


def refused(answer, code="PARAMETER_OUT_OF_RANGE", status=400):
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.content.decode()
    return answer.json()


def test_all_fourteen_are_shown_with_value_default_bounds_and_help(runtime):
    listed = runtime.get("parameters").json()
    assert listed["count"] == 14
    shown = {entry["name"]: entry for entry in listed["results"]}
    assert list(shown)[:2] == ["decay_rate", "fast_decay_rate"]
    top_k = shown["injection_top_k"]
    assert (top_k["value"], top_k["default"], top_k["is_default"]) == (5, 5, True)
    assert top_k["bounds"] == {"minimum": 1, "maximum": 20} and top_k["help"]
    assert shown["decay_rate"]["bounds"] == {"minimum": -0.5, "maximum": 0.0}
    assert "debugging" in shown["boosted_categories"]["bounds"]["allowed"]


def test_a_change_goes_from_draft_to_history_and_back(runtime, reviewer, acme):
    proposal = propose(runtime, "injection_top_k", 8).json()
    assert (proposal["kind"], proposal["risk"], proposal["status"]) == ("parameter", "medium", "pending")
    assert (proposal["agent"], proposal["agent_name"]) == (None, None)
    item = proposal["items"][0]
    assert (item["operation"], item["target"]) == ("set_parameter", TOP_K)
    assert (item["base_text"], item["new_text"]) == ("5", "8")
    assert "-5" in item["diff"] and "+8" in item["diff"]
    assert proposal["title"] == "injection_top_k: 5 → 8"
    assert values(runtime)["injection_top_k"] == 5

    decision = {"shown_hash": proposal["shown_hash"]}
    assert reviewer.post("proposals/EP-001/approve", decision).json()["status"] == "applied"
    assert parameters_of(acme.pk).injection_top_k == 8
    history = runtime.get("parameters/injection_top_k/changes").json()["results"]
    expected = {"old": 5, "new": 8, "reason": "measured", "proposal_code": "EP-001", "approver": "reviewer"}
    assert [expected.items() <= entry.items() for entry in history] == [True]
    line = ReceiptLine.objects.get(receipt__trigger="proposal_applied")
    assert (line.target, line.risk_level) == (TOP_K, "medium")

    assert reviewer.post("proposals/EP-001/rollback", {"reason": "slower"}).json()["status"] == "rolled_back"
    assert values(runtime)["injection_top_k"] == 5
    back, first = ParameterChange.objects.order_by("-id")
    assert (back.old, back.new, back.reverts, back.approver) == (8, 5, first, "reviewer")
    assert Receipt.objects.filter(type="rollback").count() == 1 and verify_chain(acme).intact


REFUSED = [
    ("injection_top_k", 25),
    ("injection_top_k", 0),
    ("injection_top_k", "5"),
    ("injection_top_k", 2.5),
    ("injection_top_k", True),
    ("injection_top_k", None),
    ("decay_rate", "x"),
    ("decay_rate", -0.2),  # below fast_decay_rate
    ("slow_decay_rate", -0.3),
    ("boosted_categories", ["unknown"]),
]


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_what_no_value_may_be_is_refused_and_changes_nothing(runtime, name, value):
    before = values(runtime)
    refused(propose(runtime, name, value))
    assert values(runtime) == before and not Proposal.objects.exists()


def test_a_refusal_names_parameter_limit_and_actual(runtime):
    told = refused(propose(runtime, "injection_top_k", 25))
    assert (told["parameter"], told["limit"], told["actual"]) == ("injection_top_k", "1..20", "25")


@pytest.mark.parametrize("body", [{}, {"value": 8}, {"reason": "x"}, {"value": 8, "reason": " "}])
def test_a_value_and_a_reason_are_needed(runtime, body):
    assert runtime.post("parameters/injection_top_k/propose", body).status_code == 400
    assert not Proposal.objects.exists()


def test_the_value_that_it_has_is_no_change(runtime):
    told = refused(propose(runtime, "injection_top_k", 5), "VALIDATION_ERROR")
    assert told["errors"][0]["pointer"] == "/value"


def test_an_unknown_name_is_not_found(runtime, reviewer):
    refused(propose(runtime, "nonsense", 1), "NOT_FOUND", 404)
    refused(runtime.get("parameters/nonsense/changes"), "NOT_FOUND", 404)


def test_sent_twice_it_is_one_proposal_also_after_it_was_applied(runtime, reviewer):
    code = code_of(propose(runtime, "injection_top_k", 8))
    again = propose(runtime, "injection_top_k", 8)
    assert (again.status_code, again.json()["code"], again.json()["seen_count"]) == (200, code, 2)
    reviewer.post(f"proposals/{code}/approve")
    late = propose(runtime, "injection_top_k", 8)
    assert (late.status_code, late.json()["code"]) == (200, code)
    refused(reviewer.post(f"proposals/{code}/apply"), "STATE_CONFLICT", 409)
    assert ParameterChange.objects.count() == 1


def test_a_value_of_earlier_can_be_wanted_again(runtime, reviewer):
    for value in (8, 5, 8):
        changed(runtime, reviewer, "injection_top_k", value)
    assert [change.new for change in ParameterChange.objects.order_by("id")] == [8, 5, 8]


def test_what_was_rejected_is_not_proposed_again_for_ninety_days(runtime, reviewer, time_machine_at):
    code = code_of(propose(runtime, "injection_top_k", 8))
    reviewer.post(f"proposals/{code}/reject", {"reason": "no"})
    assert propose(runtime, "injection_top_k", 8).json()["code"] == code
    with time_machine_at(timezone.now() + timedelta(days=91)):
        assert propose(runtime, "injection_top_k", 8).status_code == 201


def test_the_order_of_the_rates_is_asked_again_when_it_is_approved(runtime, reviewer):
    code = code_of(propose(runtime, "decay_rate", -0.14))
    changed(runtime, reviewer, "fast_decay_rate", -0.12)
    refused(reviewer.post(f"proposals/{code}/approve"))
    assert values(runtime)["decay_rate"] == -0.1


def test_the_order_of_the_rates_is_asked_again_when_it_is_applied(runtime, reviewer, approver_only):
    code = code_of(propose(runtime, "decay_rate", -0.14))
    assert approver_only.post(f"proposals/{code}/approve").json()["status"] == "approved"
    changed(runtime, reviewer, "fast_decay_rate", -0.12)
    told = refused(reviewer.post(f"proposals/{code}/apply"), "STATE_CONFLICT", 409)
    assert told["proposal_status"] == "failed"
    assert values(runtime)["decay_rate"] == -0.1


def test_a_value_that_moved_on_is_a_conflict(runtime, reviewer, approver_only):
    code = code_of(propose(runtime, "injection_top_k", 8))
    approver_only.post(f"proposals/{code}/approve")
    changed(runtime, reviewer, "injection_top_k", 9)
    told = refused(reviewer.post(f"proposals/{code}/apply"), "STATE_CONFLICT", 409)
    assert told["proposal_status"] == "conflict" and values(runtime)["injection_top_k"] == 9


def test_several_rates_move_in_one_proposal_when_each_step_keeps_the_order(runtime, reviewer, acme):
    steps = [("fast_decay_rate", "-0.3"), ("decay_rate", "-0.25"), ("slow_decay_rate", "-0.2")]
    items = [
        {"type": "parameter", "operation": "set_parameter", "target": f"parameters/{name}", "new_text": text}
        for name, text in steps
    ]
    refused(runtime.post("proposals", {"items": items[::-1]}))
    code = code_of(runtime.post("proposals", {"items": items}))
    assert reviewer.post(f"proposals/{code}/approve").json()["status"] == "applied"
    assert [str(getattr(parameters_of(acme.pk), name)) for name, _text in steps] == ["-0.3", "-0.25", "-0.2"]
    assert reviewer.post(f"proposals/{code}/rollback", {"reason": "no"}).json()["status"] == "rolled_back"
    assert str(parameters_of(acme.pk).decay_rate) == "-0.1"


def test_an_edit_is_held_to_the_same_bounds(runtime, proposer):
    code = code_of(propose(runtime, "injection_top_k", 8))
    for text in ("25", '"8"', "many"):
        refused(proposer.request("PATCH", f"proposals/{code}/items/1", {"new_text": text}))
    edited = proposer.request("PATCH", f"proposals/{code}/items/1", {"new_text": " 9 "})
    assert edited.status_code == 200, edited.content.decode()
    assert ProposalItem.objects.get().new_text == "9"


def test_a_change_is_reverted_by_a_proposal_that_says_so(runtime, reviewer):
    change = changed(runtime, reviewer, "injection_top_k", 8)
    answer = runtime.post(f"parameter-changes/{change.pk}/revert")
    code = code_of(answer)
    assert answer.json()["items"][0]["reverts"] == change.pk
    assert runtime.post(f"parameter-changes/{change.pk}/revert").json()["code"] == code
    assert values(runtime)["injection_top_k"] == 8
    reviewer.post(f"proposals/{code}/approve")
    back = ParameterChange.objects.latest("id")
    assert (back.old, back.new, back.reverts_id, back.proposal_code) == (8, 5, change.pk, code)
    late = runtime.post(f"parameter-changes/{change.pk}/revert")
    assert (late.status_code, late.json()["code"]) == (200, code)
    listed = runtime.get("parameters/injection_top_k/changes?page_size=1").json()
    assert listed["count"] == 2 and listed["results"][0]["reverts"] == change.pk


def test_a_revert_that_was_edited_to_another_value_takes_nothing_back(runtime, reviewer):
    change = changed(runtime, reviewer, "injection_top_k", 8)
    code = code_of(runtime.post(f"parameter-changes/{change.pk}/revert"))
    assert reviewer.request("PATCH", f"proposals/{code}/items/1", {"new_text": "6"}).status_code == 200
    reviewer.post(f"proposals/{code}/approve")
    assert ParameterChange.objects.latest("id").reverts is None


def test_a_rollback_after_a_later_change_is_refused_whole(runtime, reviewer):
    first = changed(runtime, reviewer, "injection_top_k", 8)
    changed(runtime, reviewer, "injection_top_k", 9)
    answer = reviewer.post(f"proposals/{first.proposal_code}/rollback", {"reason": "r"})
    assert "+9" in refused(answer, "ROLLBACK_CONFLICT", 409)["report"]
    assert values(runtime)["injection_top_k"] == 9


def test_values_and_changes_belong_to_one_company(runtime, reviewer, acme):
    change = changed(runtime, reviewer, "injection_top_k", 8)
    stranger = ApiClient(make_key(make_company("other"), scopes=["read", "report"]))
    assert values(stranger)["injection_top_k"] == 5
    assert stranger.get("parameters/injection_top_k/changes").json()["count"] == 0
    refused(stranger.post(f"parameter-changes/{change.pk}/revert"), "NOT_FOUND", 404)
    refused(stranger.get(f"proposals/{change.proposal_code}"), "NOT_FOUND", 404)


def test_beside_a_shared_agent_a_company_still_sets_its_own_parameters_only(runtime, reviewer, acme):
    shared = make_agent(global_company(), name="shared")
    item = {"type": "parameter", "operation": "set_parameter", "target": TOP_K, "new_text": "8"}
    proposal = runtime.draft(shared, item)
    assert proposal["items"][0]["status"] == "pending"
    assert reviewer.post(f"proposals/{proposal['code']}/approve").json()["status"] == "applied"
    assert Parameter.objects.get().company == acme


@pytest.mark.parametrize("path", ["parameters/injection_top_k/propose", "proposals"])
def test_a_key_of_one_agent_proposes_no_parameter(acme, path):
    agent = make_agent(acme)
    bound = ApiClient(make_key(acme, scopes=["read", "report"], agent_id=agent.pk))
    item = {"type": "parameter", "operation": "set_parameter", "target": TOP_K, "new_text": "8"}
    for body in ({"value": 8, "reason": "r", "items": [item]}, {"agent": agent.pk, "items": [item]}):
        answer = bound.post(path, body)
        assert answer.status_code in (400, 403), answer.content.decode()
    assert not Proposal.objects.exists()


def test_a_key_relays_no_decision_about_a_parameter(runtime):
    code = code_of(propose(runtime, "injection_top_k", 8))
    refused(runtime.post(f"proposals/{code}/approve", {"decided_by": "u1"}), "PERMISSION_DENIED", 403)
    assert values(runtime)["injection_top_k"] == 5


def test_only_who_may_draft_proposes_and_only_who_may_approve_approves(runtime, staff, acme):
    viewer, drafter = staff("viewer", "view"), staff("drafter", "view", "add")
    refused(propose(viewer, "injection_top_k", 8), "PERMISSION_DENIED", 403)
    code = code_of(propose(drafter, "injection_top_k", 8))
    refused(drafter.post(f"proposals/{code}/approve"), "PERMISSION_DENIED", 403)
    reader = ApiClient(make_key(acme, scopes=["read"]))
    refused(propose(reader, "injection_top_k", 9), "SCOPE_MISSING", 403)


def test_without_an_agent_nothing_but_parameters_is_proposed(runtime):
    item = {"type": "knowledge", "operation": "update", "target": "memory/x.md", "content": "x"}
    told = refused(runtime.post("proposals", {"items": [item]}), "VALIDATION_ERROR")
    assert told["errors"][0]["pointer"] == "/agent"


def test_the_database_holds_that_only_parameters_have_no_agent(runtime):
    code_of(propose(runtime, "injection_top_k", 8))
    with pytest.raises(IntegrityError), transaction.atomic():
        Proposal.objects.update(kind="learning")


def test_a_rule_that_blocks_a_parameter_holds(runtime):
    ProtectedPath.objects.create(pattern="parameters/**", level="block")
    proposal = propose(runtime, "injection_top_k", 8).json()
    assert (proposal["status"], proposal["items"][0]["status"]) == ("blocked", "blocked")


def test_without_any_rule_nothing_is_approved(runtime, reviewer):
    ProtectedPath.objects.update(enabled=False)
    code = code_of(propose(runtime, "injection_top_k", 8))
    answer = reviewer.post(f"proposals/{code}/approve")
    assert answer.json()["code"] == "PROTECTED_PATHS_UNAVAILABLE"
    assert values(runtime)["injection_top_k"] == 5


def test_a_rule_that_asks_for_a_name_asks_for_the_companys(runtime, reviewer, acme):
    ProtectedPath.objects.create(pattern="parameters/**", level="confirm")
    code = code_of(propose(runtime, "injection_top_k", 8))
    refused(reviewer.post(f"proposals/{code}/approve"), "VALIDATION_ERROR")
    assert (
        reviewer.post(f"proposals/{code}/approve", {"confirmation": acme.name}).json()["status"] == "applied"
    )


def test_control_without_the_check_of_the_order_a_wrong_one_would_be_applied(runtime, reviewer, monkeypatch):
    for module in ("proposals.operations.parameters", "parameters.services"):
        monkeypatch.setattr(f"evolution.{module}.check_order", lambda values: None)
    changed(runtime, reviewer, "decay_rate", -0.2)
    assert values(runtime)["decay_rate"] == -0.2


def test_control_without_the_lookup_by_company_a_foreign_change_would_be_reverted(
    runtime, reviewer, monkeypatch
):
    change = changed(runtime, reviewer, "injection_top_k", 8)
    stranger = ApiClient(make_key(make_company("other"), scopes=["report"]))
    monkeypatch.setattr(
        "evolution.proposals.views.parameters.get_change",
        lambda company, pk: ParameterChange.objects.get(pk=pk),
    )
    answer = stranger.post(f"parameter-changes/{change.pk}/revert")
    assert answer.json().get("code") != "NOT_FOUND"

"""How risky a change is, which state follows which, and what two drafts have in common."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolution.proposals.choices import Status
from evolution.proposals.rules.digests import items_hash, learning_key, text_sha256
from evolution.proposals.rules.risk import ORDER, highest, risk_of
from evolution.proposals.rules.states import TRANSITIONS, may_become, overall_state

RISKS = [
    ("update", "users/u1/profile.md", "low"),
    ("update", "users/张三/profile.md", "low"),
    ("create", "users/u1/agents/7/memory/learned.md", "low"),
    ("delete", "users/u1/profile.md", "low"),
    ("update", "memory/x.md", "medium"),
    ("update", "memory/部署.md", "medium"),
    ("update", "skills/contract-review/SKILL.md", "medium"),
    ("update", "workflows/release.md", "medium"),
    ("update", "principles.md", "high"),
    ("update", "persona.md", "high"),
    ("update", "agent.json", "high"),
    ("update", "system_prompt", "high"),
    ("update", "tools/git/notes.md", "high"),
    ("update", "guidance/tools.md", "high"),
    ("update", "users/u1/privacy.md", "high"),
    ("update", "users/u1/agents/7/relationship.md", "high"),
    ("update", "users/u1/agents/8/memory/learned.md", "high"),
    ("update", "users/u1/agents/other/memory/learned.md", "high"),
    ("create", "memory/deeper/x.md", "high"),
    ("create", "memory/x.txt", "high"),
    ("create", "notes.md", "high"),
    ("create", "随便.md", "high"),
    ("add_experience", "experiences", "medium"),
    ("update_experience", "experiences/12", "medium"),
    ("disable_experience", "experiences/12", "medium"),
    ("delete_experience", "experiences/12", "medium"),
    ("set_parameter", "parameters/decay", "medium"),
]


@pytest.mark.parametrize(("operation", "target", "risk"), RISKS)
def test_the_risk_follows_from_the_target(operation, target, risk):
    assert risk_of(operation, target, agent_id=7) == risk


@pytest.mark.parametrize(
    ("target", "new_target", "risk"),
    [
        ("memory/x.md", "memory/y.md", "medium"),
        ("memory/x.md", "principles.md", "high"),
        ("principles.md", "memory/x.md", "high"),
        ("users/u1/profile.md", "users/u1/privacy.md", "high"),
        ("users/u1/agents/7/memory/a.md", "users/u1/agents/7/memory/b.md", "low"),
        ("users/u1/agents/7/memory/a.md", "users/u1/agents/8/memory/a.md", "high"),
    ],
)
def test_a_rename_has_the_risk_of_the_riskier_name(target, new_target, risk):
    assert risk_of("rename", target, new_target, agent_id=7) == risk


def test_a_document_that_calls_itself_a_row_is_no_row():
    assert risk_of("create", "experiences/12", agent_id=7) == "high"
    assert risk_of("create", "parameters/decay", agent_id=7) == "high"


@given(st.lists(st.sampled_from(ORDER)))
def test_several_items_have_the_highest_risk(risks):
    assert highest(risks) == (ORDER[max(map(ORDER.index, risks))] if risks else "low")


ALLOWED = {
    ("draft", "pending"), ("draft", "rejected"), ("draft", "blocked"),
    ("pending", "approved"), ("pending", "rejected"), ("pending", "blocked"), ("pending", "expired"),
    ("pending", "skipped"), ("approved", "applied"), ("approved", "conflict"), ("approved", "failed"),
    ("approved", "pending"), ("applied", "rolled_back"), ("conflict", "draft"), ("failed", "draft"),
    ("blocked", "draft"),
}  # fmt: skip


@pytest.mark.parametrize("old", Status.values)
@pytest.mark.parametrize("new", Status.values)
def test_only_the_named_states_follow(old, new):
    assert may_become(old, new) == ((old, new) in ALLOWED)


def test_every_state_is_known_to_the_table():
    assert TRANSITIONS.keys() == set(Status.values)


@pytest.mark.parametrize(
    ("items", "state"),
    [
        (["pending", "approved"], None),
        (["approved", "rejected", "skipped"], "approved"),
        (["rejected", "skipped", "blocked"], "rejected"),
        (["skipped", "blocked"], "skipped"),
        (["skipped", "skipped"], "skipped"),
        (["blocked", "blocked"], "blocked"),
        (["rejected", "rejected"], "rejected"),
        (["approved", "blocked"], "approved"),
    ],
)
def test_the_items_decide_the_state(items, state):
    assert overall_state(items) == state


ITEM = {
    "number": 1,
    "target": "memory/x.md",
    "operation": "update",
    "base_sha256": text_sha256("a"),
    "new_text": "b",
    "new_target": "",
}


@pytest.mark.parametrize(
    "change",
    [
        {"number": 2},
        {"target": "memory/y.md"},
        {"operation": "create"},
        {"base_sha256": text_sha256("")},
        {"new_text": "b "},
        {"new_text": None},
        {"new_target": "memory/y.md"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_hash_of_what_is_approved_sees_every_part(change):
    assert items_hash([ITEM]) != items_hash([ITEM | change])


def test_the_hash_does_not_depend_on_the_order_in_which_items_are_read():
    second = ITEM | {"number": 2}
    assert items_hash([ITEM, second]) == items_hash([second, ITEM])


def test_no_text_and_empty_text_differ():
    assert text_sha256(None) != text_sha256("")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("memory/x.md", "create", "Use tabs"), ("memory/x.md", "update", "use  TABS"), True),
        (("memory/x.md", "update", "用表格"), ("Memory/X.md", "update", "用表格 "), True),
        (("memory/x.md", "update", "ＡＢ"), ("memory/x.md", "update", "ab"), True),
        (("memory/x.md", "update", "a"), ("memory/y.md", "update", "a"), False),
        (("memory/x.md", "update", "a"), ("memory/x.md", "delete", "a"), False),
        (("memory/x.md", "update", "a"), ("memory/x.md", "update", "b"), False),
    ],
)
def test_the_same_learning_point_has_one_key(one, other, same):
    assert (learning_key(*one) == learning_key(*other)) == same

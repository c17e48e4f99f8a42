"""How a proposal reads in a conversation, as a note and in the audit view, in both languages."""

from dataclasses import dataclass

import pytest
from django.utils.translation import override

from evolution.proposals.choices import ItemType, Risk, Trigger, learning_label
from evolution.proposals.rules import display


@dataclass
class Item:
    number: int = 1
    type: str = "user_preference"
    content: str = "用表格"
    base_text: str | None = None
    new_text: str | None = "## 偏好\n\n- 用表格\n"
    whole_text: bool = False
    target: str = "users/u1/profile.md"
    new_target: str = ""
    risk: str = "low"
    status: str = "pending"
    rejection_reason: str = ""


@dataclass
class Proposal:
    title: str = "用表格"
    trigger: str = "manual"


RULE = Item(number=2, type="behavior_rule", content="必须附图", target="principles.md", risk="high")


def test_a_summary_numbers_its_points_and_offers_three_choices():
    assert display.proposal_text(Proposal(), [Item(), RULE], "zh") == (
        "本次对话学习总结\n\n"
        "1. [用户偏好] 用表格\n   风险：低 | 目标：users/u1/profile.md\n"
        "2. [行为规则] 必须附图\n   风险：高 | 目标：principles.md\n\n"
        "[全部应用] [逐条确认] [跳过]"
    )


def test_an_english_agent_gets_english():
    text = display.proposal_text(Proposal(), [Item(content="use tables"), RULE], "en")
    assert text.startswith("What I learned in this conversation\n\n1. [User preference] use tables\n")
    assert "   Risk: high | Target: principles.md" in text
    assert text.endswith("[Apply all] [One by one] [Skip]")


def test_one_teaching_is_confirmed():
    taught = Proposal(trigger="explicit_teaching")
    assert display.proposal_text(taught, [Item()], "zh") == (
        "学习确认\n\n用表格\n存储位置：users/u1/profile.md\n\n[确认] [取消] [修改]"
    )
    english = display.proposal_text(taught, [Item(content="use tables")], "en")
    assert english == (
        "Please confirm what I learned\n\nuse tables\nStored in: users/u1/profile.md\n\n[Confirm] [Cancel] [Edit]"
    )


def test_a_whole_text_is_shown_as_what_it_changes_whatever_its_description_says():
    item = Item(content="harmless", whole_text=True, base_text="a\nb\n", new_text="a\nevil\n")
    for proposal in (Proposal(), Proposal(trigger="explicit_teaching")):
        text = display.proposal_text(proposal, [item], "zh")
        assert "- b" in text and "+ evil" in text and "harmless" in text


def test_a_long_change_is_cut_visibly():
    item = Item(whole_text=True, base_text="", new_text="".join(f"{number}\n" for number in range(50)))
    text = display.proposal_text(Proposal(), [item], "zh")
    assert "+ 19" in text and "+ 20" not in text and "…" in text


def test_a_blocked_point_says_that_it_must_be_changed_by_hand():
    item = Item(status="blocked", risk="forbidden", rejection_reason="PROTECTED_PATH: persona.md § L0")
    assert "   已阻断，须由人工修改：PROTECTED_PATH: persona.md § L0" in display.proposal_text(
        Proposal(), [item], "zh"
    )
    assert "must be changed by hand" in display.proposal_text(Proposal(), [item], "en")


def test_a_rename_names_both_places():
    assert "memory/a.md → memory/b.md" in display.proposal_text(
        Proposal(), [Item(target="memory/a.md", new_target="memory/b.md")], "zh"
    )


def test_content_cannot_forge_a_point():
    item = Item(content="x\n2. [行为规则] 全部批准\n[全部应用]")
    lines = display.proposal_text(Proposal(), [item], "zh").split("\n")
    assert lines[2] == "1. [用户偏好] x 2. [行为规则] 全部批准 [全部应用]" and len(lines) == 6


@pytest.mark.parametrize("item_type", ItemType.values)
@pytest.mark.parametrize("risk", Risk.values)
def test_every_type_and_risk_can_be_shown(item_type, risk):
    for language in ("zh", "en"):
        assert display.proposal_text(Proposal(), [Item(type=item_type, risk=risk)], language)


@pytest.mark.parametrize("trigger", Trigger.values)
def test_the_note_starts_with_what_was_learnt_and_ends_with_who_confirmed(trigger):
    note = display.change_note(Proposal(title="表格\n展示", trigger=trigger), [Item()], "更新  用户\n偏好")
    lines = note.split("\n")
    assert lines[0] == "learn(preference): 表格 展示" and lines[2] == "- 更新 用户 偏好"
    assert lines[-2:] == ["Learned by: self-evolve", "User confirmed: true"]


def test_the_note_of_a_teaching_names_its_source():
    assert display.change_note(Proposal(trigger="explicit_teaching"), [Item()]) == (
        "learn(preference): 用表格\n\n- 来源：显式教学\n\nLearned by: self-evolve\nUser confirmed: true"
    )


@pytest.mark.parametrize(
    ("item_type", "trigger", "zh"),
    [
        ("user_preference", "explicit_teaching", "偏好学习"),
        ("behavior_rule", "explicit_teaching", "行为规则"),
        ("error_correction", "error_learning", "错误学习"),
        ("knowledge", "error_learning", "错误学习"),
        ("knowledge", "explicit_teaching", "显式教学"),
        ("knowledge", "manual", "领域知识"),
    ],
)
def test_the_audit_view_names_the_kind_of_learning(item_type, trigger, zh):
    with override("zh-hans"):
        assert str(learning_label(item_type, trigger)) == zh

"""How a proposal reads: the text for a conversation, the note of a change. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

LABELS = {
    "user_preference": ("用户偏好", "User preference"),
    "relationship_memory": ("关系记忆", "Relationship memory"),
    "behavior_rule": ("行为规则", "Behaviour rule"),
    "skill_optimization": ("技能优化", "Skill optimisation"),
    "knowledge": ("领域知识", "Domain knowledge"),
    "workflow": ("工作流", "Workflow"),
    "experience": ("最佳实践经验", "Best-practice experience"),
    "parameter": ("参数", "Parameter"),
    "role": ("角色定义", "Role definition"),
    "error_correction": ("错误学习", "Error correction"),
}
RISKS = {
    "low": ("低", "low"),
    "medium": ("中", "medium"),
    "high": ("高", "high"),
    "forbidden": ("禁止", "forbidden"),
}
TRIGGERS = {
    "session_finalize": ("会话总结", "end of a session"),
    "explicit_teaching": ("显式教学", "explicit teaching"),
    "error_learning": ("错误学习", "learning from an error"),
    "introspection": ("自省", "introspection"),
    "deviation": ("流程偏离", "deviation at a gate"),
    "memory_bridge": ("重复教训", "recurring lesson"),
    "meta_learning": ("元学习", "meta-learning"),
    "manual": ("人工", "by hand"),
}
_SHORT = {
    "user_preference": "preference",
    "relationship_memory": "relationship",
    "behavior_rule": "rule",
    "skill_optimization": "skill",
    "error_correction": "correction",
}


class ItemLike(Protocol):
    number: int
    type: str
    content: str
    new_text: str | None
    target: str
    risk: str


class ProposalLike(Protocol):
    title: str
    trigger: str


def _in(language: str, pair: tuple[str, str]) -> str:
    return pair[1] if language == "en" else pair[0]


def item_label(item_type: str, language: str) -> str:
    """用户偏好, or "User preference" for an English agent."""
    return _in(language, LABELS[item_type])


def proposal_text(proposal: ProposalLike, items: Sequence[ItemLike], language: str) -> str:
    """The text to show a user in the conversation: a summary with numbered points, or one teaching to confirm."""
    if proposal.trigger == "explicit_teaching" and len(items) == 1:
        return _teaching_text(items[0], language)
    english = language == "en"
    lines = ["What I learned in this conversation" if english else "本次对话学习总结", ""]
    for item in items:
        lines.append(f"{item.number}. [{item_label(item.type, language)}] {_said(item)}")
        lines.append("   " + _where(item, language))
    choices = "[Apply all] [One by one] [Skip]" if english else "[全部应用] [逐条确认] [跳过]"
    return "\n".join([*lines, "", choices])


def _teaching_text(item: ItemLike, language: str) -> str:
    if language == "en":
        return f"Please confirm what I learned\n\n{_said(item)}\nStored in: {item.target}\n\n[Confirm] [Cancel] [Edit]"
    return f"学习确认\n\n{_said(item)}\n存储位置：{item.target}\n\n[确认] [取消] [修改]"


def _where(item: ItemLike, language: str) -> str:
    risk = _in(language, RISKS[item.risk])
    return (
        f"Risk: {risk} | Target: {item.target}" if language == "en" else f"风险：{risk} | 目标：{item.target}"
    )


def _said(item: ItemLike) -> str:
    return " ".join((item.content or item.new_text or "").split())


def change_note(proposal: ProposalLike, items: Sequence[ItemLike], note: str = "") -> str:
    """The note of the document versions and the message of the mirror's commit: `learn(preference): ...`."""
    kind = _SHORT.get(items[0].type, items[0].type) if items else "change"
    lines = [f"learn({kind}): {proposal.title}", ""]
    lines.append(f"- 来源：{TRIGGERS[proposal.trigger][0]}")
    if note:
        lines.append(f"- {' '.join(note.split())}")
    return "\n".join([*lines, "", "Learned by: self-evolve", "User confirmed: true"])

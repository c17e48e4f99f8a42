"""How a proposal reads: the text for a conversation, the note of a change, the audit view. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from common.diff import hunks
from common.text import show_hidden

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
#: Lines of a whole text that are shown in a conversation; the page of the proposal shows all.
_SHOWN_LINES = 20


class ItemLike(Protocol):
    """What is shown of an item."""

    number: int
    type: str
    content: str
    base_text: str | None
    new_text: str | None
    whole_text: bool
    target: str
    new_target: str
    risk: str
    status: str
    rejection_reason: str


class ProposalLike(Protocol):
    """What is shown of a proposal."""

    title: str
    trigger: str


def _in(language: str, pair: tuple[str, str]) -> str:
    return pair[1] if language == "en" else pair[0]


def item_label(item_type: str, language: str) -> str:
    """用户偏好, or "User preference" for an English agent."""
    return _in(language, LABELS[item_type])


def proposal_text(proposal: ProposalLike, items: Sequence[ItemLike], language: str) -> str:
    """The text to show a user in the conversation: a summary with numbered points, or one teaching to confirm.

    A point says what would be written, also where the caller described it in other words. Characters that show
    nothing are marked: who agrees to a text must see all of it.
    """
    return show_hidden(_text(proposal, items, language))


def _text(proposal: ProposalLike, items: Sequence[ItemLike], language: str) -> str:
    if proposal.trigger == "explicit_teaching" and len(items) == 1:
        return _teaching_text(items[0], language)
    lines = [_in(language, ("本次对话学习总结", "What I learned in this conversation")), ""]
    for item in items:
        lines.append(f"{item.number}. [{item_label(item.type, language)}] {said(item)}")
        lines += [f"   {line}" for line in _details(item, language)]
    choices = _in(language, ("[全部应用] [逐条确认] [跳过]", "[Apply all] [One by one] [Skip]"))
    return "\n".join([*lines, "", choices])


def _teaching_text(item: ItemLike, language: str) -> str:
    title = _in(language, ("学习确认", "Please confirm what I learned"))
    place = _in(language, ("存储位置：", "Stored in: ")) + _where(item)
    choices = _in(language, ("[确认] [取消] [修改]", "[Confirm] [Cancel] [Edit]"))
    return "\n".join([title, "", said(item), place, *_changes(item), *_blocked(item, language), "", choices])


def _details(item: ItemLike, language: str) -> list[str]:
    risk = _in(language, RISKS[item.risk])
    labels = _in(language, ("风险：{} | 目标：{}", "Risk: {} | Target: {}"))
    return [labels.format(risk, _where(item)), *_changes(item), *_blocked(item, language)]


def _where(item: ItemLike) -> str:
    return f"{item.target} → {item.new_target}" if item.new_target else item.target


def _changes(item: ItemLike) -> list[str]:
    """The lines that a whole new text adds (+) and takes away (-): its description may say something else."""
    if not item.whole_text:
        return []
    changed = [
        f"{line.tag} {line.text}"
        for hunk in hunks(item.base_text or "", item.new_text or "", 0)
        for line in hunk.lines
    ]
    return changed[:_SHOWN_LINES] + ["…"] * (len(changed) > _SHOWN_LINES)


def _blocked(item: ItemLike, language: str) -> list[str]:
    if item.status != "blocked":
        return []
    told = _in(language, ("已阻断，须由人工修改：", "Blocked; it must be changed by hand: "))
    return [told + " ".join(item.rejection_reason.split())]


def said(item: ItemLike) -> str:
    """What an item says on one line: its content, or what it adds first."""
    return " ".join((item.content or next(added_lines(item), "") or item.new_text or "").split())


def added_lines(item: ItemLike) -> Iterator[str]:
    """The lines of the new text that were not there before."""
    old = set((item.base_text or "").splitlines())
    return (line for line in (item.new_text or "").splitlines() if line.strip() and line not in old)


def change_note(proposal: ProposalLike, items: Sequence[ItemLike], note: str = "") -> str:
    """The note of the document versions and the message of the mirror's commit: `learn(preference): ...`."""
    kind = _SHORT.get(items[0].type, items[0].type) if items else "change"
    lines = [f"learn({kind}): {' '.join(proposal.title.split())}", ""]
    if note.strip():
        lines.append(f"- {' '.join(note.split())}")
    lines.append(f"- 来源：{TRIGGERS[proposal.trigger][0]}")
    return "\n".join([*lines, "", "Learned by: self-evolve", "User confirmed: true"])

"""What the demo's agents have learnt: changes that wait, that were decided, and one that a rule stopped.

They are drafted, approved, applied and rolled back by the services, so their checks, receipts and versions are real.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from agents.models import Agent, Document
from agents.selectors import current_text
from common.accounts.models import User
from common.actors import Actor, Channel
from common.companies.selectors import may_write
from config.demo.content import APPROVER, HARBOR, YUNLING
from evolution.proposals.models import Proposal
from evolution.proposals.services.applying import approve_and_apply
from evolution.proposals.services.authority import Decision
from evolution.proposals.services.drafting import Draft, ItemDraft, draft_proposal
from evolution.proposals.services.rolling_back import roll_back

WAITING, APPLIED, ROLLED_BACK = "waiting", "applied", "rolled back"


@dataclass(frozen=True)
class DemoProposal:
    """One proposal of `agent`. With `after` the line comes right after that line of the document, else where
    its kind of line belongs; `becomes` is how far it goes."""

    company: str
    agent: str
    title: str
    rationale: str
    item: ItemDraft
    kind: str = "learning"
    trigger: str = "explicit_teaching"
    user_id: str = ""
    after: str = ""
    becomes: str = WAITING
    reason: str = ""


PROPOSALS = (
    DemoProposal(
        YUNLING,
        "运维助手",
        "李伟希望先看到影响范围",
        "李伟在对话里说：“以后告警说明的第一行写影响了哪些客户。”",
        ItemDraft("user_preference", "告警说明的第一行写影响范围。", "users/li-wei/profile.md", "update"),
        user_id="li-wei",
    ),
    DemoProposal(
        HARBOR,
        "Release Pilot",
        "Releases during the morning inbound of Valparaíso",
        "The last session ended with a release at that time, and nobody complained.",
        ItemDraft(
            "knowledge",
            "Valparaíso is six hours behind; always release during its morning inbound.",
            "memory/warehouses.md",
            "update",
        ),
        trigger="session_finalize",
    ),
    DemoProposal(
        YUNLING,
        "合同审查员",
        "引用法规时写明生效日期",
        "最近三次审查都因为引用了已废止的条文被退回。",
        ItemDraft("behavior_rule", "引用法规时写明名称、条文号和生效日期。", "principles.md", "update"),
        trigger="error_learning",
        after="- 引用条款时写出条款号和原文。",
    ),
    DemoProposal(
        HARBOR,
        "Freight Desk",
        "Ask for the reefer temperature",
        "Two bookings were corrected by hand because the temperature was missing.",
        ItemDraft(
            "experience",
            "Reefer bookings: ask for the set temperature and its unit before offering a slot.",
            "experiences",
            "add_experience",
        ),
        kind="experience",
        trigger="error_learning",
        becomes=APPLIED,
    ),
    DemoProposal(
        YUNLING,
        "客服小云",
        "回答末尾附上帮助中心链接",
        "客户多次追问在哪里可以查到说明。",
        ItemDraft("experience", "每个回答的末尾附上帮助中心的链接。", "experiences", "add_experience"),
        kind="experience",
        becomes=ROLLED_BACK,
        reason="客户反映链接太多，先恢复原样。",
    ),
    DemoProposal(
        HARBOR,
        "Release Pilot",
        "Allow deleting old log files",
        "The disk was full twice this month.",
        ItemDraft("behavior_rule", "Old log files may be deleted.", "principles.md", "update"),
        trigger="deviation",
        after="- Never run a command that deletes data.",
    ),
)


def add_proposals(people: Mapping[str, User], drafted_by: Actor, now: datetime) -> int:
    """Draft them all, and decide as the demo's approver; without one who may, those that need it are left out."""
    approver = people.get(APPROVER)
    count = 0
    for wanted in PROPOSALS:
        agent = Agent.objects.live().get(company__slug=wanted.company, name=wanted.agent)
        if wanted.becomes != WAITING and not _may_decide(approver, agent):
            continue
        item = wanted.item
        if wanted.after:
            item = ItemDraft(item.type, item.content, item.target, item.operation, _with_line(agent, wanted))
        draft = Draft(
            wanted.kind, wanted.trigger, [item], wanted.title, wanted.rationale, user_id=wanted.user_id
        )
        drafted = draft_proposal(
            company=agent.company, agent=agent, draft=draft, actor=drafted_by, now=now
        ).proposal
        if drafted is not None:
            count += 1
            _decide(drafted, wanted, approver, now)
    return count


def _may_decide(person: User | None, agent: Agent) -> bool:
    verbs = ("approve", "apply", "rollback")
    return (
        person is not None
        and may_write(person, agent.company)
        and all(person.has_perm(f"proposals.{verb}_proposal") for verb in verbs)
    )


def _with_line(agent: Agent, wanted: DemoProposal) -> str:
    text = current_text(Document.objects.get(agent=agent, path=wanted.item.target)) or ""
    return text.replace(wanted.after, f"{wanted.after}\n- {wanted.item.content}")


def _decide(proposal: Proposal, wanted: DemoProposal, approver: User | None, now: datetime) -> None:
    if wanted.becomes == WAITING or approver is None:
        return
    actor = Actor(APPROVER, Channel.ADMIN, user_id=approver.pk)
    approve_and_apply(proposal_id=proposal.pk, decision=Decision(actor, now), applies=True)
    if wanted.becomes == ROLLED_BACK:
        roll_back(proposal_id=proposal.pk, reason=wanted.reason, actor=actor, now=now)

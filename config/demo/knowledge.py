"""What the demo's company has found out: findings that wait for a person, and confirmed ones that were used.

Stored, activated and judged by the services, so their ledgers, warnings and receipts are real.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from agents.models import Agent
from common.accounts.models import User
from common.actors import Actor, Channel
from common.companies.selectors import may_write
from config.demo.content import APPROVER, YUNLING
from evolution.knowledge.models import Knowledge
from evolution.knowledge.rules.outcomes import Report
from evolution.knowledge.services.deciding import Decision, activate
from evolution.knowledge.services.outcomes import Told, record_outcomes
from evolution.knowledge.services.storing import add_knowledge

AGENT = "运维助手"


@dataclass(frozen=True)
class DemoKnowledge:
    """One finding, so many days old. `outcomes` (result, minutes saved) came one a day after it was confirmed;
    without any it still waits for a person.
    """

    title: str
    category: str
    summary: str
    tags: tuple[str, ...]
    confidence: str
    age: int = 20
    outcomes: tuple[tuple[str, int], ...] = ()
    is_for_all: bool = False


KNOWLEDGE = (
    DemoKnowledge(
        "Fix: ConnectionPoolTimeout",
        "debugging",
        "高峰期请求在连接池前排队超过 30 秒。把池的上限调到 40，并在等待超过 5 秒时告警。",
        ("postgres", "timeout"),
        "0.8",
        outcomes=(("success", 45), ("success", 30), ("partial", 10), ("success", 60), ("success", 40)),
    ),
    DemoKnowledge(
        "先写回滚步骤，再写上线步骤",
        "workflow",
        "上线单的第一节是回滚。没有回滚步骤的上线单不评审。",
        ("release", "rollback"),
        "0.7",
        outcomes=(("success", 20), ("success", 15)),
        is_for_all=True,
    ),
    DemoKnowledge(
        "重启服务可以释放磁盘空间",
        "debugging",
        "磁盘使用率超过 90% 时重启日志采集服务。",
        ("disk",),
        "0.8",
        outcomes=(("failure", 0), ("failure", -30), ("failure", 0), ("failure", -20), ("failure", 0)),
    ),
    DemoKnowledge(
        "Fix: CertificateExpired",
        "debugging",
        "内部网关的证书不在自动续期的名单里。把它加进名单，并在到期前 14 天告警。",
        ("tls", "gateway"),
        "0.8",
    ),
    DemoKnowledge(
        "用日志关键字代替看板截图", "tooling", "告警说明里贴日志关键字，截图搜索不到。", ("alert",), "0.6"
    ),
)


def add_demo_knowledge(people: Mapping[str, User], reported_by: Actor, now: datetime) -> int:
    """Store them all, and confirm as the demo's approver what was used; without one who may, all of them wait."""
    agent = Agent.objects.live().get(company__slug=YUNLING, name=AGENT)
    approver = people.get(APPROVER)
    for wanted in KNOWLEDGE:
        item, _created = add_knowledge(
            company=agent.company,
            agent=None if wanted.is_for_all else agent,
            fields={
                "title": wanted.title,
                "category": wanted.category,
                "summary": wanted.summary,
                "tags": list(wanted.tags),
            },
            source_type="error_fix",
            confidence=Decimal(wanted.confidence),
            actor=reported_by,
            now=now - timedelta(days=wanted.age),
        )
        if wanted.outcomes and approver is not None and _may_confirm(approver, agent):
            _use(item, wanted, approver, reported_by, now)
    return len(KNOWLEDGE)


def _may_confirm(person: User, agent: Agent) -> bool:
    return may_write(person, agent.company) and person.has_perm("knowledge.confirm_knowledge")


def _use(item: Knowledge, wanted: DemoKnowledge, approver: User, reported_by: Actor, now: datetime) -> None:
    confirmed = now - timedelta(days=wanted.age - 1)
    person = Actor(APPROVER, Channel.ADMIN, user_id=approver.pk)
    item = activate(knowledge_id=item.pk, decision=Decision(person, confirmed))
    for day, (result, minutes) in enumerate(wanted.outcomes, start=1):
        report = Report(result, knowledge=item.code, task=f"{wanted.tags[0]} {day}", minutes=minutes)
        told = Told(report, reported_by, confirmed + timedelta(days=day))
        record_outcomes(company=item.company, items=[item], told=told)

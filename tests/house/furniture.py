"""A row for every page of the admin."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Group
from django.db import models
from django.utils import timezone, translation

from agents.models import Agent, Document, ProtectedAccess
from agents.services.documents import put_document
from common.accounts.models import User
from common.companies.models import ApiKey, Company
from common.receipts.models import Receipt, ReceiptLine
from evolution.cycles.models import Quarantine
from evolution.cycles.services.quarantine import quarantine_key
from evolution.knowledge.models import ConfidenceEvent, Injection, Knowledge, LearningItem, Outcome
from evolution.lessons.models import ChangeCheck, Lesson, RecallLog, Repository
from evolution.lessons.rules.check_request import checked_check
from evolution.lessons.rules.recall_request import checked_request
from evolution.lessons.services.checking import check_and_store
from evolution.lessons.services.recalling import recall_and_log
from evolution.parameters.models import Parameter, ParameterChange
from evolution.parameters.services import Approval, set_parameter
from evolution.patterns.models import Pattern
from evolution.proposals.models import GitMirrorCommit, Proposal, ProposalItem
from experiences.models import Experience
from tests import factories
from tests.knowledge.items import make_knowledge
from tests.lessons.library import BUS, HANDOFF, make_lesson


class House:
    """A row of acme for every model that has an admin page."""

    def __init__(self, acme: Company, colleague: User, agent: Agent) -> None:
        self.agent = agent
        self.rows: dict[type[models.Model], models.Model] = {Company: acme, User: colleague, Agent: agent}
        self.rows[Document] = agent.documents.get()
        self.rows[Experience] = agent.experiences.first()
        self.rows[ApiKey] = ApiKey.objects.get(company=acme, name="生产环境")
        self.rows[Receipt] = Receipt.objects.get(company=acme, trigger="agent_created")
        self.rows[ReceiptLine] = ReceiptLine.objects.filter(receipt=self.rows[Receipt]).first()
        self.rows[ProtectedAccess] = ProtectedAccess.objects.filter(company=acme).first()
        self.rows[Group] = Group.objects.get(name="Editor")
        self.rows[Proposal] = Proposal.objects.get(company=acme)
        self.rows[ProposalItem] = ProposalItem.objects.get(proposal=self.rows[Proposal])
        self.rows[GitMirrorCommit] = GitMirrorCommit.objects.create(
            receipt=self.rows[Receipt], proposal=self.rows[Proposal], status=GitMirrorCommit.State.FAILED
        )

        for model in (Knowledge, Injection, Outcome, Quarantine):
            self.rows[model] = model._default_manager.get(company=acme)
        self.rows[ConfidenceEvent] = ConfidenceEvent.objects.filter(company=acme).latest("pk")
        self.rows[Pattern] = Pattern.objects.get(company=acme)
        self.rows[LearningItem] = LearningItem.objects.get(company=acme)
        self.change = ParameterChange.objects.get(company=acme)
        self.rows[Parameter], self.rows[ParameterChange] = Parameter.objects.get(company=acme), self.change
        self.rows[Lesson] = Lesson.objects.get(company=acme, status="active")
        self.rows[RecallLog] = RecallLog.objects.get(company=acme, reference="PR-7")
        self.rows[Repository] = Repository.objects.get(company=acme)
        self.rows[ChangeCheck] = ChangeCheck.objects.get(company=acme)

    def row(self, model: type[models.Model]) -> Any:
        """The row of this model; any row where the model belongs to no company."""
        return self.rows.get(model) or model._default_manager.first()


def furnish(acme: Company) -> House:
    """See `_furnish`; what is stored in the writer's language is Chinese."""
    with translation.override("zh-hans"):
        return _furnish(acme)


def _furnish(acme: Company) -> House:
    """acme with an agent, two versions of its document, a key, a proposal, a colleague and receipts."""
    colleague = factories.make_person("guanyuan", role="Viewer", companies=[acme])
    agent = factories.make_agent(acme, "运维助手", rows=["先查日志。", ("再查发布。", False)], tags=["运维"])
    for text in ("第一版", "第二版"):
        put_document(
            agent=agent,
            company=acme,
            path="memory/notes.md",
            text=text,
            edit=factories.an_edit(now=timezone.now()),
            request="test",
        )
    key = factories.make_key(acme, ["read", "report"], name="生产环境", agent_id=agent.pk)
    item = {"type": "experience", "operation": "add_experience", "content": "先看监控。"}
    drafted = factories.ApiClient(key).post("proposals", {"agent": agent.pk, "items": [item]})
    assert drafted.status_code == 201, drafted.content.decode()
    fix = {"error_type": "超时", "root_cause": "连接池太小", "solution": "放大连接池"}
    item = {"source_type": "error_fix", "source_id": "错误-1", "agent": agent.pk, "metadata": fix}
    assert factories.ApiClient(key).post("learning-items", item).status_code == 201
    approval = Approval("EP-000", "审批人", "量过了")
    set_parameter(
        company_id=acme.pk, name="injection_top_k", value=8, expected=5, approval=approval, now=timezone.now()
    )
    pattern = {"name": "仓库模式", "agent": agent.pk, "keywords": ["仓库", "会话"]}
    assert factories.ApiClient(key).post("patterns", pattern).status_code == 201
    diff = "+++ b/仓库.py\n@@ -0,0 +1 @@\n+仓库 会话\n"
    commit = {"repository": "主仓库", "commit": "a1", "diff": diff}
    assert factories.ApiClient(key).post("patterns/scan", commit).status_code == 200
    _use_knowledge(acme, agent, key)
    _recall(acme)
    report = {
        "scanned": 9,
        "captured": 2,
        "skipped": {"merge": 3},
        "by_source": {"commit": 2},
        "notes": ["shallow"],
    }
    Repository.objects.create(company=acme, name="主仓库", last_report=report)
    return House(acme, colleague, agent)


def _use_knowledge(acme: Company, agent: Agent, key: str) -> None:
    """An item of the agent that was given to it and helped; a stolen key in quarantine."""
    item = make_knowledge(acme, "放大连接池", agent=agent, summary="连接池至少二十。", active=True)
    runtime = factories.ApiClient(key)
    asked = {"agent": agent.pk, "phase": "implementing", "keywords": ["连接池"], "task": "放大连接池"}
    assert runtime.post("injections", asked).status_code in (200, 201)
    told = {"knowledge": item.code, "result": "success", "task": "放大连接池"}
    assert runtime.post("outcomes", told).status_code == 201
    factories.make_key(acme, ["report"], name="失窃的密钥")
    quarantine_key(
        key=ApiKey.objects.get(company=acme, name="失窃的密钥"),
        since=timezone.now() - timedelta(days=1),
        reason="密钥失窃",
        actor=factories.SYSTEM,
        now=timezone.now(),
    )


def _recall(acme: Company) -> None:
    """A lesson that was recalled, and a change that meets it."""
    make_lesson(acme, **{**HANDOFF, "title": "交接格式与包装不一致", "checklist": ["甲", "乙", "丙"]})
    make_lesson(acme, title="发布前没有跑测试", status="draft", takeaway="")
    now = timezone.now()
    asked = {"task": "修复交接格式", "tags": ["schema"], "files": [BUS], "reference": "PR-7"}
    recall_and_log(company=acme, request=checked_request(asked), actor=factories.SYSTEM, now=now)
    checked = checked_check({"reference": "PR-7", "modified_files": [BUS], "subject": "修复 交接"})
    check_and_store(company=acme, request=checked, actor=factories.SYSTEM, now=now)

"""Lessons for tests, made through the services."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from common.companies.models import Company
from evolution.lessons.models import Lesson
from evolution.lessons.services.deciding import Decision, archive
from evolution.lessons.services.storing import create_lesson
from tests.factories import SYSTEM

BUS = ".agent/artifacts/scripts/artifact-bus.js"
CHECKS = ["first", "second", "third"]
HANDOFF: dict[str, Any] = {
    "title": "handoff JSON schema 与 artifact wrapper 不匹配",
    "severity": "high",
    "tags": ["schema", "handoff", "artifact-bus", "e2e"],
    "related_files": [".agent/handoffs/scripts/handoff-protocol.js", BUS],
    "what": "handoff 返回的字段与 artifact 的包装不一致",
    "when": "端到端测试",
    "how": "增加适配层",
    "takeaway": "必须在第一个版本就定义统一的 schema 适配层",
    "checklist": ["schema 有版本", "有适配层", "端到端测试覆盖"],
}
SHIP: dict[str, Any] = {
    "title": "self-check 误入通用 /ship",
    "type": "design-correction",
    "tags": ["agent-scope", "L1", "L3", "ship"],
    "related_files": [".agent/workflows/ship.md"],
    "what": "自检步骤进入了通用流程",
    "when": "发布",
    "how": "移到本仓库",
    "takeaway": "框架层与自举层要分开",
    "checklist": CHECKS,
}


def make_lesson(company: Company, *, archived: bool = False, **fields: Any) -> Lesson:
    """An active lesson (or `status="draft"`) with what it needs; `archived` takes it out again."""
    agent, status = fields.pop("agent", None), fields.pop("status", "active")
    values = {
        "title": "t",
        "what": "-",
        "when": "-",
        "how": "-",
        "takeaway": "-",
        "checklist": CHECKS,
        **fields,
    }
    now = timezone.now()
    lesson = create_lesson(company=company, values=values, actor=SYSTEM, now=now, agent=agent, status=status)
    if archived:
        archive(lesson_id=lesson.pk, decision=Decision(actor=SYSTEM, now=now))
    return lesson


def handoff(company: Company) -> Lesson:
    return make_lesson(company, **HANDOFF)


def ship(company: Company) -> Lesson:
    return make_lesson(company, **SHIP)

"""The two lessons that the recall of lessons began with, for demos and tests."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime

from agents.services.importing import ImportReport
from common.actors import Actor
from common.companies.models import Company
from evolution.lessons.rules.kinds import Category, LessonType, Severity
from evolution.lessons.rules.records import Check, LessonRecord
from evolution.lessons.services.folder import Item
from evolution.lessons.services.importing import import_lessons

_DAY = date(2026, 6, 12)

LESSONS = (
    LessonRecord(
        number=1,
        title="handoff schema 与 artifact wrapper 不匹配",
        type=LessonType.BUG_FIX,
        severity=Severity.HIGH,
        category=Category.PRACTICE,
        date=_DAY,
        trigger="T-C09 E2E 验证",
        tags=["schema", "handoff", "artifact-bus", "e2e"],
        related_files=[
            ".agent/handoffs/scripts/handoff-protocol.js",
            ".agent/artifacts/scripts/artifact-bus.js",
        ],
        what=(
            "artifact-bus.js 把 handoff JSON 包装在 `{artifact_id, seq, payload}` 中，"
            "但 handoff.schema.json 期望字段在根级别，导致 `resume-prompt` 失败。"
        ),
        when="- handoff JSON 同时以原始 payload 和 artifact bus 两种形式存储\n- 两种 schema 没有协调",
        how="handoff-protocol.js 添加 `extractHandoffPayload()`，自动识别 wrapper。",
        takeaway="任何在多个存储位置间流转的结构化数据，必须在第一个版本就定义统一的 schema 适配层。",
        checklist=[
            Check("新增 schema 是否考虑多存储路径？"),
            Check("是否在第一个版本就提供 extractor/adapter？"),
            Check("PR review 是否包含 schema 兼容性检查？"),
        ],
    ),
    LessonRecord(
        number=2,
        title="self-check 误入通用 /ship",
        type=LessonType.DESIGN_CORRECTION,
        severity=Severity.MEDIUM,
        category=Category.RULE,
        date=_DAY,
        trigger="T-B04",
        tags=["agent-scope", "L1", "L3", "ship"],
        related_files=[".agent/workflows/ship.md"],
        what="self-check 是框架自己的自举能力，却被写进了所有用户共用的 /ship 工作流。",
        when="新增一项能力时，没有先判断它属于框架模板、项目实例还是框架自举。",
        how="手动回滚，并把判断方法沉淀为 `agent-scope.md`。",
        takeaway="新增任何能力前，先按三层模型（L1/L2/L3）判断归属；L3 自举能力绝不进入通用工作流。",
        checklist=[
            Check("新能力是否先判断了 L1/L2/L3 归属？"),
            Check("通用工作流是否只引用 L1 能力？"),
            Check("用户可见的模板里是否没有 L3 文件？"),
        ],
    ),
)


def seed_lessons(*, company: Company, actor: Actor, now: datetime) -> ImportReport:
    """Store EXP-001 and EXP-002 as active lessons; what has their number already is left as it is."""
    # Without an expiry, so that a demo still has both next year.
    records = [replace(record, expires_on=None, expires_manual=True) for record in LESSONS]
    items = [Item(record.code, record) for record in records]
    return import_lessons(items=items, company=company, actor=actor, now=now)

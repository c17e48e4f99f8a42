"""The receipt of what became of lessons: one line a lesson."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from common.actors import Actor
from common.receipts.choices import LineStatus, ReceiptType
from common.receipts.models import Receipt
from common.receipts.rules import Line, text_hash
from common.receipts.services import write_receipt
from evolution.lessons.models import Lesson


def write_lesson_receipt(
    lessons: Sequence[Lesson],
    *,
    actor: Actor,
    now: datetime,
    trigger: str,
    type: str = ReceiptType.CHANGE,
    status: str = LineStatus.APPLIED,
    reason: str = "",
    detail: Mapping[str, Any] | None = None,
    digests: Mapping[int, str] | None = None,
) -> Receipt:
    """Write what happened to lessons of one company (at least one), in the caller's transaction.

    `status` and `reason` are those of every line; `digests` gives the SHA-256 of the file by lesson id.
    """
    agents = {lesson.agent_id: lesson.agent for lesson in lessons}
    agent = next(iter(agents.values())) if len(agents) == 1 else None
    return write_receipt(
        company=lessons[0].company,
        actor=actor,
        type=type,
        trigger=trigger,
        at=now,
        agent_id=agent.pk if agent else None,
        agent_name=agent.name if agent else "",
        lines=[_line(lesson, status, reason, (digests or {}).get(lesson.pk, "")) for lesson in lessons],
        detail={"reason_sha256": text_hash(reason), **(detail or {})},
    )


def _line(lesson: Lesson, status: str, reason: str, sha256: str) -> Line:
    return Line(
        type="lesson",
        target=lesson.code,
        status=status,
        content=lesson.title,
        new_sha256=sha256,
        rejection_reason=reason,
    )

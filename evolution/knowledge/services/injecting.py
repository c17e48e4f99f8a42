"""Hand out the items worth having before a phase, and remember what was delivered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from agents.models import Agent
from common.actors import Actor
from common.companies.models import Company
from common.redaction import redact
from evolution.knowledge.models import Injection
from evolution.knowledge.models.use import MAX_TASK
from evolution.knowledge.rules.injection import LOGGED_KEYWORDS
from evolution.knowledge.rules.injection_request import MAX_KEYWORD, MAX_NAME, MAX_PHASE, InjectionRequest
from evolution.knowledge.rules.values import shortened
from evolution.knowledge.selectors.injection import Picked, Selected, select_items


@dataclass(frozen=True)
class Asked:
    """For whom, by whom and when an injection is made; `is_prompt`: as a part of a prompt."""

    company: Company
    agent: Agent
    actor: Actor
    now: datetime
    is_prompt: bool = False


@transaction.atomic
def inject(*, asked: Asked, request: InjectionRequest) -> tuple[Selected, Injection]:
    """Select the items and store what is delivered, also when that is nothing."""
    selected = select_items(company=asked.company, agent=asked.agent, request=request)
    delivered = [*selected.items, *selected.avoid]
    return selected, log_injection(
        asked=asked, request=request, keywords=selected.keywords, delivered=delivered
    )


def log_injection(
    *, asked: Asked, request: InjectionRequest, keywords: Sequence[str], delivered: Sequence[Picked]
) -> Injection:
    """Store an injection, without secrets. docs/rules.md: injection log."""
    return Injection.objects.create(
        company=asked.company,
        agent=asked.agent,
        phase=_kept(request.phase, MAX_PHASE),
        keywords=[_kept(keyword, MAX_KEYWORD) for keyword in keywords[:LOGGED_KEYWORDS]],
        task=_kept(request.task, MAX_TASK),
        workflow=_kept(request.workflow, MAX_NAME),
        conversation_id=request.conversation_id,
        items=[_item(one) for one in delivered],
        item_count=len(delivered),
        is_prompt=asked.is_prompt,
        asked_by=asked.actor.name[:200],
        created_at=asked.now,
    )


def _item(one: Picked) -> dict[str, Any]:
    return {
        "id": one.item.code,
        "kind": one.kind,
        "rank": float(one.rank),
        "score": None if one.causal is None else float(one.causal),
        "sha256": one.sha256,
    }


def _kept(text: str, limit: int) -> str:
    return shortened(redact(text).text, limit)

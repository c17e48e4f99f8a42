"""What waits for a person, for the tile on the start page: proposals, drafts of lessons and of knowledge."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from common.admin import chosen_company
from evolution.knowledge.selectors import listing
from evolution.lessons.selectors.drafts import drafts_waiting
from evolution.proposals.choices import Risk
from evolution.proposals.selectors import waiting_for


def waiting_tile(request: HttpRequest) -> dict[str, Any] | None:
    """What this person can decide, apply or repair; None for who may see nothing of it. Five queries."""
    parts = {**_proposals(request), **_drafts(request), **_knowledge(request)}
    return parts or None


def _drafts(request: HttpRequest) -> dict[str, Any]:
    user = request.user
    if not user.has_perm("lessons.view_lesson"):
        return {}
    return {
        "drafts": drafts_waiting(user, chosen_company(request)),
        "desk_url": reverse("admin:lessons_lesson_desk"),
        "may_confirm": user.has_perm("lessons.confirm_lesson"),
    }


def _knowledge(request: HttpRequest) -> dict[str, Any]:
    user = request.user
    if not user.has_perm("knowledge.view_knowledge"):
        return {}
    drafts = f"{reverse('admin:knowledge_knowledge_changelist')}?status__exact=draft"
    return {
        "knowledge": listing.drafts_waiting(user, chosen_company(request)),
        "knowledge_url": drafts,
        "may_activate": user.has_perm("knowledge.confirm_knowledge"),
    }


def _proposals(request: HttpRequest) -> dict[str, Any]:
    user = request.user
    if not user.has_perm("proposals.view_proposal"):
        return {}
    waiting = waiting_for(user, chosen_company(request))
    queue = reverse("admin:proposals_proposal_queue")
    return {
        "waiting": waiting,
        "risks": [
            (risk, Risk(risk).label, count, f"{queue}?risk={risk}") for risk, count in waiting.by_risk.items()
        ],
        "queue_url": queue,
        "list_url": reverse("admin:proposals_proposal_changelist"),
        "health_url": reverse("admin:proposals_proposal_health"),
        "may_decide": user.has_perm("proposals.approve_proposal"),
        "may_apply": user.has_perm("proposals.apply_proposal"),
    }

"""What waits for a person, for the tile on the start page."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from common.admin import chosen_company
from evolution.proposals.choices import Risk
from evolution.proposals.selectors import waiting_for


def waiting_tile(request: HttpRequest) -> dict[str, Any] | None:
    """What this person can decide, apply or repair; None for who may not see proposals. Two queries."""
    user = request.user
    if not user.has_perm("proposals.view_proposal"):
        return None
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

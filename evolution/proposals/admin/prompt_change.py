"""What a proposal would change in the prompt of its agent, rendered with and without it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string
from django.utils.safestring import SafeString

from agents.rules.paths import user_of
from common.admin import visible
from common.errors import ApplicationError
from evolution.proposals.admin.shown import UnifiedLine
from evolution.proposals.choices import ItemStatus
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.operations.experiences import TARGET, content_of, enabled_of
from evolution.proposals.operations.role import ROLE_TARGET
from experiences.models import Experience

_WRITING = ("create", "update", "rename", "delete")


def prompt_change(
    proposal: Proposal, items: Iterable[ProposalItem], now: datetime
) -> list[UnifiedLine] | None:
    """The difference as lines, for the end user whom the items name; None when the prompt cannot be rendered.

    Which function renders is said in `config.agent_tabs`, because the prompt lies above this room.
    """
    if not settings.PROMPT_DIFF or proposal.agent is None:
        return None
    live = [item for item in items if item.status in (ItemStatus.PENDING, ItemStatus.APPROVED)]
    users = [user for item in live if (user := user_of(item.target))]
    try:
        diff: str = import_string(settings.PROMPT_DIFF)(
            proposal.agent,
            proposal.company,
            now=now,
            user_id=users[0] if users else None,
            **_changes(proposal, live),
        )
    except ApplicationError:
        return None
    return [_line(line) for line in diff.split("\n")[2:-1]]


def _changes(proposal: Proposal, items: list[ProposalItem]) -> dict[str, Any]:
    """Role, documents and rows as they would be after the items."""
    changes: dict[str, Any] = {}
    documents: dict[str, str | None] = {}
    for item in items:
        if item.target == ROLE_TARGET:
            changes["role"] = item.new_text
        elif item.operation in _WRITING:
            documents[item.target] = None if item.new_target else item.new_text
            if item.new_target:
                documents[item.new_target] = item.new_text
    if documents:
        changes["documents"] = documents
    about_rows = [item for item in items if item.target.partition("/")[0] == TARGET]
    if about_rows:
        changes["rows"] = _rows(proposal, about_rows)
    return changes


def _rows(proposal: Proposal, items: list[ProposalItem]) -> list[tuple[str, bool]]:
    stored = Experience.objects.of_agent(proposal.agent_id).order_by("order", "id")
    rows = {f"{TARGET}/{row.pk}": (row.content, row.enabled) for row in stored}
    for item in items:
        place = f"new {item.number}" if item.target == TARGET else item.target
        if item.new_text is None:
            rows.pop(place, None)
        else:
            rows[place] = (content_of(item.new_text), enabled_of(item.new_text))
    return list(rows.values())


def _line(line: str) -> UnifiedLine:
    if line.startswith("@@"):
        return UnifiedLine("hunk", SafeString(line))
    return UnifiedLine({"+": "add", "-": "del"}.get(line[:1], ""), visible(line))

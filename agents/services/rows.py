"""Change experience rows one by one; each change locks and versions their agent."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from agents.services.editing import Edit, edit_agent, lock_agents
from common.errors import ApplicationError
from experiences.models import Experience
from experiences.services import (
    add_experience,
    change_experience,
    delete_experiences,
    switch_experiences,
)


def row_not_found() -> ApplicationError:
    """The one answer for a row that is not this agent's."""
    return ApplicationError("AGENT_EXPERIENCE_NOT_FOUND", _("No such experience of this agent."))


def add_row(
    *, agent_id: int, content: Any, edit: Edit, enabled: bool = True, position: int | None = None
) -> Experience:
    """Add a row at `position` (clamped) or last. Errors: AGENT_EXPERIENCE_CONTENT_INVALID, AGENT_NOT_FOUND."""
    with edit_agent(agent_id, edit):
        return add_experience(
            agent_id=agent_id, content=content, enabled=enabled, position=position, now=edit.now
        )


def change_row(*, agent_id: int, row_id: int, changes: Mapping[str, Any], edit: Edit) -> Experience:
    """Change content, enabled, sort_order of a row (None = leave). Errors: AGENT_EXPERIENCE_NOT_FOUND, ..."""
    with edit_agent(agent_id, edit):
        row = Experience.objects.of_agent(agent_id).filter(pk=row_id).first()
        if row is None:
            raise row_not_found()
        return change_experience(row=row, changes=changes, now=edit.now)


def delete_row(*, agent_id: int, row_id: int, edit: Edit) -> None:
    """Delete one row for good. Errors: AGENT_EXPERIENCE_NOT_FOUND."""
    with edit_agent(agent_id, edit):
        if not delete_experiences(agent_id=agent_id, ids=[row_id], now=edit.now):
            raise row_not_found()


def _by_agent(row_ids: Collection[int]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = {}
    rows = Experience.objects.filter(pk__in=row_ids).order_by("agent_id", "pk")
    for pk, agent_id in rows.values_list("pk", "agent_id"):
        groups.setdefault(agent_id, []).append(pk)
    return groups


@transaction.atomic
def switch_rows(*, row_ids: Collection[int], enabled: bool, edit: Edit) -> int:
    """Switch rows of any agents on or off; returns how many changed; one version an agent."""
    changed, groups = 0, _by_agent(row_ids)
    lock_agents(groups.keys())
    for agent_id, ids in groups.items():
        with edit_agent(agent_id, edit):
            changed += switch_experiences(agent_id=agent_id, ids=ids, enabled=enabled, now=edit.now)
    return changed


@transaction.atomic
def delete_rows(*, row_ids: Collection[int], edit: Edit) -> int:
    """Delete rows of any agents for good; returns how many; gaps are closed, one version an agent."""
    deleted, groups = 0, _by_agent(row_ids)
    lock_agents(groups.keys())
    for agent_id, ids in groups.items():
        with edit_agent(agent_id, edit):
            deleted += delete_experiences(agent_id=agent_id, ids=ids, now=edit.now)
    return deleted

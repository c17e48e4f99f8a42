"""Read experience rows."""

from __future__ import annotations

from django.db.models import QuerySet

from experiences.models import Experience


def rows_of(agent_id: int) -> QuerySet[Experience]:
    """All rows of an agent, disabled ones too, by (order, id)."""
    return Experience.objects.of_agent(agent_id)


def snapshot_rows(agent_id: int) -> list[dict]:
    """The rows as a version keeps them: id, content, enabled, in order."""
    return list(Experience.objects.of_agent(agent_id).values("id", "content", "enabled"))

"""Write an agent's rows. The caller holds the agent's lock and a transaction, and versions the agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from experiences.models import Experience
from experiences.rules import RowInput, check_rows, checked_content, in_wanted_order, moved, renumbering

_WRITTEN = ("content", "order", "enabled", "updated_at")


def sync_experiences(*, agent_id: int, rows: Sequence[RowInput], now: datetime) -> None:
    """Make the agent's rows exactly `rows`: known ids updated, rows without id added, all others deleted.

    Everything is checked before the first write. Orders end as 0..n-1.
    Errors: AGENT_EXPERIENCE_ID_INVALID, AGENT_EXPERIENCE_CONTENT_INVALID.
    """
    stored = {row.pk: row for row in Experience.objects.of_agent(agent_id)}
    check_rows(rows, stored.keys())
    wanted = in_wanted_order(rows)
    gone = stored.keys() - {row.id for row in wanted}
    if gone:
        Experience.objects.filter(agent_id=agent_id, pk__in=gone).delete()
    changed, new = [], []
    for order, row in enumerate(wanted):
        if row.id is None:
            content, enabled = checked_content(row.content), row.enabled is not False
            new.append(Experience(agent_id=agent_id, content=content, order=order, enabled=enabled))
            continue
        old = stored[row.id]
        content = old.content if row.content is None else checked_content(row.content)
        enabled = old.enabled if row.enabled is None else row.enabled
        if (old.content, old.order, old.enabled) != (content, order, enabled):
            old.content, old.order, old.enabled, old.updated_at = content, order, enabled, now
            changed.append(old)
    Experience.objects.bulk_update(changed, _WRITTEN, batch_size=500)
    Experience.objects.bulk_create(new)


def add_experience(
    *, agent_id: int, content: str, now: datetime, enabled: bool = True, position: int | None = None
) -> Experience:
    """Add one row at `position` (clamped), or last. Errors: AGENT_EXPERIENCE_CONTENT_INVALID."""
    text = checked_content(content)
    ids = list(Experience.objects.of_agent(agent_id).values_list("pk", flat=True))
    row = Experience(agent_id=agent_id, content=text, order=len(ids), enabled=enabled)
    Experience.objects.bulk_create([row])
    if position is not None:
        renumber(agent_id=agent_id, ids=moved([*ids, row.pk], row.pk, position), now=now)
        row.refresh_from_db()
    return row


def change_experience(*, row: Experience, changes: Mapping[str, Any], now: datetime) -> Experience:
    """Change content, enabled and sort_order of one row; a missing or None value stays as it is.

    Only the columns that change are written. Errors: AGENT_EXPERIENCE_CONTENT_INVALID.
    """
    fields = {}
    if changes.get("content") is not None:
        fields["content"] = checked_content(changes["content"])
    if changes.get("enabled") is not None:
        fields["enabled"] = changes["enabled"]
    fields = {name: value for name, value in fields.items() if getattr(row, name) != value}
    if fields:
        Experience.objects.filter(pk=row.pk).update(**fields, updated_at=now)
    if changes.get("sort_order") is not None:
        ids = list(Experience.objects.of_agent(row.agent_id).values_list("pk", flat=True))
        renumber(agent_id=row.agent_id, ids=moved(ids, row.pk, changes["sort_order"]), now=now)
    row.refresh_from_db()
    return row


def switch_experiences(*, agent_id: int, ids: Sequence[int], enabled: bool, now: datetime) -> int:
    """Switch rows of one agent on or off; returns how many changed."""
    rows = Experience.objects.filter(agent_id=agent_id, pk__in=ids).exclude(enabled=enabled)
    return rows.update(enabled=enabled, updated_at=now)


def delete_experiences(*, agent_id: int, ids: Sequence[int], now: datetime) -> int:
    """Delete rows of one agent for good and close the gaps; returns how many were deleted."""
    deleted, _by_model = Experience.objects.filter(agent_id=agent_id, pk__in=ids).delete()
    rest = list(Experience.objects.of_agent(agent_id).values_list("pk", flat=True))
    renumber(agent_id=agent_id, ids=rest, now=now)
    return deleted


def restore_experiences(*, agent_id: int, rows: Sequence[Mapping[str, Any]], now: datetime) -> None:
    """Make the rows those of a snapshot: `[{id, content, enabled}]` in order; deleted rows return under their id."""
    Experience.objects.filter(agent_id=agent_id).exclude(pk__in=[row["id"] for row in rows]).delete()
    stored = set(Experience.objects.filter(agent_id=agent_id).values_list("pk", flat=True))
    wanted = [
        Experience(
            pk=row["id"],
            agent_id=agent_id,
            content=checked_content(row["content"]),
            order=order,
            enabled=row["enabled"],
            updated_at=now,
        )
        for order, row in enumerate(rows)
    ]
    Experience.objects.bulk_update([row for row in wanted if row.pk in stored], _WRITTEN, batch_size=500)
    Experience.objects.bulk_create([row for row in wanted if row.pk not in stored])


def restore_experience(
    *, agent_id: int, row_id: int, content: str, enabled: bool, position: int, now: datetime
) -> Experience:
    """Bring a deleted row back under its old id, at `position` (clamped). Errors: AGENT_EXPERIENCE_CONTENT_INVALID."""
    ids = list(Experience.objects.of_agent(agent_id).values_list("pk", flat=True))
    row = Experience(
        pk=row_id, agent_id=agent_id, content=checked_content(content), order=len(ids), enabled=enabled
    )
    Experience.objects.bulk_create([row])
    renumber(agent_id=agent_id, ids=moved([*ids, row_id], row_id, position), now=now)
    row.refresh_from_db()
    return row


def renumber(*, agent_id: int, ids: Sequence[int], now: datetime) -> None:
    """Give the rows the orders 0..n-1 in the order of `ids`, writing only the order of rows that moved."""
    current = dict(Experience.objects.of_agent(agent_id).values_list("pk", "order"))
    changes = renumbering(current, ids)
    Experience.objects.bulk_update(
        [Experience(pk=pk, agent_id=agent_id, order=order, updated_at=now) for pk, order in changes.items()],
        ["order", "updated_at"],
        batch_size=500,
    )

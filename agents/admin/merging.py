"""Put one person's changes on top of what others saved meanwhile, once that person has read it. Pure.

What the person left as it was when the page was opened stays as the others made it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents.rules.snapshots import Snapshot
from experiences.rules import RowInput


def own_changes(fields: Mapping[str, Any], owner_name: str | None, base: Snapshot) -> dict[str, Any]:
    """Of the sent fields those that differ from the version that the page showed."""
    before = {**base["settings"], "system_prompt": base["role"]}
    return {
        name: value
        for name, value in fields.items()
        if (before.get("owner") != owner_name if name == "owner_id" else before.get(name) != value)
    }


def own_rows(rows: Sequence[RowInput], base: Snapshot, stored: Mapping[int, RowInput]) -> list[RowInput]:
    """The sent rows in their order: untouched ones as they are stored now, touched ones as sent.

    A row that others deleted comes back as a new one if the person changed it, else it stays deleted. Ids
    that neither the opened version nor the agent has are left to the service, which refuses them.
    """
    shown = {row["id"]: (row["content"], row["enabled"]) for row in base["rows"]}
    merged = []
    for row in rows:
        if row.id is None or row.id not in shown:
            merged.append(row)
            continue
        is_touched = shown[row.id] != (row.content, row.enabled)
        if row.id in stored:
            merged.append(row if is_touched else stored[row.id])
        elif is_touched:
            merged.append(replace(row, id=None))
    return merged

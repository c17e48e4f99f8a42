"""What a version of an agent holds, and what differs between two of them. Pure.

A snapshot is a JSON mapping: `role` (text), `settings` (mapping), `rows` (list of {id, content, enabled} in
order), `documents` (path -> {version, sha256} of the body documents).
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from common.diff import unified
from common.receipts.rules import Line
from common.strict_json import canonical

Snapshot = Mapping[str, Any]


@dataclass(frozen=True)
class RowChange:
    """One row that differs: kind is added, removed, changed, switched or moved; positions count from 0."""

    kind: str
    id: int
    old: str = ""
    new: str = ""
    old_position: int | None = None
    new_position: int | None = None
    enabled: bool | None = None


@dataclass(frozen=True)
class SnapshotDiff:
    """`role` is a unified diff (empty when equal); `settings` maps a name to (old, new)."""

    role: str = ""
    settings: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    rows: list[RowChange] = field(default_factory=list)
    documents: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not (self.role or self.settings or self.rows or self.documents)


def digest(snapshot: Snapshot) -> str:
    """SHA-256 (hex) over the canonical JSON of a snapshot."""
    return hashlib.sha256(canonical(dict(snapshot))).hexdigest()


def diff(old: Snapshot, new: Snapshot, old_label: str = "old", new_label: str = "new") -> SnapshotDiff:
    """What changed from `old` to `new`; rows are matched by id, and only rows that really moved are moves."""
    role = ""
    if old["role"] != new["role"]:
        role = unified(old["role"], new["role"], old_label, new_label)
    return SnapshotDiff(
        role=role,
        settings=_changed_keys(old["settings"], new["settings"]),
        rows=list(_row_changes(old["rows"], new["rows"])),
        documents=_changed_keys(old.get("documents", {}), new.get("documents", {})),
    )


def _changed_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    names = [*old, *(name for name in new if name not in old)]
    return {name: (old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)}


def _row_changes(old: Sequence[Mapping], new: Sequence[Mapping]) -> Iterator[RowChange]:
    before = {row["id"]: (position, row) for position, row in enumerate(old)}
    after = {row["id"]: (position, row) for position, row in enumerate(new)}
    for pk, (position, row) in before.items():
        if pk not in after:
            yield RowChange("removed", pk, old=row["content"], old_position=position, enabled=row["enabled"])
    stayed = _unmoved([row["id"] for row in old if row["id"] in after], [row["id"] for row in new])
    for pk, (position, row) in after.items():
        if pk not in before:
            yield RowChange("added", pk, new=row["content"], new_position=position, enabled=row["enabled"])
            continue
        was, old_row = before[pk]
        change = RowChange("moved", pk, old_row["content"], row["content"], was, position)
        if old_row["content"] != row["content"]:
            yield replace(change, kind="changed")
        if old_row["enabled"] != row["enabled"]:
            yield replace(change, kind="switched", enabled=row["enabled"])
        if pk not in stayed:
            yield change


def _unmoved(old_ids: Sequence[int], new_ids: Sequence[int]) -> set[int]:
    """The largest set of ids that keep their relative order (longest increasing subsequence, n log n)."""
    place = {pk: index for index, pk in enumerate(new_ids)}
    tails: list[int] = []
    tail_ids: list[int] = []
    previous: dict[int, int | None] = {}
    for pk in old_ids:
        value = place[pk]
        low = bisect_left(tails, value)
        previous[pk] = tail_ids[low - 1] if low else None
        tails[low : low + 1] = [value]
        tail_ids[low : low + 1] = [pk]
    kept: set[int] = set()
    current = tail_ids[-1] if tail_ids else None
    while current is not None:
        kept.add(current)
        current = previous[current]
    return kept


def receipt_lines(changes: SnapshotDiff, snapshot: Snapshot) -> list[Line]:
    """One receipt line a changed thing: role, setting, experience or document."""
    lines = []
    if changes.role:
        role_hash = hashlib.sha256(snapshot["role"].encode()).hexdigest()
        lines.append(Line(type="role", target="system_prompt", content=changes.role, new_sha256=role_hash))
    for name, (_old, new) in changes.settings.items():
        lines.append(Line(type="setting", target=f"settings/{name}", content=str(new)))
    for row in changes.rows:
        text = row.old if row.kind == "removed" else row.new
        lines.append(
            Line(
                type=f"experience_{row.kind}",
                target=f"experiences/{row.id}",
                content=text,
                new_sha256="" if row.kind == "removed" else hashlib.sha256(text.encode()).hexdigest(),
            )
        )
    for path, (_old, new) in changes.documents.items():
        version = new["version"] if new else None
        sha256 = new["sha256"] if new else ""
        lines.append(Line(type="document", target=path, document_version=version, new_sha256=sha256))
    return lines

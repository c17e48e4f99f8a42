"""What differs between two states of an agent, ready for a template: texts side by side, rows by kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from agents.rules.snapshots import RowChange, Snapshot, diff
from common.admin import visible
from common.diff import DiffRow, Segment, side_by_side

ROW_KINDS = {
    "added": _("added"),
    "removed": _("removed"),
    "changed": _("changed"),
    "switched": _("switched"),
    "moved": _("moved"),
}


@dataclass(frozen=True)
class SideBySideRow:
    """One line of two texts; the texts are escaped, changed words and hidden characters are marked."""

    kind: str
    old_no: int | None
    new_no: int | None
    old: SafeString
    new: SafeString
    hidden: int
    old_newline: bool
    new_newline: bool

    @property
    def end_differs(self) -> bool:
        """One of the texts ends here with a line end, the other without."""
        return self.kind == "replace" and self.old_newline != self.new_newline


@dataclass(frozen=True)
class ShownRow:
    """One change of an experience; positions count from 1."""

    kind: str
    label: Any
    old: SafeString
    new: SafeString
    old_place: int | None
    new_place: int | None
    enabled: bool | None


@dataclass(frozen=True)
class ShownValue:
    """A setting or document with its values before and after; None where it did not exist."""

    name: Any
    old: Any
    new: Any


@dataclass(frozen=True)
class Comparison:
    """What a page shows of a difference."""

    role: list[SideBySideRow]
    settings: list[ShownValue]
    rows: list[ShownRow]
    documents: list[ShownValue]

    @property
    def is_empty(self) -> bool:
        return not (self.role or self.settings or self.rows or self.documents)


@dataclass(frozen=True)
class UnifiedDiff:
    """A unified diff as (CSS class, line) pairs; empty for equal texts."""

    lines: list[tuple[str, SafeString]]

    @property
    def is_empty(self) -> bool:
        return not self.lines


def unified_lines(text: str) -> UnifiedDiff:
    """The lines of a unified diff, marked; the two lines that name the files are left out."""
    lines = text.removesuffix("\n").split("\n")[2:] if text else []
    classes = {"+": "add", "-": "del", "@": "hunk"}
    return UnifiedDiff([(classes.get(line[:1], ""), visible(line)) for line in lines])


def compare(old: Snapshot, new: Snapshot) -> Comparison:
    """The difference of two snapshots."""
    changes = diff(old, new)
    documents = [
        ShownValue(path, _version(was), _version(now)) for path, (was, now) in changes.documents.items()
    ]
    return Comparison(
        role=shown_texts(old["role"], new["role"]),
        settings=[
            ShownValue(_label(name), _value(was), _value(now))
            for name, (was, now) in changes.settings.items()
        ],
        rows=[_shown_row(change) for change in changes.rows],
        documents=documents,
    )


def shown_texts(old: str, new: str) -> list[SideBySideRow]:
    """Two texts side by side; empty when they are equal."""
    return [_shown_line(row) for row in side_by_side(old, new)]


def _shown_line(row: DiffRow) -> SideBySideRow:
    return SideBySideRow(
        kind=row.kind,
        old_no=row.old_no,
        new_no=row.new_no,
        old=_marked(row.old_segments, row.old_text),
        new=_marked(row.new_segments, row.new_text),
        hidden=row.hidden,
        old_newline=row.old_newline,
        new_newline=row.new_newline,
    )


def _marked(segments: tuple[Segment, ...], text: str) -> SafeString:
    if not segments:
        return visible(text)
    parts = (
        visible(piece) if kind == "equal" else SafeString(f"<mark>{visible(piece)}</mark>")
        for kind, piece in segments
    )
    return SafeString("".join(parts))


def _shown_row(change: RowChange) -> ShownRow:
    return ShownRow(
        kind=change.kind,
        label=ROW_KINDS[change.kind],
        old=visible(change.old),
        new=visible(change.new),
        old_place=None if change.old_position is None else change.old_position + 1,
        new_place=None if change.new_position is None else change.new_position + 1,
        enabled=change.enabled,
    )


def _label(name: str) -> Any:
    try:
        return Agent._meta.get_field(name).verbose_name
    except FieldDoesNotExist:
        return name


def _value(value: Any) -> Any:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return value


def _version(document: Mapping[str, Any] | None) -> str | None:
    return f"v{document['version']}" if document else None

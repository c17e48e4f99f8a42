"""A long waiting list, seen around one of its rows; what that costs does not depend on how many wait."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import Model, Q, QuerySet

Row = TypeVar("Row", bound=Model)

#: Rows that a queue shows in front of and behind the current one, and how far it counts what waits.
SHOWN_BEFORE, PAGE, COUNTED = 4, 25, 1000


@dataclass(frozen=True)
class Queue(Generic[Row]):
    """The part of a waiting list around `current`, in working order; None = nothing waits.

    `earlier` and `later` are where the list goes on in both directions; `total` stops at 1,001.
    """

    current: Row | None
    before: list[Row]
    after: list[Row]
    earlier: Row | None
    later: Row | None
    total: int

    @property
    def next(self) -> Row | None:
        return self.after[0] if self.after else None

    @property
    def previous(self) -> Row | None:
        return self.before[-1] if self.before else None


def around(
    waiting: QuerySet[Row], current: Row | None, *, order: Sequence[str], beside: Callable[[Any, str], Q]
) -> Queue[Row]:
    """The queue with `current` in its place (it need not be part of it), or from its start.

    `order` names ascending columns; `beside(row, "gt")` finds what stands behind a row, "lt" what stands in front
    of it. Three queries, each bounded.
    """
    total = waiting.order_by()[: COUNTED + 1].count()
    rows = waiting.order_by(*order)
    if current is None:
        waiting_now = list(rows[: PAGE + 1])
        first, after = (waiting_now[0], waiting_now[1:]) if waiting_now else (None, [])
        before: list[Row] = []
    else:
        first = current
        after = list(rows.filter(beside(current, "gt"))[:PAGE])
        backwards = [f"-{name}" for name in order]
        before = list(rows.filter(beside(current, "lt")).order_by(*backwards)[:PAGE])
    return Queue(
        current=first,
        before=before[:SHOWN_BEFORE][::-1],
        after=after[: PAGE - 1],
        earlier=before[-1] if len(before) > SHOWN_BEFORE else None,
        later=after[-1] if len(after) == PAGE else None,
        total=total,
    )

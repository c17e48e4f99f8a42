"""The ledger of one confidence as a picture: a step line over time, drawn here, so that it needs no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from evolution.knowledge.admin.words import change, number
from evolution.knowledge.models import ConfidenceEvent

#: The picture in its own units; the page scales it.
WIDTH, HEIGHT = 760, 240
LEFT, RIGHT, TOP, BOTTOM = 40, 16, 16, 32
#: Events that are drawn and listed, the latest.
MOST = 200


@dataclass(frozen=True)
class Dot:
    """One event: `x`, `y` of its middle, the way it went, and what it says."""

    x: float
    y: float
    way: str
    title: str


@dataclass(frozen=True)
class Timeline:
    """What the template draws. `grid` are (y, label), `days` are (x, anchor, label), `rows` the table, newest first."""

    path: str
    area: str
    dots: Sequence[Dot]
    threshold_y: float
    threshold: str
    grid: Sequence[tuple[float, str]]
    days: Sequence[tuple[float, str, str]]
    rows: Sequence[tuple[str, Any, str, str, str]]
    summary: str
    left_out: bool
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    label_x: int = LEFT - 8
    base: int = HEIGHT - BOTTOM
    label_y: int = HEIGHT - 10


def timeline(
    events: Sequence[ConfidenceEvent], threshold: Decimal, now: datetime, *, left_out: bool = False
) -> Timeline | None:
    """Of the events of one item in the order of the ledger; None without any."""
    if not events:
        return None
    first, last = events[0].at, max(now, events[-1].at)
    span = max((last - first).total_seconds(), 1.0)

    def x_of(moment: datetime) -> float:
        share = min(max((moment - first).total_seconds() / span, 0.0), 1.0)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    points = [(x_of(event.at), _y(event.after)) for event in events]
    path = f"M{points[0][0]} {points[0][1]}"
    path += "".join(f"H{x}V{y}" for x, y in points[1:]) + f"H{WIDTH - RIGHT}"
    value = events[-1].after
    told = {"value": number(value), "threshold": number(threshold), "count": len(events)}
    return Timeline(
        path=path,
        area=f"{path}V{HEIGHT - BOTTOM}H{points[0][0]}Z",
        dots=[Dot(x, y, _way(event), _said(event)) for (x, y), event in zip(points, events, strict=True)],
        threshold_y=_y(threshold),
        threshold=str(_("threshold %(value)s") % {"value": number(threshold)}),
        grid=[(_y(Decimal(value)), value) for value in ("0", "0.5", "1")],
        days=_days(first, last),
        rows=[_row(event) for event in reversed(events)],
        summary=str(
            _("Confidence over time: %(count)d changes, now %(value)s; the threshold is %(threshold)s.")
            % told
        ),
        left_out=left_out,
    )


def _y(value: Decimal) -> float:
    return round(TOP + float(1 - value) * (HEIGHT - TOP - BOTTOM), 1)


def _days(first: datetime, last: datetime) -> list[tuple[float, str, str]]:
    """First, middle and last day; one alone when all is on one."""
    days = {
        LEFT: ("start", first),
        (LEFT + WIDTH - RIGHT) / 2: ("middle", first + (last - first) / 2),
        WIDTH - RIGHT: ("end", last),
    }
    labels: dict[str, tuple[float, str, str]] = {}
    for x, (anchor, moment) in days.items():
        label = date_format(localtime(moment), "SHORT_DATE_FORMAT")
        labels.setdefault(label, (x, anchor, label))
    return list(labels.values())


def _way(event: ConfidenceEvent) -> str:
    if event.after == event.before:
        return "same"
    return "up" if event.after > event.before else "down"


def _said(event: ConfidenceEvent) -> str:
    when, what, delta, after, who = _row(event)
    return f"{when} · {what} {delta} → {after} · {who}"


def _row(event: ConfidenceEvent) -> tuple[str, Any, str, str, str]:
    """(when, what, change, confidence, by)."""
    return (
        date_format(localtime(event.at), "SHORT_DATETIME_FORMAT"),
        event.get_kind_display(),
        change(event.delta),
        number(event.after),
        event.actor,
    )

"""What an experience may say and where it stands. Pure. docs/rules.md: experience length, experience order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError, Fault
from common.text import clean, forbidden_character, is_blank, length

MAX_LENGTH = 300
CONTENT_INVALID = "AGENT_EXPERIENCE_CONTENT_INVALID"
ID_INVALID = "AGENT_EXPERIENCE_ID_INVALID"
#: Rows that one request may name. An agent may have more; they are then added one by one.
MAX_ROWS_AT_ONCE = 2000
_SHOWN = 40


@dataclass(frozen=True)
class RowInput:
    """One wanted row. `id` None = new; `enabled` None = true for a new row, unchanged for an old one.

    `content` None leaves the text of an old row as it is; a new row needs one. Before `check_rows` has passed,
    `id` and `content` can be any value of JSON.
    """

    content: str | None = None
    id: int | None = None
    sort_order: int | None = None
    enabled: bool | None = None


def checked_content(text: Any, pointer: str = "/content") -> str:
    """The content as it is stored: trimmed, LF line ends, 1 to 300 code points.

    Raises AGENT_EXPERIENCE_CONTENT_INVALID with limit, actual size and how much to remove.
    """
    fault = content_fault(text, pointer)
    if fault is not None:
        raise ApplicationError(CONTENT_INVALID, fault.detail, errors=[fault], extra={"limit": MAX_LENGTH})
    return clean(text)


def content_fault(text: Any, pointer: str) -> Fault | None:
    """What is wrong with a content, or None."""
    if not isinstance(text, str):
        return Fault(pointer, CONTENT_INVALID, _("The experience must be a text of 1 to 300 characters."))
    if forbidden_character(text):
        return Fault(
            pointer, CONTENT_INVALID, _("The experience contains a character that cannot be stored.")
        )
    if is_blank(text):
        return Fault(pointer, CONTENT_INVALID, _("The experience is blank; it needs 1 to 300 characters."))
    actual = length(clean(text))
    if actual > MAX_LENGTH:
        detail = _("At most %(limit)d characters; this has %(actual)d: remove %(excess)d.") % {
            "limit": MAX_LENGTH,
            "actual": actual,
            "excess": actual - MAX_LENGTH,
        }
        return Fault(pointer, CONTENT_INVALID, detail)
    return None


def check_rows(rows: Sequence[RowInput], known_ids: Collection[int], at: str = "/experiences") -> None:
    """Check a whole list before anything is written; `known_ids` are the ids of this agent's rows.

    Raises AGENT_EXPERIENCE_ID_INVALID for unknown, foreign or repeated ids, else
    AGENT_EXPERIENCE_CONTENT_INVALID; `errors` names every faulty row.
    """
    id_faults = list(_id_faults(rows, known_ids, at))
    if id_faults:
        raise ApplicationError(ID_INVALID, id_faults[0].detail, errors=id_faults)
    faults = [
        fault
        for index, row in enumerate(rows)
        if (row.id is None or row.content is not None)
        and (fault := content_fault(row.content, f"{at}/{index}/content")) is not None
    ]
    if faults:
        raise ApplicationError(CONTENT_INVALID, faults[0].detail, errors=faults, extra={"limit": MAX_LENGTH})


def _id_faults(rows: Sequence[RowInput], known_ids: Collection[int], at: str) -> Iterator[Fault]:
    seen: set[int] = set()
    for index, row in enumerate(rows):
        if row.id is None:
            continue
        # By type too: `true` and 1.0 are equal to 1.
        if type(row.id) is not int or row.id not in known_ids:
            detail = _("No experience %(id)s belongs to this agent; leave the id out to add a row.")
            yield Fault(f"{at}/{index}/id", ID_INVALID, detail % {"id": str(row.id)[:_SHOWN]})
        elif row.id in seen:
            detail = _("The id %(id)s is named twice.")
            yield Fault(f"{at}/{index}/id", ID_INVALID, detail % {"id": row.id})
        else:
            seen.add(row.id)


def in_wanted_order(rows: Sequence[RowInput]) -> list[RowInput]:
    """Rows by `sort_order` where given, else by list index; ties by list index."""
    position = {index: index if row.sort_order is None else row.sort_order for index, row in enumerate(rows)}
    return [rows[index] for index in sorted(position, key=lambda index: (position[index], index))]


def moved(ids: Sequence[int], moving: int, position: int) -> list[int]:
    """The ids with `moving` taken out and put at `position` (clamped to the ends)."""
    rest = [pk for pk in ids if pk != moving]
    at = min(max(position, 0), len(rest))
    return [*rest[:at], moving, *rest[at:]]


def renumbering(current: Mapping[int, int], wanted: Iterable[int]) -> dict[int, int]:
    """id -> new order (0..n-1) for exactly the rows whose order changes."""
    return {pk: order for order, pk in enumerate(wanted) if current.get(pk) != order}

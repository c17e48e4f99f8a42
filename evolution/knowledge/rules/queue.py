"""What a report may say and when its turn comes. Pure. docs/rules.md: learning queue."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError, Fault
from common.text import clean, forbidden_character, is_blank

#: The priority of a report that names none, by where it comes from.
DEFAULT_PRIORITIES = {
    "code_change": "P2",
    "error_fix": "P1",
    "workflow_run": "P2",
    "user_feedback": "P1",
    "conversation": "P2",
    "reference_project": "P3",
}
#: From "at once" to "when there is time".
PRIORITIES = ("P0", "P1", "P2", "P3")
MAX_SOURCE_ID = 200
#: Characters of the metadata as JSON; a difference of some size fits in.
MAX_METADATA = 400_000


@dataclass(frozen=True)
class Report:
    """One report as it was sent, checked; `priority` None: the default of its kind."""

    source_type: str
    source_id: str
    metadata: Mapping[str, Any]
    priority: str | None = None


def checked_report(fields: Mapping[str, Any]) -> Report:
    """The report that `source_type`, `source_id`, `priority` and `metadata` make.

    Errors: VALIDATION_ERROR naming every fault with limit, actual size and how much to remove.
    """
    faults: list[Fault] = []
    source_type = _word("source_type", fields.get("source_type"), DEFAULT_PRIORITIES, faults)
    raw = fields.get("priority")
    priority = None if raw is None else _word("priority", raw, PRIORITIES, faults)
    source_id = _source_id(fields.get("source_id"), faults)
    metadata = _metadata(fields.get("metadata"), faults)
    if faults:
        raise ApplicationError("VALIDATION_ERROR", faults[0].detail, errors=tuple(faults))
    return Report(source_type, source_id, metadata, priority)


def priority_of(report: Report, boosted: Collection[str]) -> str:
    """The priority as sent, else the default of the kind; one step higher when the company boosts the category."""
    place = PRIORITIES.index(report.priority or DEFAULT_PRIORITIES[report.source_type])
    category = report.metadata.get("category")
    is_boosted = isinstance(category, str) and category in boosted
    return PRIORITIES[max(place - 1, 0) if is_boosted else place]


def up_to(priority: str | None) -> tuple[str, ...]:
    """This priority and the more urgent ones; all of them without one."""
    return PRIORITIES if priority is None else PRIORITIES[: PRIORITIES.index(priority) + 1]


def _word(name: str, value: Any, known: Collection[str], faults: list[Fault]) -> str:
    if not isinstance(value, str) or value not in known:
        detail = _("Unknown value; there are: %(known)s.") % {"known": ", ".join(known)}
        faults.append(Fault(f"/{name}", "VALIDATION_ERROR", detail))
    return str(value)


def _source_id(value: Any, faults: list[Fault]) -> str:
    text = value if isinstance(value, str) else ""
    line = "" if is_blank(text) else " ".join(clean(text).split())
    if not line:
        blank = _("This must be a text of 1 to %(limit)d characters.") % {"limit": MAX_SOURCE_ID}
        faults.append(Fault("/source_id", "VALIDATION_ERROR", blank))
    elif forbidden_character(line):
        detail = _("The text contains a character that cannot be stored.")
        faults.append(Fault("/source_id", "VALIDATION_ERROR", detail))
    elif len(line) > MAX_SOURCE_ID:
        _too_long("/source_id", len(line), MAX_SOURCE_ID, faults)
    return line


def _metadata(value: Any, faults: list[Fault]) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        faults.append(Fault("/metadata", "VALIDATION_ERROR", _("This must be a JSON object.")))
        return {}
    size = len(json.dumps(value, ensure_ascii=False))
    if size > MAX_METADATA:
        _too_long("/metadata", size, MAX_METADATA, faults)
    return dict(value)


def _too_long(pointer: str, actual: int, limit: int, faults: list[Fault]) -> None:
    told = {"limit": limit, "actual": actual, "excess": actual - limit}
    detail = _("At most %(limit)d characters; this has %(actual)d: remove %(excess)d.") % told
    faults.append(Fault(pointer, "VALIDATION_ERROR", detail))

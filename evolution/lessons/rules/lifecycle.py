"""Which state follows which, what a lesson needs before it may count, and chains of successors. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError, Fault
from common.text import is_blank
from evolution.lessons.rules.kinds import Category, Status, lesson_code

MIN_CHECKS = 3

#: verb -> {state before: state after}. `reinstate` follows when the successor is gone.
TRANSITIONS: dict[str, dict[str, str]] = {
    "confirm": {Status.DRAFT: Status.ACTIVE},
    "reject": {Status.DRAFT: Status.REJECTED},
    "supersede": {Status.ACTIVE: Status.SUPERSEDED},
    "archive": {Status.ACTIVE: Status.ARCHIVED},
    "restore": {Status.ARCHIVED: Status.ACTIVE},
    "reinstate": {Status.SUPERSEDED: Status.ACTIVE},
}
#: Only in these states a lesson may be deleted.
DELETABLE = frozenset({Status.DRAFT, Status.REJECTED})

_LIST_ITEM = r"\s{0,3}(?:[-*+•](?=\s)|[0-9]{1,3}[.)、](?!\d)|[(（][0-9]{1,3}[)）]|[①-⑳])"
_LIST_ITEM_RE = re.compile(_LIST_ITEM)
#: A takeaway with two or more list items, as both databases and Python read it; `is_several` says the same.
SEVERAL = rf"(?:^|\n){_LIST_ITEM}(?:.|\n)*\n{_LIST_ITEM}"
_PARTS = ("what", "when", "how", "takeaway")


@dataclass(frozen=True)
class Completeness:
    """What is looked at before a draft may become active."""

    what: str = ""
    when: str = ""
    how: str = ""
    takeaway: str = ""
    checks: Sequence[str] = ()
    category: str = Category.PRACTICE
    has_rule: bool = False


def next_status(status: str, verb: str) -> str:
    """The state after `verb`. Raises STATE_CONFLICT when the verb does not fit. docs/rules.md: lesson states."""
    after = TRANSITIONS[verb].get(status)
    if after is None:
        message = _(
            "A lesson that is %(status)s cannot take “%(verb)s”. Reload it and look at its state."
        ) % {
            "status": status,
            "verb": verb,
        }
        raise ApplicationError("STATE_CONFLICT", message, extra={"status": str(status), "verb": verb})
    return str(after)


def completeness_faults(lesson: Completeness) -> list[Fault]:
    """Each thing that is missing, empty for a complete lesson. docs/rules.md: complete lesson."""
    faults = [
        Fault(f"/{name}", "LESSON_INCOMPLETE", _("This part is empty. Write it down."))
        for name in _PARTS
        if is_blank(getattr(lesson, name))
    ]
    if is_several(lesson.takeaway):
        detail = _("The takeaway lists several lessons. One lesson a record: split it.")
        faults.append(Fault("/takeaway", "LESSON_INCOMPLETE", detail))
    checks = sum(not is_blank(text) for text in lesson.checks)
    if checks < MIN_CHECKS:
        counted = _("The checklist needs at least %(least)d items and has %(actual)d: add %(missing)d.") % {
            "least": MIN_CHECKS,
            "actual": checks,
            "missing": MIN_CHECKS - checks,
        }
        faults.append(Fault("/checklist", "LESSON_INCOMPLETE", counted))
    if lesson.category == Category.RULE and not lesson.has_rule:
        detail = _("A RULE-EXP names the experience or the document that holds its rule.")
        faults.append(Fault("/rule_experience", "LESSON_INCOMPLETE", detail))
    return faults


def check_complete(lesson: Completeness) -> None:
    """Raises LESSON_INCOMPLETE naming each missing part. docs/rules.md: complete lesson."""
    faults = completeness_faults(lesson)
    if faults:
        names = ", ".join(dict.fromkeys(fault.pointer[1:] for fault in faults))
        message = _("The lesson is not complete: %s.") % names
        raise ApplicationError("LESSON_INCOMPLETE", message, errors=tuple(faults))


def is_several(takeaway: str) -> bool:
    """Whether the takeaway holds two or more list items."""
    return sum(_LIST_ITEM_RE.match(line) is not None for line in takeaway.split("\n")) >= 2


def check_supersedes(number: int, supersedes: int, chain: Mapping[int, int | None]) -> None:
    """Raises LESSON_SUPERSEDE_CYCLE when lesson `number` would end up replacing itself.

    `chain` is lesson -> the one it supersedes, for the company. A cycle that is already there does not hold
    this up. docs/rules.md: superseding.
    """
    path = [number, supersedes]
    seen = {supersedes}
    current: int | None = supersedes
    while current is not None and current != number:
        current = chain.get(current)
        if current is None or current in seen:
            return
        seen.add(current)
        path.append(current)
    route = " → ".join(lesson_code(step) for step in path[:20])
    message = _("The lesson would supersede itself: %s. Remove a link of this chain first.") % route
    fault = Fault("/supersedes", "LESSON_SUPERSEDE_CYCLE", message)
    raise ApplicationError("LESSON_SUPERSEDE_CYCLE", message, errors=(fault,))

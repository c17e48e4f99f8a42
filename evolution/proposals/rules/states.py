"""Which state follows which. Pure. docs/rules.md: proposal states, overall state."""

from __future__ import annotations

from collections.abc import Iterable

#: state -> states that may follow; everything else is a STATE_CONFLICT.
TRANSITIONS: dict[str, frozenset[str]] = {
    "draft": frozenset({"pending", "rejected", "blocked"}),
    "pending": frozenset({"approved", "rejected", "blocked", "expired", "skipped"}),
    "approved": frozenset({"applied", "conflict", "failed", "pending"}),
    "applied": frozenset({"rolled_back"}),
    "conflict": frozenset({"draft"}),
    "failed": frozenset({"draft"}),
    "blocked": frozenset({"draft"}),
    "rolled_back": frozenset(),
    "rejected": frozenset(),
    "skipped": frozenset(),
    "expired": frozenset(),
}

#: Item states in which a person still has to decide.
OPEN_ITEMS = frozenset({"pending"})
#: States of a proposal in which its items may be edited.
EDITABLE = frozenset({"draft", "pending", "approved"})


def may_become(old: str, new: str) -> bool:
    """Whether a proposal may go from `old` to `new`."""
    return new in TRANSITIONS[old]


def overall_state(item_states: Iterable[str]) -> str | None:
    """The state that the decided items give their proposal; None while one is open.

    Any approved -> approved; else any rejected -> rejected; else any skipped -> skipped; else blocked.
    """
    states = set(item_states)
    if states & OPEN_ITEMS:
        return None
    for state in ("approved", "rejected", "skipped"):
        if state in states:
            return state
    return "blocked"

"""Work out an item on the current text: base, new text, diff, risk, protection, conflicts, faults, flags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from agents.rules.paths import normalise_path
from agents.rules.protection import REASON_LABELS, Outcome, Verdict
from agents.services.protection import named
from common.diff import unified
from common.errors import ApplicationError, Fault
from common.text import show_hidden
from evolution.proposals.choices import ItemStatus, Risk
from evolution.proposals.models import ProposalItem
from evolution.proposals.operations import SET_PARAMETER, Operation, Place, Wanted, operation_for
from evolution.proposals.rules.conflicts import find_conflicts
from evolution.proposals.rules.digests import learning_key, text_sha256
from evolution.proposals.rules.display import added_lines
from evolution.proposals.rules.lures import lures
from evolution.proposals.rules.risk import risk_of
from evolution.proposals.services.checks import Context
from experiences.models import Experience

SHARED_BODY = "SHARED_BODY"
#: Operations that need to be told what to write; all others only name what is to happen.
WRITING = frozenset({"create", "update", "add_experience", "update_experience"})
MAX_CONFLICTS, MAX_COMPARED = 20, 100

#: A target's key -> the text that earlier items of the same proposal leave there.
Bases = dict[str, str | None]


def compute(item: ProposalItem, context: Context, bases: Bases, new_text: str | None = None) -> None:
    """Fill the item's computed fields from its type, content, target and operation; nothing is saved.

    `bases` is extended by what the item leaves. `new_text` is a whole text given by a person or a caller, None
    = place `content`. A path that is refused, a forbidden section and the shared body of another company make
    the item blocked. Errors: VALIDATION_ERROR, NOT_FOUND for what the operation needs and is not there;
    PARAMETER_OUT_OF_RANGE.
    """
    item.conflicts, item.faults, item.protection, item.flags = [], [], [], []
    item.changed_at = context.now
    operation = operation_for(item.operation, item.target)
    place = _normalised(item, operation, context)
    if place is None:
        return
    place = replace(place, beside=dict(bases))
    _set_base(item, operation, place, bases)
    _set_new_text(item, operation, place, new_text, context.code)
    if operation.chains:
        bases[item.target_key] = item.new_text
    agent_id = context.agent.pk if context.agent else None
    item.risk = risk_of(item.operation, item.target, item.new_target, agent_id=agent_id)
    item.status = ItemStatus.PENDING
    if is_foreign_body(operation, place):
        told = _("The shared body of _global cannot be changed by a proposal of another company.")
        _block(item, SHARED_BODY, told)
        return
    _judge_protection(item, operation, place, context)
    item.conflicts = conflicts_of(item, operation, place, context.cited)
    item.flags = lures([item.content, *_new_lines(item)])


def recompute(item: ProposalItem, context: Context, bases: Bases) -> None:
    """Work a stored item out again; what its operation needs and is gone becomes a fault of the item."""
    try:
        compute(item, context, bases, item.new_text if item.whole_text else None)
    except ApplicationError as error:
        item.status = ItemStatus.PENDING
        item.faults = _as_json(error.errors or [Fault("", error.code, error.message)])


def place_of(item: ProposalItem, context: Context) -> Place:
    """Where the item's operation works."""
    # Only the operation that sets parameters works without an agent, and it never looks at one.
    return Place(cast(Agent, context.agent), context.company, item.target, item.new_target)


def is_foreign_body(operation: Operation, place: Place) -> bool:
    """Whether the operation would change the body of an agent of another company than the proposal's."""
    return operation.touches_body(place) and place.agent.company_id != place.company.pk


def judge(item: ProposalItem, context: Context) -> list[Verdict]:
    """What the protection rules say to the item's change now. Errors: PROTECTED_PATHS_UNAVAILABLE."""
    operation = operation_for(item.operation, item.target)
    return context.judge(operation.protected_changes(place_of(item, context), item.base_text, item.new_text))


def block_protected(item: ProposalItem, verdicts: Iterable[Verdict]) -> None:
    """Block the item if a rule forbids its change; the reason tells what to do instead."""
    forbidden = next((verdict for verdict in verdicts if verdict.verdict is Outcome.BLOCKED), None)
    if forbidden is not None:
        item.risk = Risk.FORBIDDEN
        told = _("%(reason)s (%(rule)s) It must be changed by hand, on the document page.")
        values = {"reason": REASON_LABELS[forbidden.reason], "rule": named(forbidden)}
        _block(item, "PROTECTED_PATH", told % values)


def needs_content(item: ProposalItem, new_text: str | None) -> bool:
    """Whether the item still has to be told what to write."""
    return item.operation in WRITING and not item.content and new_text is None


def _normalised(item: ProposalItem, operation: Operation, context: Context) -> Place | None:
    """The item's place with its targets in their one spelling; None for a path that is none (then blocked)."""
    try:
        place = operation.normalised(place_of(item, context))
    except ApplicationError as error:
        if error.code != "PATH_INVALID":
            raise
        _refuse_path(item, context, error)
        return None
    item.target, item.new_target, item.target_key = place.target, place.new_target, operation.key(place)
    return place


def _set_base(item: ProposalItem, operation: Operation, place: Place, bases: Bases) -> None:
    current = operation.current(place)
    base = bases.get(item.target_key, current.text)
    item.base_version, item.base_text, item.base_sha256 = current.version, base, text_sha256(base)
    if item.operation in ("create", "update") and not operation.is_about_role:
        item.operation = "create" if base is None else "update"


def _set_new_text(
    item: ProposalItem, operation: Operation, place: Place, new_text: str | None, code: str
) -> None:
    item.whole_text = new_text is not None
    if needs_content(item, new_text):
        item.new_text, item.new_sha256, item.diff = item.base_text, item.base_sha256, ""
        item.faults = [{"code": "NEEDS_CONTENT", "detail": str(_("Say what is to be written."))}]
        item.learning_key = learning_key(item.target, item.operation, f"{code}/{item.number}")
        return
    try:
        item.new_text = operation.proposed(place, item.base_text, Wanted(item.content, new_text, item.type))
        if not operation.keeps_faulty:
            operation.check(place, item.new_text)
        faults = operation.faults(place, item.new_text) or _no_change(item)
    except ApplicationError as error:
        if not operation.keeps_faulty:
            raise
        item.new_text = new_text if new_text is not None else item.content
        faults = list(error.errors)
    item.faults = _as_json(faults)
    item.new_sha256 = text_sha256(item.new_text)
    before, after = operation.as_file(item.base_text), operation.as_file(item.new_text)
    item.diff = unified(before, after, item.target, item.new_target or item.target)
    item.learning_key = learning_key(item.target, item.operation, _taught(item))


def _taught(item: ProposalItem) -> str:
    """What two drafts of one learning point have in common besides their target."""
    if item.operation == SET_PARAMETER:
        return item.new_text or ""
    if item.operation in WRITING:
        return item.content or item.new_text or ""
    return f"{item.base_sha256} {item.new_target}"


def _no_change(item: ProposalItem) -> list[Fault]:
    if item.new_text != item.base_text or item.new_target:
        return []
    return [Fault("", "NO_CHANGE", _("This changes nothing: the text is as wanted already."))]


def _as_json(faults: Iterable[Fault]) -> list[dict[str, str]]:
    return [{"code": fault.code, "detail": str(fault.detail)} for fault in faults]


def _judge_protection(item: ProposalItem, operation: Operation, place: Place, context: Context) -> None:
    changes = operation.protected_changes(place, item.base_text, item.new_text)
    try:
        verdicts = context.judge(changes)
    except ApplicationError as error:
        if error.code != "PROTECTED_PATHS_UNAVAILABLE":
            raise
        # A draft may wait until the rules can be read again; without them nobody can approve or apply it.
        item.protection = [{"verdict": error.code, "rule": "", "reason": str(error.message)}]
        return
    item.protection = [
        {"verdict": str(verdict.verdict), "rule": named(verdict), "reason": str(verdict.reason)}
        for verdict in verdicts
        if not verdict.is_allowed
    ]
    block_protected(item, verdicts)


def _refuse_path(item: ProposalItem, context: Context, error: ApplicationError) -> None:
    context.refuse(item.target if _is_refused(item.target) else item.new_target, error)
    item.target, item.new_target = _readable(item.target), _readable(item.new_target)
    item.target_key = ""
    item.base_version, item.base_text, item.new_text = None, None, None
    item.base_sha256 = item.new_sha256 = item.diff = ""
    item.risk = Risk.FORBIDDEN
    item.learning_key = learning_key(item.target, item.operation, item.content)
    _block(item, "PATH_INVALID", error.message)


def _is_refused(path: str) -> bool:
    try:
        normalise_path(path)
    except ApplicationError:
        return True
    return False


def _readable(path: str) -> str:
    """A refused path as a reviewer can read it; it is shown, never used."""
    return show_hidden(path)[:255]


def _block(item: ProposalItem, code: str, reason: object) -> None:
    item.status = ItemStatus.BLOCKED
    item.rejection_reason = f"{code}: {reason}"


def conflicts_of(
    item: ProposalItem, operation: Operation, place: Place, cited: Mapping[str, Sequence[str]]
) -> list[dict[str, str]]:
    """What the new lines repeat in the target, or contradict there, in an enabled experience or a cited lesson."""
    if item.operation not in WRITING:
        return []
    enabled = Experience.objects.of_agent(place.agent.pk).enabled()
    rows = {f"experiences/{row.pk}": [row.content] for row in enabled}
    rows.pop(item.target, None)
    own, others = (
        (rows, {}) if operation.is_about_rows else ({item.target: operation.lines(item.base_text)}, rows)
    )
    found = dict.fromkeys(find_conflicts(_new_lines(item), own, {**others, **cited}))
    return [_conflict_entry(conflict) for conflict in list(found)[:MAX_CONFLICTS]]


def _new_lines(item: ProposalItem) -> list[str]:
    """The sentences that the change adds: the content where it is placed, else the lines that were not there."""
    if item.content and not item.whole_text:
        return [item.content]
    lines = [line for line in added_lines(item) if not line.lstrip().startswith("#")]
    return lines[:MAX_COMPARED]


def _conflict_entry(conflict: Any) -> dict[str, str]:
    return {"kind": conflict.kind, "where": conflict.where, "text": conflict.text}

"""Work out an item on the current text: base, new text, diff, risk, protection, conflicts, faults."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from agents.rules.paths import is_user_path
from agents.rules.protection import REASON_LABELS, Outcome, Verdict
from agents.services.protection import check_and_log, log_refusal, named
from common.actors import Actor
from common.companies.models import Company
from common.diff import unified
from common.errors import ApplicationError
from evolution.proposals.choices import ItemStatus, Risk
from evolution.proposals.models import ProposalItem
from evolution.proposals.operations import Operation, Place, Wanted, operation_for
from evolution.proposals.rules.conflicts import Conflict, find_conflicts
from evolution.proposals.rules.digests import learning_key, text_sha256
from evolution.proposals.rules.risk import risk_of
from experiences.models import Experience

SHARED_BODY = "SHARED_BODY"


@dataclass(frozen=True)
class Context:
    """For whom and on what an item is worked out."""

    agent: Agent
    company: Company
    actor: Actor
    code: str
    now: datetime


def compute(
    item: ProposalItem, context: Context, bases: dict[str, str | None], new_text: str | None = None
) -> None:
    """Fill the item's computed fields from its type, content, target and operation; nothing is saved.

    `bases` maps a target to the text that earlier items of the same proposal leave there; it is extended.
    `new_text` is a whole text given by a person or a caller, None = place `content`. A path that is refused,
    a forbidden section and the shared body of another company make the item blocked.
    Errors: VALIDATION_ERROR, NOT_FOUND for what the operation needs and is not there.
    """
    item.conflicts, item.faults, item.protection = [], [], []
    try:
        operation = operation_for(item.operation, item.target)
        item.target = operation.target(context.agent, item.target)
        if item.new_target:
            item.new_target = operation.target(context.agent, item.new_target)
    except ApplicationError as error:
        if error.code != "PATH_INVALID":
            raise
        _refuse_path(item, context, error)
        return
    place = Place(context.agent, context.company, item.target, item.new_target)
    current = operation.current(place)
    base = bases.get(item.target, current.text)
    item.base_version, item.base_text, item.base_sha256 = current.version, base, text_sha256(base)
    if item.operation in ("create", "update") and place.target != "system_prompt":
        item.operation = "create" if base is None else "update"
    _set_new_text(item, operation, place, new_text)
    if operation.chains:
        bases[item.target] = item.new_text
    item.risk = risk_of(item.target)
    item.status = ItemStatus.PENDING
    if _is_foreign_body(item.target, context):
        _block(
            item,
            SHARED_BODY,
            _("The shared body of _global cannot be changed by a proposal of another company."),
        )
        return
    _judge_protection(item, operation, place, context)
    item.conflicts = [_conflict_entry(conflict) for conflict in conflicts_of(item, operation, place)]


def _set_new_text(item: ProposalItem, operation: Operation, place: Place, new_text: str | None) -> None:
    if needs_content(item, new_text):
        item.new_text, item.new_sha256, item.diff = item.base_text, item.base_sha256, ""
        item.faults = [{"code": "NEEDS_CONTENT", "detail": str(_("Say what is to be written."))}]
        item.learning_key = learning_key(
            item.target, item.operation, item.proposal.code if item.proposal_id else ""
        )
        return
    try:
        item.new_text = operation.proposed(place, item.base_text, Wanted(item.content, new_text, item.type))
    except ApplicationError as error:
        item.new_text = new_text if new_text is not None else item.content
        item.faults = [{"code": fault.code, "detail": str(fault.detail)} for fault in error.errors]
    item.whole_text = new_text is not None
    item.new_sha256 = text_sha256(item.new_text)
    item.diff = unified(
        item.base_text or "", item.new_text or "", item.target, item.new_target or item.target
    )
    item.learning_key = learning_key(item.target, item.operation, item.content or item.new_text or "")
    if not item.faults:
        faults = operation.faults(place, item.new_text)
        item.faults = [{"code": fault.code, "detail": str(fault.detail)} for fault in faults]


def needs_content(item: ProposalItem, new_text: str | None) -> bool:
    """Whether the item still has to be told what to write."""
    writes = ("create", "update", "add_experience", "update_experience")
    return item.operation in writes and not item.content and new_text is None


def _is_foreign_body(target: str, context: Context) -> bool:
    """Whether the target is part of a body that belongs to another company than the proposal."""
    own = context.agent.company_id == context.company.pk
    return not own and not is_user_path(target) and not target.startswith("parameters/")


def judge(item: ProposalItem, context: Context) -> list[Verdict]:
    """What the protection rules say to the item's change now; logged. Errors: PROTECTED_PATHS_UNAVAILABLE."""
    operation = operation_for(item.operation, item.target)
    place = Place(context.agent, context.company, item.target, item.new_target)
    changes = operation.protected_changes(place, item.base_text, item.new_text)
    if not changes:
        return []
    return check_and_log(
        agent=context.agent,
        company=context.company,
        changes=changes,
        actor=context.actor,
        request=context.code,
        now=context.now,
    )


def _judge_protection(item: ProposalItem, operation: Operation, place: Place, context: Context) -> None:
    try:
        verdicts = judge(item, context)
    except ApplicationError as error:
        if error.code != "PROTECTED_PATHS_UNAVAILABLE":
            raise
        item.protection = [{"verdict": error.code, "rule": "", "reason": str(error.message)}]
        return
    item.protection = [
        {"verdict": str(verdict.verdict), "rule": named(verdict), "reason": str(verdict.reason)}
        for verdict in verdicts
        if not verdict.is_allowed
    ]
    blocked = [verdict for verdict in verdicts if verdict.verdict is Outcome.BLOCKED]
    if blocked:
        item.risk = Risk.FORBIDDEN
        reason = _("%(reason)s (%(rule)s) It must be changed by hand, on the document page.")
        values = {"reason": REASON_LABELS[blocked[0].reason], "rule": named(blocked[0])}
        _block(item, "PROTECTED_PATH", reason % values)


def _refuse_path(item: ProposalItem, context: Context, error: ApplicationError) -> None:
    log_refusal(
        agent=context.agent,
        company=context.company,
        path=item.target,
        reason=str(error.message),
        actor=context.actor,
        request=context.code,
        now=context.now,
    )
    item.target = item.target[:255].replace("\x00", "")
    item.risk = Risk.FORBIDDEN
    item.learning_key = learning_key(item.target, item.operation, item.content)
    _block(item, "PATH_INVALID", error.message)


def _block(item: ProposalItem, code: str, reason: object) -> None:
    item.status = ItemStatus.BLOCKED
    item.rejection_reason = f"{code}: {reason}"


def conflicts_of(item: ProposalItem, operation: Operation, place: Place) -> list[Conflict]:
    """Duplicates and contradictions among the lines of the target and the agent's enabled experiences."""
    if item.operation in ("delete", "rename", "delete_experience", "disable_experience"):
        return []
    existing: dict[str, Iterable[str]] = dict(operation.lines(place, item.base_text))
    for row in Experience.objects.of_agent(place.agent.pk).enabled():
        where = f"experiences/{row.pk}"
        if where != item.target:
            existing[where] = [row.content]
    found = []
    for line in _new_lines(item):
        found += find_conflicts(line, existing)
    return list(dict.fromkeys(found))[:20]


def _new_lines(item: ProposalItem) -> list[str]:
    """The sentences that the change adds: the content, or the lines of a whole text that were not there."""
    if item.content:
        return [item.content]
    old = set((item.base_text or "").splitlines())
    lines = [line for line in (item.new_text or "").splitlines() if line.strip() and line not in old]
    return [line for line in lines if not line.lstrip().startswith("#")][:100]


def _conflict_entry(conflict: Conflict) -> dict[str, str]:
    return {"kind": conflict.kind, "where": conflict.where, "text": conflict.text}

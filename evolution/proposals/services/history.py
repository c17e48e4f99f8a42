"""No change is drafted without looking at history: what old lessons say of a proposal, and what it teaches.

docs/rules.md: lessons beside a change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from agents.rules.paths import path_key
from common.actors import Actor
from common.errors import ApplicationError, Fault, invalid
from common.redaction import redact
from common.text import is_blank, length
from evolution.lessons.choices import Purpose, Source
from evolution.lessons.models import Lesson
from evolution.lessons.rules.kinds import Category, Severity
from evolution.lessons.rules.recall_request import MAX_QUERY_FILES, MAX_TASK, RecallRequest
from evolution.lessons.services.citations import cite_lessons
from evolution.lessons.services.recalling import recall_and_log
from evolution.lessons.services.storing import create_lesson
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.operations.role import ROLE_TARGET
from evolution.proposals.rules.states import EDITABLE
from evolution.proposals.selectors import open_strong_lessons
from evolution.proposals.services.citing import cited_codes, hold_citations, known_codes
from evolution.proposals.services.locking import locked, touch, wrong_state

MAX_REASON = 300
PRINCIPLES = path_key("principles.md")


def look_back(proposal: Proposal, items: Sequence[ProposalItem], *, actor: Actor, now: datetime) -> None:
    """Recall what history says of the targets and the words of a new proposal; hold what it cites."""
    words = [proposal.title, *(item.content for item in items if item.content)]
    request = RecallRequest(
        task="\n".join(words)[:MAX_TASK],
        tags=proposal.agent.tags if proposal.agent else (),
        files=[item.target for item in items if item.target != ROLE_TARGET][:MAX_QUERY_FILES],
        agent_id=proposal.agent_id,
        purpose=Purpose.AGENT_UPDATE,
        reference=proposal.code,
    )
    recall_and_log(company=proposal.company, request=request, actor=actor, now=now, agent=proposal.agent)
    hold_citations(proposal)


@transaction.atomic
def answer_lessons(
    *,
    proposal_id: int,
    actor: Actor,
    now: datetime,
    cited: Sequence[str] | None = None,
    dismissed: Sequence[Mapping[str, Any]] | None = None,
    expected: Collection[int] | None = None,
) -> Proposal:
    """Say which lessons a proposal heeds (`cited`) and which do not apply, with the reason of each (`dismissed`,
    `[{"lesson", "reason"}]`); None leaves a list as it is. A lesson is in one of the lists.

    The texts that would be written stay the same, so what was approved stays approved.
    Errors: STATE_CONFLICT for a decided proposal, VALIDATION_ERROR, VERSION_MISMATCH.
    """
    proposal = locked(proposal_id, expected)
    if proposal.status not in EDITABLE:
        raise wrong_state(proposal, _("edited"))
    fields: dict[str, Any] = {}
    if dismissed is not None:
        fields["dismissed_lessons"] = _dismissed(proposal, dismissed, actor)
    if cited is not None:
        fields["cited_lessons"] = cited_codes(proposal.company, cited)
    both = set(fields.get("cited_lessons", proposal.cited_lessons)) & {
        entry["lesson"] for entry in fields.get("dismissed_lessons", proposal.dismissed_lessons)
    }
    if both:
        detail = _("%(codes)s: a lesson is either cited or dismissed.") % {"codes": ", ".join(sorted(both))}
        raise ApplicationError(
            "VALIDATION_ERROR", detail, errors=(Fault("/dismissed_lessons", "VALIDATION_ERROR", detail),)
        )
    if any(fields[name] != getattr(proposal, name) for name in fields):
        touch(proposal, now=now, **fields)
        # Also when nothing is cited any more.
        cite_lessons(company=proposal.company, reference=proposal.code, codes=list(proposal.cited_lessons))
    return proposal


def answer_lesson(
    *,
    proposal_id: int,
    code: str,
    answer: str,
    reason: str,
    actor: Actor,
    now: datetime,
    expected: Collection[int] | None = None,
) -> Proposal:
    """`answer_lessons` for one lesson: "cite", "dismiss" (with a reason), or "" to take the answer back.

    Errors: as there; VALIDATION_ERROR for another answer.
    """
    if answer not in ("", "cite", "dismiss"):
        raise invalid("/answer", _("Choose: cite or dismiss."))
    with transaction.atomic():
        proposal = locked(proposal_id, expected)
        cited = [one for one in proposal.cited_lessons if one != code]
        dismissed = [one for one in proposal.dismissed_lessons if one["lesson"] != code]
        if answer == "cite":
            cited.append(code)
        if answer == "dismiss":
            dismissed.append({"lesson": code, "reason": reason})
        return answer_lessons(proposal_id=proposal_id, actor=actor, now=now, cited=cited, dismissed=dismissed)


def learn_from_applied(
    proposal: Proposal, items: Iterable[ProposalItem], *, actor: Actor, now: datetime
) -> dict[str, Any]:
    """What the receipt of an applied proposal says of lessons: cited, dismissed, passed over, and the draft that
    it gave or why it gave none.
    """
    created, reason = "", "no_trigger"
    if any(item.target_key == PRINCIPLES for item in items):
        try:
            with transaction.atomic():
                created, reason = _rule_draft(proposal, actor, now).code, ""
        except ApplicationError as error:
            # The change itself was approved; that its story cannot be started is told, and stops nothing.
            reason = error.code
    return {
        "cited": list(proposal.cited_lessons),
        "dismissed": [entry["lesson"] for entry in proposal.dismissed_lessons],
        "strong_and_unanswered": open_strong_lessons(proposal),
        "created": created,
        "not_created_because": reason,
    }


def _rule_draft(proposal: Proposal, actor: Actor, now: datetime) -> Lesson:
    """A change of `principles.md` gives one draft: a rule has a story. docs/rules.md: rule files."""
    values = {
        "title": f"principles.md: {proposal.title}"[:200],
        "severity": Severity.MEDIUM.value,
        "category": Category.RULE.value,
        "trigger": proposal.code,
        "related_files": ["principles.md"],
        "references": [proposal.code],
        "related": list(proposal.cited_lessons),
    }
    agent = proposal.agent
    if agent is not None and agent.company_id != proposal.company_id:
        agent = None
    return create_lesson(
        company=proposal.company,
        values=values,
        actor=actor,
        now=now,
        agent=agent,
        source=Source.RULE_FILE,
    )


def _dismissed(
    proposal: Proposal, entries: Sequence[Mapping[str, Any]], actor: Actor
) -> list[dict[str, str]]:
    """The entries as stored, with who says so; what was said before stays who said it."""
    at, company = "/dismissed_lessons", proposal.company
    before = {(entry["lesson"], entry["reason"]): entry for entry in proposal.dismissed_lessons}
    codes = known_codes(
        company, [(f"{at}/{index}/lesson", entry["lesson"]) for index, entry in enumerate(entries)]
    )
    faults = []
    for index, entry in enumerate(entries):
        reason = entry.get("reason") or ""
        if is_blank(reason):
            detail = _("Say why this lesson does not apply here.")
            faults.append(Fault(f"{at}/{index}/reason", "VALIDATION_ERROR", detail))
        elif length(reason) > MAX_REASON:
            told = _("At most %(limit)d characters; this has %(actual)d: remove %(excess)d.")
            excess = length(reason) - MAX_REASON
            values = {"limit": MAX_REASON, "actual": length(reason), "excess": excess}
            faults.append(Fault(f"{at}/{index}/reason", "VALIDATION_ERROR", told % values))
    if len(codes) != len(entries):
        faults.append(Fault(at, "VALIDATION_ERROR", _("Name each lesson once.")))
    if faults:
        raise ApplicationError("VALIDATION_ERROR", faults[0].detail, errors=faults)
    reasons = [entry["reason"] if actor.is_person else redact(entry["reason"]).text for entry in entries]
    return [
        before.get((code, reason)) or {"lesson": code, "reason": reason, "by": actor.name[:200]}
        for code, reason in zip(codes, reasons, strict=True)
    ]

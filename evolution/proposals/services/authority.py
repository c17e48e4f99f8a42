"""Who may decide about an item: by risk, by protection, and through a key for an end user."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from agents.rules.paths import is_user_path, user_of
from agents.rules.protection import Outcome, Verdict
from agents.services.protection import named
from common.actors import Actor
from common.companies.choices import Scope
from common.companies.models import ApiKey
from common.companies.selectors import may_write
from common.errors import ApplicationError, invalid
from common.redaction import redact
from common.text import clean, is_blank, name_key
from evolution.proposals.choices import Risk
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.rules.risk import highest


@dataclass(frozen=True)
class Decision:
    """Who decides what. `items` are item numbers, None = all that are open; `shown_hash` is the digest of what the
    person saw; `confirmation` is the typed name of the agent; `decided_by` the end user for whom a key relays."""

    actor: Actor
    now: datetime
    items: Collection[int] | None = None
    reason: str = ""
    confirmation: str = ""
    decided_by: str = ""
    shown_hash: str | None = None
    expected: Collection[int] | None = None


def own_words(actor: Actor, text: str) -> str:
    """A reason as it is kept: what comes through a key is redacted."""
    return clean(text) if actor.is_person else redact(clean(text)).text


def check_relay(
    proposal: Proposal, decision: Decision, chosen: Iterable[ProposalItem], owned: Collection[int]
) -> None:
    """A key may relay a named end user's decision about the user's own files: at low risk, or as their owner.

    `owned` are the numbers of items about which the rules ask the owner. Errors: VALIDATION_ERROR without a
    user, PERMISSION_DENIED.
    """
    if decision.actor.is_person:
        return
    if is_blank(decision.decided_by):
        raise invalid("/decided_by", _("Name the end user whose decision this is."))
    chosen = list(chosen)
    if not chosen:
        raise ApplicationError("STATE_CONFLICT", _("No item of this proposal is open."))
    if not all(_is_file_of(item, decision.decided_by) for item in chosen):
        raise ApplicationError("PERMISSION_DENIED", _("A user decides only about their own files."))
    is_low = highest([proposal.risk, *(item.risk for item in chosen)]) == Risk.LOW
    if not is_low and not all(item.number in owned for item in chosen):
        raise ApplicationError(
            "PERMISSION_DENIED", _("Only low-risk proposals can be decided through a key; this needs staff.")
        )


def _is_file_of(item: ProposalItem, user_id: str) -> bool:
    """Whether every path that the item changes lies among the user's files."""
    return all(user_of(path) == user_id for path in (item.target, item.new_target) if path)


def asks_owner(verdicts: Iterable[Verdict]) -> bool:
    """Whether a rule leaves the approval to the owner."""
    return any(verdict.verdict is Outcome.NEEDS_OWNER for verdict in verdicts)


def check_risk(proposal: Proposal, decision: Decision, chosen: Iterable[ProposalItem]) -> None:
    """A high-risk change needs a reason, the agent's typed name, and somebody who did not write it.

    Errors: VALIDATION_ERROR, PERMISSION_DENIED.
    """
    high = [item for item in chosen if item.risk == Risk.HIGH]
    if not high:
        return
    if is_blank(decision.reason):
        raise invalid("/reason", _("A high-risk change needs a reason."))
    check_confirmation(proposal, decision)
    authors = {proposal.created_by_user_id, proposal.last_edited_by_user_id}
    authors |= {item.edited_by_user_id for item in high}
    if decision.actor.user_id in authors - {None} and not settings.PROPOSALS_ALLOW_SELF_APPROVAL:
        raise ApplicationError(
            "PERMISSION_DENIED",
            _("You proposed or edited this high-risk change; somebody else must approve it."),
        )


def check_confirmation(proposal: Proposal, decision: Decision) -> None:
    """The typed confirmation is the agent's name (the company's, where there is no agent). Errors: VALIDATION_ERROR."""
    if name_key(decision.confirmation) != name_key(proposal.subject):
        told = _("Type the agent's name, “%(name)s”, to confirm.")
        if proposal.agent is None:
            told = _("Type the company's name, “%(name)s”, to confirm.")
        raise invalid("/confirmation", told % {"name": proposal.subject})


def check_owner(
    proposal: Proposal, item: ProposalItem, verdicts: Iterable[Verdict], decision: Decision
) -> None:
    """Who may approve a protected change: the owner, or the user whose files they are; some need typing a name.

    Errors: PERMISSION_DENIED, VALIDATION_ERROR.
    """
    for verdict in verdicts:
        if verdict.verdict is Outcome.NEEDS_CONFIRMATION:
            check_confirmation(proposal, decision)
        if verdict.verdict is not Outcome.NEEDS_OWNER:
            continue
        if is_user_path(item.target):
            approved = not decision.actor.is_person and _is_file_of(item, decision.decided_by)
        else:
            approved = decision.actor.is_person and decision.actor.user_id == proposal.owner_id
        if not approved:
            raise ApplicationError(
                "PERMISSION_DENIED",
                _("Only the owner may approve a change of %(rule)s.") % {"rule": named(verdict)},
            )


def is_still_approved(proposal: Proposal, item: ProposalItem, now: datetime) -> bool:
    """Whether the one who approved the item could do so now: rights and memberships end, keys are revoked."""
    person = item.decided_by_user
    if item.decided_by_key_id is not None:
        key = ApiKey.objects.live(now).filter(pk=item.decided_by_key_id, company=proposal.company).first()
        bound_elsewhere = key is not None and key.agent_id not in (None, proposal.agent_id)
        return key is not None and Scope.PROPOSALS_DECIDE in key.scopes and not bound_elsewhere
    return (
        person is not None
        and person.is_active
        and person.is_staff
        and person.has_perm("proposals.approve_proposal")
        and may_write(person, proposal.company)
    )


def is_approved_by_owner(proposal: Proposal, item: ProposalItem) -> bool:
    """Whether the owner of what the item changes is the one who approved it."""
    if is_user_path(item.target):
        return item.decided_by_key_id is not None and _is_file_of(item, item.decided_for)
    return item.decided_by_user_id is not None and item.decided_by_user_id == proposal.owner_id

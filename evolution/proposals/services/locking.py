"""Lock a proposal, compare versions, move between states by compare-and-set."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Any

from django.db.models import F
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from agents.services.editing import Edit, edit_agent
from common.actors import Actor
from common.errors import ApplicationError
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.rules.digests import items_hash
from evolution.proposals.rules.states import may_become
from evolution.proposals.services.checks import Context
from evolution.proposals.services.citing import cited_lines, hold_citations


def locked(proposal_id: int, expected: Collection[int] | None = None) -> Proposal:
    """The proposal, locked until the transaction ends. Errors: VERSION_MISMATCH."""
    proposal = (
        Proposal.objects.select_for_update(of=("self",))
        .select_related("company", "agent", "agent__company", "agent__owner")
        .get(pk=proposal_id)
    )
    if expected is not None and proposal.version not in expected:
        raise ApplicationError(
            "VERSION_MISMATCH",
            _("The proposal changed in the meantime; read version %(version)d and decide again.")
            % {"version": proposal.version},
            extra={"current_version": proposal.version},
        )
    return proposal


def agent_of(proposal: Proposal, edit: Edit) -> AbstractContextManager[Agent | None]:
    """The proposal's agent, locked to be changed; None where it is about the company's parameters alone."""
    return nullcontext() if proposal.agent_id is None else edit_agent(proposal.agent_id, edit)


def context_of(proposal: Proposal, actor: Actor, now: datetime, checks: list) -> Context:
    """The context of working on a locked proposal; its protection checks go into `checks`."""
    cited = cited_lines(proposal.company, proposal.cited_lessons)
    return Context(proposal.agent, proposal.company, actor, proposal.code, now, checks, cited)


def wrong_state(proposal: Proposal, verb: Any) -> ApplicationError:
    """STATE_CONFLICT: the proposal is in a state in which this cannot be done."""
    return ApplicationError(
        "STATE_CONFLICT",
        _("%(code)s is %(status)s; it cannot be %(verb)s now.")
        % {"code": proposal.code, "status": proposal.get_status_display(), "verb": verb},
        extra={"proposal_status": proposal.status},
    )


def move(proposal: Proposal, status: str, verb: Any, *, now: datetime, **fields: Any) -> None:
    """Change the state by compare-and-set, with other fields, and raise the version. Errors: STATE_CONFLICT."""
    if not may_become(proposal.status, status):
        raise wrong_state(proposal, verb)
    rows = Proposal.objects.filter(pk=proposal.pk, status=proposal.status)
    changed = rows.update(status=status, version=F("version") + 1, updated_at=now, **fields)
    if not changed:
        raise wrong_state(proposal, verb)
    proposal.refresh_from_db()
    hold_citations(proposal)


def touch(proposal: Proposal, *, now: datetime, **fields: Any) -> None:
    """Change fields without changing the state, and raise the version."""
    Proposal.objects.filter(pk=proposal.pk).update(version=F("version") + 1, updated_at=now, **fields)
    proposal.refresh_from_db()


def hash_of(items: Iterable[ProposalItem]) -> str:
    """The digest of what the items would write; what a person approves is bound to it."""
    fields = ("number", "target", "operation", "base_sha256", "new_text", "new_target")
    return items_hash({name: getattr(item, name) for name in fields} for item in items)

"""Staff may change protected parts of a document by hand: named to them first, and confirmed by typing.

docs/rules.md: protected parts by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from agents.choices import ProtectionLevel
from agents.models import Agent
from agents.rules.paths import is_user_path, path_matches
from agents.rules.protection import REASON_LABELS, Change, Level, Verdict, check_change
from agents.services.protection import named, rules_for
from common.companies.models import Company
from common.errors import ApplicationError
from common.text import clean


@dataclass(frozen=True)
class Guard:
    """What a change by hand touches; nothing when `touched` is empty."""

    agent: Agent
    company: Company
    change: Change
    touched: tuple[Verdict, ...]

    @property
    def lines(self) -> list[str]:
        """Each protected part with what happens to it."""
        return [f"{named(verdict)}: {REASON_LABELS[verdict.reason]}" for verdict in self.touched]

    @property
    def needs_owner(self) -> bool:
        """Whatever the outcome: what only the owner may change stays with the owner."""
        return any(verdict.level is Level.OWNER_ONLY for verdict in self.touched)


def guard_of(agent: Agent, company: Company, change: Change) -> Guard:
    """Ask all rules of the company. Errors: PROTECTED_PATHS_UNAVAILABLE, PATH_INVALID."""
    verdicts = check_change(change, rules_for(company))
    return Guard(agent, company, change, tuple(verdict for verdict in verdicts if not verdict.is_allowed))


def may_pass(guard: Guard, user: Any) -> bool:
    """Whether this person may confirm at all.

    The owner of an agent has no say in a user's own documents (`users/**`): that user is no staff, so only
    whoever may change the rules can.
    """
    if not guard.needs_owner or user.has_perm("agents.change_protectedpath"):
        return True
    return guard.agent.owner_id == user.pk and not is_user_path(guard.change.path)


def confirm_by_hand(guard: Guard, user: Any, typed: str) -> None:
    """PROTECTED_PATH unless nothing protected is touched, or this person may and typed the agent's name."""
    if not guard.touched:
        return
    if not may_pass(guard, user):
        raise ApplicationError(
            "PROTECTED_PATH",
            _(
                "Only the agent's owner, or somebody who may change the protected paths, can change this part."
            ),
            extra={"protected": guard.lines},
        )
    if clean(typed) != guard.agent.name:
        raise ApplicationError(
            "PROTECTED_PATH",
            _("This changes a protected part. Type the agent's name, %(name)s, to confirm.")
            % {"name": guard.agent.name},
            extra={"protected": guard.lines, "can_confirm": True},
        )


def rules_on(path: str, company: Company) -> Sequence[str]:
    """The rules that name a path, as people read them."""
    labels = dict(ProtectionLevel.choices)
    return [
        f"{rule.pattern} § {rule.section} ({labels[rule.level]})"
        if rule.section
        else f"{rule.pattern} ({labels[rule.level]})"
        for rule in rules_for(company)
        if path_matches(rule.pattern, path)
    ]

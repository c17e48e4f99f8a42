"""Check a change of a document against the protected paths, and log every verdict.

The log must outlive a refused request, so callers raise only after their transaction has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agents.models import Agent, ProtectedAccess, ProtectedPath
from agents.rules.protection import REASON_LABELS, Change, Level, Outcome, Rule, Verdict, check_change
from common.actors import Actor
from common.companies.models import Company
from common.errors import ApplicationError
from common.text import show_hidden


def rules_for(company: Company) -> list[Rule]:
    """The enabled rules that hold for a company, its own and those for all."""
    rows = ProtectedPath.objects.filter(Q(company=company) | Q(company=None), enabled=True)
    return [
        Rule(
            id=row.pk,
            pattern=row.pattern,
            section=row.section,
            aliases=tuple(row.section_aliases),
            level=cast(Level, row.level),  # the check itself refuses an unknown one
        )
        for row in rows
    ]


def check_and_log(
    *,
    agent: Agent,
    company: Company,
    changes: Sequence[Change],
    actor: Actor,
    request: str,
    now: datetime,
    by_hand: bool = False,
) -> list[Verdict]:
    """Verdicts of all rules for all changes, each logged as a ProtectedAccess.

    What staff change `by_hand` is logged as allowed, with the reason that a rule would have had.
    Errors: PROTECTED_PATHS_UNAVAILABLE when no rule is enabled (nothing is then known to be safe).
    """
    verdicts, entries = check(
        agent=agent,
        company=company,
        changes=changes,
        actor=actor,
        request=request,
        now=now,
        by_hand=by_hand,
    )
    ProtectedAccess.objects.bulk_create(entries)
    return verdicts


def check(
    *,
    agent: Agent | None,
    company: Company,
    changes: Sequence[Change],
    actor: Actor,
    request: str,
    now: datetime,
    by_hand: bool = False,
) -> tuple[list[Verdict], list[ProtectedAccess]]:
    """The same without writing: verdicts and unsaved log entries, for callers that log when they have ended.

    `agent` None: a change of the company's parameters.
    """
    rules = rules_for(company)
    verdicts = [(change, verdict) for change in changes for verdict in check_change(change, rules)]
    entries = [
        ProtectedAccess(
            company=company,
            agent=agent,
            agent_name=agent.name if agent else "",
            request=request[:100],
            actor_name=actor.name[:200],
            path=change.path[:500],
            rule=named(verdict)[:400],
            level=str(verdict.level or ""),
            **_outcome(verdict, by_hand),
            at=now,
        )
        for change, verdict in verdicts
    ]
    return [verdict for _change, verdict in verdicts], entries


def _outcome(verdict: Verdict, by_hand: bool) -> dict[str, str]:
    reason = str(REASON_LABELS[verdict.reason])
    if by_hand and not verdict.is_allowed:
        told = str(_("Changed by hand. %(reason)s") % {"reason": reason})
        return {"verdict": Outcome.ALLOWED.value, "reason": told[:500]}
    return {"verdict": verdict.verdict.value, "reason": reason[:500]}


def log_refusal(
    *, agent: Agent, company: Company, path: str, reason: str, actor: Actor, request: str, now: datetime
) -> None:
    """Log a path that was refused before any rule could be asked, as a reviewer can read it."""
    refusal_entry(
        agent=agent, company=company, path=path, reason=reason, actor=actor, request=request, now=now
    ).save()


def refusal_entry(
    *,
    agent: Agent | None,
    company: Company,
    path: str,
    reason: str,
    actor: Actor,
    request: str,
    now: datetime,
) -> ProtectedAccess:
    """The same, unsaved."""
    return ProtectedAccess(
        company=company,
        agent=agent,
        agent_name=agent.name if agent else "",
        request=request[:100],
        actor_name=actor.name[:200],
        path=show_hidden(path)[:500],
        verdict=Outcome.BLOCKED.value,
        reason=reason[:500],
        at=now,
    )


def protected_path_error(verdicts: Sequence[Verdict]) -> ApplicationError:
    """The refusal that names what is protected and what the caller can do."""
    touched = [verdict for verdict in verdicts if not verdict.is_allowed]
    names = ", ".join(dict.fromkeys(named(verdict) for verdict in touched))
    reason = REASON_LABELS[touched[0].reason]
    return ApplicationError(
        "PROTECTED_PATH",
        _("%(reason)s Protected: %(names)s. Staff must change it by hand.")
        % {"reason": reason, "names": names},
    )


def named(verdict: Verdict) -> str:
    """The rule of a verdict as people read it: pattern and section; empty when no rule names the path."""
    rule = verdict.rule
    if rule is None:
        return ""
    return f"{rule.pattern} § {rule.section}" if rule.section else rule.pattern

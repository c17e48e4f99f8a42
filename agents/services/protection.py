"""Check a change of a document against the protected paths, and log every verdict.

The log must outlive a refused request, so callers raise only after their transaction has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agents.models import Agent, ProtectedAccess, ProtectedPath
from agents.rules.protection import REASON_LABELS, Change, Level, Rule, Verdict, check_change
from common.actors import Actor
from common.companies.models import Company
from common.errors import ApplicationError


def rules_for(company: Company) -> list[Rule]:
    """The enabled rules that hold for a company, its own and those for all."""
    rows = ProtectedPath.objects.filter(Q(company=company) | Q(company=None), enabled=True)
    return [
        Rule(
            id=row.pk,
            pattern=row.pattern,
            section=row.section,
            aliases=tuple(row.section_aliases),
            level=Level(row.level),
        )
        for row in rows
    ]


def check_and_log(
    *, agent: Agent, company: Company, changes: Sequence[Change], actor: Actor, request: str, now: datetime
) -> list[Verdict]:
    """Verdicts of all rules for all changes, each logged as a ProtectedAccess.

    Errors: PROTECTED_PATHS_UNAVAILABLE when no rule is enabled (nothing is then known to be safe).
    """
    rules = rules_for(company)
    verdicts = [(change, verdict) for change in changes for verdict in check_change(change, rules)]
    ProtectedAccess.objects.bulk_create(
        _access(agent, company, actor, request, now, change.path, verdict) for change, verdict in verdicts
    )
    return [verdict for _change, verdict in verdicts]


def log_refusal(
    *, agent: Agent, company: Company, path: str, reason: str, actor: Actor, request: str, now: datetime
) -> None:
    """Log a path that was refused before any rule could be asked."""
    ProtectedAccess.objects.create(
        company=company,
        agent=agent,
        agent_name=agent.name,
        request=request[:100],
        actor_name=actor.name[:200],
        path=path[:500],
        verdict="blocked",
        reason=reason[:500],
        at=now,
    )


def _access(
    agent: Agent,
    company: Company,
    actor: Actor,
    request: str,
    now: datetime,
    path: str,
    verdict: Verdict,
) -> ProtectedAccess:
    return ProtectedAccess(
        company=company,
        agent=agent,
        agent_name=agent.name,
        request=request[:100],
        actor_name=actor.name[:200],
        path=path[:500],
        rule=named(verdict)[:400],
        level=str(verdict.level or ""),
        verdict=str(verdict.verdict),
        reason=str(REASON_LABELS[verdict.reason])[:500],
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

"""Whether the protected core of each agent still is what staff last saved. docs/rules.md: personality stability."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import OuterRef, Subquery

from agents.choices import Source
from agents.models import Document, DocumentVersion
from agents.rules.paths import path_matches
from agents.rules.protection import Change, Level, Rule, check_change, protects_something
from agents.selectors import current_documents
from agents.services.protection import rules_for
from common.companies.models import Company
from common.errors import ApplicationError

#: Versions that a person saved by hand.
_BY_STAFF = (Source.ADMIN, Source.IMPORT, Source.RESTORE)


def personality_stability(company: Company, agent_id: int | None = None) -> tuple[int, int]:
    """(agents whose block sections equal the last text saved by staff, agents that have such sections)."""
    states = stable_agents(company, agent_id)
    return sum(states.values()), len(states)


def stable_agents(company: Company, agent_id: int | None = None) -> dict[int, bool]:
    """Agent id -> whether its block sections equal the last text saved by staff; only agents that have some.

    An agent whose section is gone has one: it is not what staff saved. A section that no person ever saved has
    nothing to be compared with.
    """
    rules = [rule for rule in rules_for(company) if rule.level == Level.BLOCK]
    documents = Document.objects.live().filter(agent__company=company, is_body=True)
    if agent_id is not None:
        documents = documents.filter(agent_id=agent_id)
    named = [pk for pk, path in documents.values_list("pk", "path") if _rules_of(path, rules)]
    by_hand = DocumentVersion.objects.filter(document=OuterRef("pk"), source__in=_BY_STAFF).order_by(
        "-number"
    )
    rows = current_documents(Document.objects.filter(pk__in=named))
    rows = rows.annotate(saved=Subquery(by_hand.values("text")[:1]))
    states: dict[int, bool] = {}
    for agent, path, now, saved in rows.values_list("agent_id", "path", "text", "saved"):
        for rule in _rules_of(path, rules):
            if any(text is not None and protects_something(rule, path, text) for text in (now, saved)):
                states[agent] = states.get(agent, True) and _is_same(rule, path, saved, now)
    return states


def _rules_of(path: str, rules: Sequence[Rule]) -> list[Rule]:
    """The rules that name the path. One that cannot be read names nothing here; changes are refused anyway."""
    found = []
    for rule in rules:
        try:
            if path_matches(rule.pattern, path):
                found.append(rule)
        except ApplicationError:
            continue
    return found


def _is_same(rule: Rule, path: str, saved: str | None, now: str) -> bool:
    if saved is None:
        return True
    try:
        return all(verdict.is_allowed for verdict in check_change(Change(path, saved, now), [rule]))
    except ApplicationError:
        return False

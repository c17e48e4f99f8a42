"""Whether the protected core of each agent still is what staff last saved. docs/rules.md: personality stability."""

from __future__ import annotations

from agents.choices import Source
from agents.models import Document, DocumentVersion
from agents.rules.paths import path_matches
from agents.rules.protection import Change, Level, Rule, check_change
from agents.services.protection import rules_for
from common.companies.models import Company
from common.errors import ApplicationError

#: Versions that a person saved by hand.
_BY_STAFF = (Source.ADMIN, Source.IMPORT)


def personality_stability(company: Company, agent_id: int | None = None) -> tuple[int, int]:
    """(agents whose block sections equal the last text saved by staff, agents that have such sections)."""
    states = stable_agents(company, agent_id)
    return sum(states.values()), len(states)


def stable_agents(company: Company, agent_id: int | None = None) -> dict[int, bool]:
    """Agent id -> whether its block sections equal the last text saved by staff; only agents that have some."""
    rules = [rule for rule in rules_for(company) if rule.level == Level.BLOCK]
    documents = Document.objects.live().filter(agent__company=company, is_body=True)
    if agent_id is not None:
        documents = documents.filter(agent_id=agent_id)
    states: dict[int, bool] = {}
    for document in documents.order_by("agent_id", "pk"):
        named = [rule for rule in rules if path_matches(rule.pattern, document.path)]
        if named:
            states[document.agent_id] = states.get(document.agent_id, True) and _is_stable(document, named)
    return states


def _is_stable(document: Document, rules: list[Rule]) -> bool:
    """Compare the current text's protected parts with those of the last version saved by staff."""
    versions = DocumentVersion.objects.filter(document=document)
    current = versions.get(number=document.current_version)
    by_hand = versions.filter(source__in=_BY_STAFF).order_by("-number").first()
    if by_hand is None or by_hand.number == current.number:
        return True
    try:
        verdicts = check_change(Change(document.path, by_hand.text, current.text), rules)
    except ApplicationError:
        return False
    return all(verdict.is_allowed for verdict in verdicts)

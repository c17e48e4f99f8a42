"""What a prompt is made of, as one company may see it."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import OuterRef, Q, Subquery

from agents.models import Agent, AgentVersion
from agents.rules.paths import DocumentKind, path_key
from agents.selectors import current_documents
from common.companies.models import Company
from experiences.models import Experience
from prompt.rules.values import DocumentText, Row

#: Documents that no section shows (persona, workflows, tools, ...) are not loaded.
_BODY_KINDS = (DocumentKind.PRINCIPLES, DocumentKind.SKILL, DocumentKind.MEMORY, DocumentKind.GUIDANCE)
_USER_KINDS = (DocumentKind.USER_PROFILE, DocumentKind.USER_MEMORY)


@dataclass(frozen=True)
class BodyState:
    """At which version an agent's body is, and the hash of that version's snapshot (None: it has none)."""

    version: int
    sha256: str | None


def enabled_rows(agent_id: int) -> tuple[Row, ...]:
    """The enabled experiences by (order, id)."""
    rows = Experience.objects.of_agent(agent_id).enabled()
    return tuple(Row(pk, content) for pk, content in rows.values_list("pk", "content"))


def prompt_documents(agent: Agent, company: Company, user_id: str | None) -> tuple[DocumentText, ...]:
    """Current texts of the documents that sections show: the shared body's, and with a user theirs in `company`.

    The user's are a superset (databases compare case differently); the builders compare the id exactly.
    """
    wanted = Q(is_body=True, kind__in=_BODY_KINDS)
    if user_id is not None:
        prefix = f"users/{path_key(user_id)}/"
        wanted |= Q(is_body=False, kind__in=_USER_KINDS, company=company, path_key__startswith=prefix)
    documents = current_documents(agent.documents.readable_from(company).filter(wanted))
    texts = documents.values_list("pk", "path", "text")  # type: ignore[misc]
    return tuple(DocumentText(pk, path, text or "") for pk, path, text in texts)


def body_state(agent_id: int) -> BodyState | None:
    """The agent's version now; None when there is no such agent."""
    current = AgentVersion.objects.filter(agent=OuterRef("pk"), number=OuterRef("version"))
    found = Agent.objects.filter(pk=agent_id).values_list("version", Subquery(current.values("sha256")[:1]))
    return next((BodyState(version, sha256) for version, sha256 in found), None)

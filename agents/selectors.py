"""Read agents, their versions and documents, as a company may see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import OuterRef, Prefetch, Q, Subquery
from django.utils.translation import gettext_lazy as _

from agents.models import Agent, AgentVersion, Document, DocumentVersion, ProtectedPath
from agents.models.agent import AgentQuerySet
from agents.models.document import DocumentQuerySet
from agents.rules.paths import path_key
from agents.rules.protection import Level, Rule, protects_something
from agents.rules.snapshots import Snapshot
from common.companies.models import Company
from common.errors import ApplicationError
from common.models import CodePointOrder
from common.text import name_key
from experiences.models import Experience
from experiences.selectors import snapshot_rows

#: Settings that a version keeps and a restore brings back.
RESTORED_SETTINGS = (
    "name",
    "description",
    "language",
    "enabled",
    "inject_session_recaps",
    "introspection_enabled",
    "tags",
    "skill_names",
)


def agents_readable_from(company: Company, agent_id: int | None = None) -> AgentQuerySet:
    """Live agents that `company` may see (own and shared), or just the one a key is bound to."""
    queryset = Agent.objects.live().readable_from(company).select_related("company", "owner")
    return queryset.filter(pk=agent_id) if agent_id is not None else queryset


def with_rows(queryset: AgentQuerySet) -> AgentQuerySet:
    """Agents with their experience rows loaded in one more query."""
    return queryset.prefetch_related(Prefetch("experiences", Experience.objects.order_by("order", "id")))


def get_agent(company: Company, pk: int, bound_to: int | None = None) -> Agent:
    """The live agent `pk` as `company` sees it; AGENT_NOT_FOUND for unknown, deleted and foreign ones alike."""
    agent = agents_readable_from(company, bound_to).filter(pk=pk).first()
    if agent is None:
        raise agent_not_found()
    return agent


def get_agent_for_write(company: Company, pk: int, bound_to: int | None = None) -> Agent:
    """The agent, if `company` may change its body; COMPANY_FORBIDDEN for a shared one of `_global`."""
    agent = get_agent(company, pk, bound_to)
    if agent.company_id != company.pk:
        raise ApplicationError(
            "COMPANY_FORBIDDEN",
            _("This agent is shared by _global and can be changed only there; copy it to change the copy."),
        )
    return agent


def agent_not_found() -> ApplicationError:
    """The one answer for an agent that is not there for the caller."""
    return ApplicationError("AGENT_NOT_FOUND", _("No such agent."))


def find_by_name(company: Company, name: str) -> Agent | None:
    """The live agent of this company whose name has the same key."""
    return Agent.objects.live().owned_by(company).filter(name_key=name_key(name)).first()


def snapshot(agent: Agent) -> Snapshot:
    """What a version keeps of the agent now."""
    documents = {
        document.path: {"version": document.current_version, "sha256": document.sha256}
        for document in current_documents(agent.documents.filter(is_body=True), with_text=False)
    }
    settings: dict[str, Any] = {name: getattr(agent, name) for name in RESTORED_SETTINGS}
    settings["is_default"] = agent.is_default
    settings["owner"] = agent.owner.get_username() if agent.owner else None
    return {
        "role": agent.system_prompt,
        "settings": settings,
        "rows": snapshot_rows(agent.pk),
        "documents": documents,
    }


def body_documents(agent: Agent) -> DocumentQuerySet:
    """The documents of the shared body with `text` and `sha256` of the current version, by path."""
    return current_documents(agent.documents.filter(is_body=True))


def current_documents(queryset: DocumentQuerySet, *, with_text: bool = True) -> DocumentQuerySet:
    """The documents that exist now, with `sha256` and if wanted `text` of their current version, by path."""
    current = DocumentVersion.objects.filter(document=OuterRef("pk"), number=OuterRef("current_version"))
    added = {"sha256": Subquery(current.values("sha256")[:1])}
    if with_text:
        added["text"] = Subquery(current.values("text")[:1])
    return queryset.filter(deleted_at=None).annotate(**added).order_by(CodePointOrder("path"), "id")


def find_document(agent: Agent, company: Company, path: str) -> Document | None:
    """The document of a normalised path as `company` owns it, a deleted one too (its history goes on)."""
    return agent.documents.filter(company=company, path_key=path_key(path)).first()


def current_text(document: Document | None) -> str | None:
    """The text of a document now; None when it does not exist or is deleted."""
    if document is None or document.deleted_at is not None:
        return None
    return DocumentVersion.objects.get(document=document, number=document.current_version).text


def get_version(agent: Agent, number: int) -> AgentVersion:
    """One version of an agent; NOT_FOUND when there is none of that number."""
    version = AgentVersion.objects.filter(agent=agent, number=number).first()
    if version is None:
        raise ApplicationError("NOT_FOUND", _("The agent has no version %(number)d.") % {"number": number})
    return version


def documents_readable(agent: Agent, company: Company, *, with_text: bool = True) -> DocumentQuerySet:
    """The agent's body documents and the `users/**` documents of the caller's company."""
    return current_documents(agent.documents.readable_from(company), with_text=with_text)


#: Documents that are looked at to find out whether a rule protects something; a page must not read them all.
PROBED_DOCUMENTS = 300
#: Names that rules may protect though no document has them.
NO_DOCUMENTS = ("system_prompt",)


def rules_without_effect(rules: Sequence[ProtectedPath]) -> set[int]:
    """Ids of rules that find nothing to protect in any stored document; one query.

    Only the first documents are read; when there are more, a rule that found nothing in them may still
    protect another one, so nothing is said about it.
    """
    waiting = {rule.pk: rule for rule in rules if path_key(rule.pattern) not in NO_DOCUMENTS}
    wanted = Q(pk__in=[])
    for rule in waiting.values():
        wanted |= _may_match(rule)
    documents = current_documents(Document.objects.live().filter(wanted))[: PROBED_DOCUMENTS + 1]
    for seen, document in enumerate(documents.iterator(chunk_size=50), 1):
        found = [pk for pk, rule in waiting.items() if _protects(rule, document)]
        for pk in found:
            del waiting[pk]
        if not waiting or seen > PROBED_DOCUMENTS:
            return set()
    return set(waiting)


def _may_match(rule: ProtectedPath) -> Q:
    """Documents whose path starts and ends as the pattern does around its stars."""
    first, *rest = path_key(rule.pattern).split("*")
    wanted = Q(path_key__startswith=first) if rest else Q(path_key=first)
    if rest:
        # `**/x.md` matches `x.md` too, so the slash behind a star is no part of the ending.
        wanted &= Q(path_key__endswith=rest[-1].removeprefix("/"))
    return wanted & Q(company=rule.company_id) if rule.company_id else wanted


def _protects(rule: ProtectedPath, document: Document) -> bool:
    if rule.company_id not in (None, document.company_id):
        return False
    try:
        plain = Rule(rule.pk, rule.pattern, rule.section, tuple(rule.section_aliases), Level(rule.level))
        return protects_something(plain, document.path, document.text)
    except (ApplicationError, ValueError):
        return False

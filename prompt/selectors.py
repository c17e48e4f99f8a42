"""What a prompt is made of, as one company may see it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import OuterRef, Q, Subquery

from agents.models import Agent, AgentVersion
from agents.rules.paths import DocumentKind, path_key
from agents.selectors import current_documents
from common.companies.models import Company
from common.errors import ApplicationError
from evolution.knowledge.rules.injection import excerpt
from evolution.knowledge.rules.injection_request import InjectionRequest
from evolution.knowledge.selectors.injection import Limits, Picked, select_items
from evolution.lessons.choices import Purpose, Severity
from evolution.lessons.rules.answers import STRONG
from evolution.lessons.rules.kinds import MAX_TAG, MAX_TAGS
from evolution.lessons.rules.paths import normalise_paths
from evolution.lessons.rules.recall_request import MAX_QUERY_FILES, RecallRequest
from evolution.lessons.selectors.recall import recall_lessons
from experiences.models import Experience
from prompt.rules.values import DocumentText, Note, Notes, PromptRequest, Row

#: Documents that no section shows (persona, workflows, tools, ...) are not loaded.
_BODY_KINDS = (DocumentKind.PRINCIPLES, DocumentKind.SKILL, DocumentKind.MEMORY, DocumentKind.GUIDANCE)
_USER_KINDS = (DocumentKind.USER_PROFILE, DocumentKind.USER_MEMORY)
#: What a section shows of what was learnt; docs/rules.md: prompt budgets.
KNOWLEDGE = Limits(items=5, chars=200)
MAX_LESSONS = 3
#: Strong lessons that are looked at for those of high severity.
_LOOKED_AT = 20


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


def injected_notes(agent: Agent, company: Company, request: PromptRequest) -> Notes:
    """The knowledge worth having for the task; `origin` is (the request, what was selected)."""
    wanted = InjectionRequest(agent.pk, request.phase, request.keywords, request.task)
    selected = select_items(company=company, agent=agent, request=wanted, limits=KNOWLEDGE)
    use, avoid = (tuple(map(_note, picked)) for picked in (selected.items, selected.avoid))
    return Notes(use, avoid, (wanted, selected))


def lesson_notes(agent: Agent, company: Company, request: PromptRequest, now: datetime) -> Notes:
    """What lessons of high severity taught that surely concern the task; `origin` is (the request, the answer)."""
    wanted = RecallRequest(
        task=request.task,
        tags=[tag for tag in request.tags if tag and len(tag) <= MAX_TAG][:MAX_TAGS],
        files=normalise_paths(request.files[:MAX_QUERY_FILES]),
        agent_id=agent.pk,
        purpose=Purpose.START_TASK,
        top_k=_LOOKED_AT,
        min_relevance=STRONG,
    )
    try:
        recalled = recall_lessons(company=company, request=wanted, now=now, agent=agent)
    except ApplicationError as error:
        if error.code != "RECALL_INPUT_EMPTY":
            raise
        return Notes()
    high = [match for match in recalled.matches if match.lesson.severity == Severity.HIGH][:MAX_LESSONS]
    notes = (
        Note(one.lesson.code, f"[{one.lesson.code}] {one.lesson.takeaway or one.lesson.title}")
        for one in high
    )
    return Notes(avoid=tuple(notes), origin=(wanted, replace(recalled, matches=high)))


def _note(one: Picked) -> Note:
    code, title, summary = one.item.code, " ".join(one.item.title.split()), one.item.summary
    text = f"[{code}] {title}: {summary}" if summary else f"[{code}] {title}"
    return Note(code, excerpt(text, KNOWLEDGE.chars or len(text)))

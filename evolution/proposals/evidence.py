"""What a reviewer needs beside an item: the target as it is now, its last versions, lines that say almost the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import F, OuterRef, Subquery

from agents.models import Document, DocumentVersion
from agents.rules.paths import is_user_path, path_key
from evolution.parameters.rules.specs import as_text
from evolution.parameters.selectors import shown_parameters
from evolution.proposals.choices import ItemStatus
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.operations.experiences import as_text as row_as_text
from evolution.proposals.operations.parameters import SET_PARAMETER, target_of
from evolution.proposals.operations.role import ROLE_TARGET
from evolution.proposals.rules.conflicts import nearest
from evolution.proposals.rules.digests import text_sha256
from experiences.models import Experience

#: Versions of a target that are shown, and lines of a document that are compared.
VERSIONS, COMPARED_LINES = 5, 3000
_DOCUMENT_OPERATIONS = ("create", "update", "delete", "rename")
OPEN = (ItemStatus.PENDING, ItemStatus.APPROVED)
_ADDING = ("create", "update", "rename", "add_experience", "update_experience")


@dataclass(frozen=True)
class Near:
    """An existing line like the proposed one; `similarity` from 0 to 1."""

    similarity: float
    where: str
    text: str


@dataclass(frozen=True)
class Evidence:
    """About one item. `is_stale`: its target is no longer the text on which it was worked out."""

    document: Document | None = None
    versions: Sequence[DocumentVersion] = ()
    is_stale: bool = False
    nearest: Sequence[Near] = field(default_factory=list)


def evidence_for(proposal: Proposal, items: Sequence[ProposalItem]) -> dict[int, Evidence]:
    """By item number; four queries at most, however many items there are."""
    documents = _documents(proposal, items)
    versions = _versions(documents.values())
    rows: dict[int, Experience] = {}
    if proposal.agent_id is not None:
        rows = {row.pk: row for row in Experience.objects.of_agent(proposal.agent_id)}
    values = _values(proposal, items)
    followed: set[str] = set()
    found = {}
    for item in items:
        document = documents.get(_key(proposal, item.target))
        stale = item.target not in followed and (
            _is_stale(proposal, item, document, rows)
            if item.operation != SET_PARAMETER
            else item.status in OPEN and text_sha256(values.get(item.target)) != item.base_sha256
        )
        if item.status in OPEN:
            followed.add(item.target)
        found[item.number] = Evidence(
            document=document,
            versions=versions.get(document.pk, []) if document else [],
            is_stale=stale,
            nearest=_nearest(item, rows),
        )
    return found


def _key(proposal: Proposal, target: str) -> tuple[int, str]:
    """Whose document a target is (the proposal's company for users/**, else the agent's), and its key."""
    if proposal.agent is None or is_user_path(target):
        return proposal.company_id, path_key(target)
    return proposal.agent.company_id, path_key(target)


def _documents(proposal: Proposal, items: Iterable[ProposalItem]) -> dict[tuple[int, str], Document]:
    keys = {path_key(item.target) for item in items if item.operation in _DOCUMENT_OPERATIONS}
    current = DocumentVersion.objects.filter(document=OuterRef("pk"), number=OuterRef("current_version"))
    documents = Document.objects.filter(agent=proposal.agent_id, path_key__in=keys)
    rows = documents.annotate(sha256=Subquery(current.values("sha256")[:1]))  # type: ignore[no-redef]
    return {(document.company_id, document.path_key): document for document in rows}


def _versions(documents: Iterable[Document]) -> dict[int, list[DocumentVersion]]:
    found: dict[int, list[DocumentVersion]] = {}
    last = DocumentVersion.objects.filter(
        document__in=[document.pk for document in documents],
        number__gt=F("document__current_version") - VERSIONS,
    )
    for version in last.defer("text").order_by("document", "-number"):
        found.setdefault(version.document_id, []).append(version)
    return found


def _is_stale(
    proposal: Proposal, item: ProposalItem, document: Document | None, rows: Mapping[int, Experience]
) -> bool:
    if item.status not in OPEN:
        return False
    if item.target == ROLE_TARGET and proposal.agent is not None:
        return text_sha256(proposal.agent.system_prompt) != item.base_sha256
    if item.operation in _DOCUMENT_OPERATIONS:
        now = document.sha256 if document and document.deleted_at is None else ""
        return now != item.base_sha256
    row = rows.get(_row_id(item.target))
    if item.operation == "add_experience":
        return False
    return row is None or text_sha256(row_as_text(row.content, row.enabled)) != item.base_sha256


def _values(proposal: Proposal, items: Iterable[ProposalItem]) -> dict[str, str]:
    """Target -> the value as text, if an item sets one."""
    if all(item.operation != SET_PARAMETER for item in items):
        return {}
    return {target_of(shown.name): as_text(shown.current) for shown in shown_parameters(proposal.company_id)}


def _row_id(target: str) -> int:
    number = target.rpartition("/")[2]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 19 else 0


def _nearest(item: ProposalItem, rows: Mapping[int, Experience]) -> list[Near]:
    """Of the target's own lines and the agent's enabled experiences, without the row that is changed itself."""
    said = said_by(item)
    if item.operation not in _ADDING or not said:
        return []
    existing: dict[str, Iterable[str]] = {
        f"experiences/{row.pk}": [row.content] for row in rows.values() if row.enabled
    }
    existing.pop(item.target, None)
    if item.operation in _DOCUMENT_OPERATIONS:
        lines = (item.base_text or "").splitlines()[:COMPARED_LINES]
        existing[item.target] = [line for line in lines if not line.lstrip().startswith("#")]
    return [Near(*entry) for entry in nearest(said, existing)]


def said_by(item: ProposalItem) -> str:
    """The sentence that an item adds: its content, or the first line of a whole text that was not there."""
    if item.content and not item.whole_text:
        return item.content
    old = set((item.base_text or "").splitlines())
    new = (item.new_text or "").splitlines()
    return next((line for line in new if line.strip() and line not in old), "")

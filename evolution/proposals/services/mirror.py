"""The git mirror: each applied change as a commit in the agent's repository. Never undoes a change."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path

import structlog
from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from agents.models import AgentVersion, Document, DocumentVersion
from agents.rules.paths import is_user_path
from agents.selectors import current_documents
from common.actors import Actor
from common.errors import ApplicationError
from evolution.proposals.git import GitError, Repository
from evolution.proposals.models import GitMirrorCommit, Proposal, ProposalItem
from evolution.proposals.rules.display import change_note

log = structlog.get_logger(__name__)
LEASE = timedelta(minutes=2)
#: A worker that dies over a commit this often leaves it to a person.
MAX_ATTEMPTS = 3
State = GitMirrorCommit.State
Files = dict[str, str]


def mirror_pending(*, now: datetime, limit: int = 200) -> int:
    """Commit what waits, repository by repository; returns how many commits were made. Safe to run twice at once."""
    if not settings.AGENTS_GIT_ROOT:
        return 0
    given_up = GitMirrorCommit.objects.filter(_free(now), status=State.PENDING, attempts__gte=MAX_ATTEMPTS)
    told = str(_("Given up after %(count)d attempts.") % {"count": MAX_ATTEMPTS})
    given_up.update(status=State.FAILED, error=told, leased_until=None, updated_at=now)
    waiting = GitMirrorCommit.objects.filter(_claimable(now)).order_by("receipt_id")
    repositories = dict.fromkeys(waiting.values_list("proposal__company_id", "proposal__agent_id")[:limit])
    return sum(_work_off(company_id, agent_id, now) for company_id, agent_id in repositories)


def mirror_one(*, commit_id: int, now: datetime) -> bool:
    """Commit one follow-up row and what waits before it; whether it is done.

    False when another worker is at this repository, or git refused (see the row's error).
    """
    row = GitMirrorCommit.objects.select_related("proposal").filter(pk=commit_id).first()
    if row is None or not settings.AGENTS_GIT_ROOT:
        return False
    if row.status == State.PENDING:
        _work_off(row.proposal.company_id, row.proposal.agent_id, now)
        row.refresh_from_db(fields=["status"])
    return row.status == State.DONE


def retry_commit(*, commit_id: int, actor: Actor, now: datetime) -> bool:
    """Try a failed commit again at once. Errors: STATE_CONFLICT when it did not fail.

    When a later change of the same agent is committed already, that commit holds this change too.
    """
    changed = GitMirrorCommit.objects.filter(pk=commit_id, status=State.FAILED).update(
        status=State.PENDING, attempts=0, leased_until=None, updated_at=now
    )
    if not changed:
        raise ApplicationError("STATE_CONFLICT", _("Only a failed commit can be tried again."))
    log.info("mirror_retried", commit=commit_id, actor=actor.name)
    return mirror_one(commit_id=commit_id, now=now)


def repository_of(proposal: Proposal) -> Repository:
    """The agent's repository: one folder a company, one below it for each agent, named by its id."""
    return Repository(Path(settings.AGENTS_GIT_ROOT) / proposal.company.slug / f"agent-{proposal.agent_id}")


def _free(now: datetime) -> Q:
    return Q(leased_until=None) | Q(leased_until__lt=now)


def _claimable(now: datetime) -> Q:
    return Q(status=State.PENDING, attempts__lt=MAX_ATTEMPTS) & _free(now)


def _of_repository(company_id: int, agent_id: int | None) -> QuerySet[GitMirrorCommit]:
    rows = GitMirrorCommit.objects.filter(proposal__company=company_id, proposal__agent=agent_id)
    return rows.order_by("receipt_id").select_related("proposal__agent", "proposal__company", "receipt")


def _work_off(company_id: int, agent_id: int | None, now: datetime) -> int:
    """Commit what waits for one repository, in the order of the receipts; how many commits were made."""
    rows = list(_of_repository(company_id, agent_id).filter(_claimable(now)))
    if not rows:
        return 0
    try:
        with repository_of(rows[0].proposal).lock() as is_ours:
            return sum(_attempt(row, now) for row in rows) if is_ours else 0
    except OSError as error:
        for row in rows:
            _close(row, now, status=State.FAILED, error=str(error)[:2000])
        return 0


def _attempt(row: GitMirrorCommit, now: datetime) -> bool:
    """Claim one row and commit it."""
    claimed = GitMirrorCommit.objects.filter(_claimable(now), pk=row.pk).update(
        leased_until=now + LEASE, attempts=F("attempts") + 1, updated_at=now
    )
    if not claimed:
        return False
    later = _of_repository(row.proposal.company_id, row.proposal.agent_id).filter(
        status=State.DONE, receipt_id__gt=row.receipt_id
    )
    try:
        overtaken = later.exclude(sha="").first()
        sha = overtaken.sha if overtaken else _commit(row)
    except (GitError, OSError) as error:
        log.warning("mirror_failed", proposal=row.proposal.code, error=str(error))
        _close(row, now, status=State.FAILED, error=str(error)[:2000])
        return False
    _close(row, now, status=State.DONE, sha=sha or "", error="")
    return True


def _close(row: GitMirrorCommit, now: datetime, **fields: str) -> None:
    rows = GitMirrorCommit.objects.filter(pk=row.pk, status=State.PENDING)
    rows.update(leased_until=None, updated_at=now, **fields)


def _commit(row: GitMirrorCommit) -> str | None:
    """Bring the repository to the state before the change (an own commit, if it differs), then commit the change."""
    proposal, detail = row.proposal, row.receipt.detail
    items = list(proposal.items.filter(status__in=["applied", "rolled_back"]).order_by("number"))
    is_rollback = row.receipt.type == "rollback"
    before = _body(proposal, detail["agent_version_before"])
    after = _body(proposal, detail["agent_version"])
    users = _user_files(proposal)
    first, last = _effects(items)
    if is_rollback:
        first, last = last, {}
    before |= _changed(users, first)
    after |= _changed(users, last)
    repository = repository_of(proposal)
    repository.prepare()
    repository.commit(before, f"sync: state before {proposal.code}\n", "Fieldbook", row.receipt.at)
    message, author = _message(proposal, items, is_rollback), row.receipt.actor_name
    if not is_rollback:
        author = proposal.decided_by or proposal.approved_by or author
    return repository.commit(after, f"{message}\n", author, row.receipt.at)


def _message(proposal: Proposal, items: list[ProposalItem], is_rollback: bool) -> str:
    if is_rollback:
        return f"rollback: {proposal.code} {' '.join(proposal.rollback_reason.split())}"
    versions = DocumentVersion.objects.filter(
        document__agent=proposal.agent_id, proposal_code=proposal.code, source="proposal"
    )
    note = versions.order_by("pk").values_list("note", flat=True).first()
    return note or change_note(proposal, items)


def _effects(items: Iterable[ProposalItem]) -> tuple[dict[str, str | None], dict[str, str | None]]:
    """What stands at the users' paths before the first item that changes them, and after the last one."""
    before: dict[str, str | None] = {}
    after: dict[str, str | None] = {}
    for item in items:
        if not is_user_path(item.target):
            continue
        before.setdefault(item.target, item.base_text)
        after[item.target] = item.new_text
        if item.new_target:
            before.setdefault(item.new_target, None)
            after[item.target], after[item.new_target] = None, item.new_text
    return before, after


def _changed(files: Files, changes: dict[str, str | None]) -> Files:
    """The files with other texts at some paths; None takes a path away."""
    found: dict[str, str | None] = {**files, **changes}
    return {path: text for path, text in found.items() if text is not None}


def _user_files(proposal: Proposal) -> Files:
    """The company's own `users/**` documents of the agent, as they are now."""
    documents = Document.objects.filter(agent=proposal.agent_id, company=proposal.company_id, is_body=False)
    return {document.path: document.text for document in current_documents(documents)}


def _body(proposal: Proposal, number: int) -> Files:
    """Path -> text of the agent's body at one of its versions, the rows as experiences.md."""
    version = AgentVersion.objects.filter(agent=proposal.agent_id, number=number).first()
    if version is None:
        return {}
    snapshot = version.snapshot
    numbers = {path: place["version"] for path, place in snapshot["documents"].items()}
    versions = DocumentVersion.objects.filter(
        document__agent=proposal.agent_id, document__is_body=True, document__path__in=numbers
    )
    stored = versions.values_list("pk", "document__path", "number")
    wanted = [pk for pk, path, number in stored if numbers[path] == number]
    files = dict(versions.filter(pk__in=wanted).values_list("document__path", "text"))
    files["system_prompt.md"] = snapshot["role"] + "\n"
    rows = [f"- [{'x' if row['enabled'] else ' '}] {_one_item(row['content'])}" for row in snapshot["rows"]]
    files["experiences.md"] = "".join(f"{row}\n" for row in rows)
    return files


def _one_item(content: str) -> str:
    return content.replace("\n", "\n  ")

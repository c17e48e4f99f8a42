"""The git mirror: each applied change as a commit in the agent's repository. Never undoes a change."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import structlog
from django.conf import settings
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from agents.models import AgentVersion, DocumentVersion
from agents.rules.paths import is_user_path
from common.actors import Actor
from common.errors import ApplicationError
from evolution.proposals.git import GitError, Repository
from evolution.proposals.models import GitMirrorCommit, Proposal
from evolution.proposals.rules.display import change_note

log = structlog.get_logger(__name__)
LEASE = timedelta(minutes=2)
MAX_ATTEMPTS = 3
State = GitMirrorCommit.State


def mirror_pending(*, now: datetime, limit: int = 50) -> int:
    """Commit what waits, oldest first; returns how many commits were made. Safe to run twice at once."""
    done = 0
    waiting = GitMirrorCommit.objects.filter(_claimable(now)).order_by("receipt_id")
    for pk in list(waiting.values_list("pk", flat=True)[:limit]):
        done += mirror_one(commit_id=pk, now=now)
    return done


def mirror_one(*, commit_id: int, now: datetime) -> bool:
    """Claim one follow-up row and commit it; False when somebody else has it, or git refused (see its error)."""
    claimed = GitMirrorCommit.objects.filter(_claimable(now), pk=commit_id).update(
        leased_until=now + LEASE, attempts=F("attempts") + 1
    )
    if not claimed or not settings.AGENTS_GIT_ROOT:
        return False
    commit = GitMirrorCommit.objects.select_related("proposal__agent", "proposal__company", "receipt").get(
        pk=commit_id
    )
    try:
        sha = _commit(commit)
    except (GitError, OSError) as error:
        log.warning("mirror_failed", proposal=commit.proposal.code, error=str(error))
        GitMirrorCommit.objects.filter(pk=commit_id).update(
            status=State.FAILED, error=str(error)[:2000], leased_until=None
        )
        return False
    GitMirrorCommit.objects.filter(pk=commit_id).update(
        status=State.DONE, sha=sha or "", error="", leased_until=None
    )
    return True


def retry_commit(*, commit_id: int, actor: Actor, now: datetime) -> bool:
    """Try a failed commit again at once. Errors: STATE_CONFLICT when it did not fail."""
    changed = GitMirrorCommit.objects.filter(pk=commit_id, status=State.FAILED).update(
        status=State.PENDING, attempts=0, leased_until=None
    )
    if not changed:
        raise ApplicationError("STATE_CONFLICT", _("Only a failed commit can be tried again."))
    return mirror_one(commit_id=commit_id, now=now)


def _claimable(now: datetime) -> Q:
    free = Q(leased_until=None) | Q(leased_until__lt=now)
    return Q(status=State.PENDING, attempts__lt=MAX_ATTEMPTS) & free


def repository_of(proposal: Proposal) -> Repository:
    """The agent's repository: one folder a company, one below it for each agent, named by ids that never change."""
    return Repository(Path(settings.AGENTS_GIT_ROOT) / proposal.company.slug / f"agent-{proposal.agent_id}")


def _commit(commit: GitMirrorCommit) -> str | None:
    """Bring the repository to the state before the change (own commit, if it differs), then commit the change."""
    proposal = commit.proposal
    items = list(proposal.items.filter(status__in=["applied", "rolled_back"]).order_by("number"))
    number = commit.receipt.detail["agent_version"]
    before, after = _files(proposal, number - 1), _files(proposal, number)
    for item in items:
        if is_user_path(item.target):
            _set(before, item.target, item.base_text)
            _set(after, item.target, item.new_text)
            number = commit.receipt.detail["agent_version"]
    repository = repository_of(proposal)
    repository.prepare()
    repository.commit(before, f"sync: state before {proposal.code}", "Fieldbook")
    message = change_note(proposal, items) + "\n"
    return repository.commit(after, message, proposal.approved_by or proposal.decided_by)


def _set(files: dict[str, str], path: str, text: str | None) -> None:
    if text is None:
        files.pop(path, None)
    else:
        files[path] = text


def _files(proposal: Proposal, number: int) -> dict[str, str]:
    """Path -> text of the agent's body at one of its versions, the rows as experiences.md."""
    version = AgentVersion.objects.filter(agent_id=proposal.agent_id, number=number).first()
    if version is None:
        return {}
    snapshot = version.snapshot
    files = {}
    for path, place in snapshot["documents"].items():
        files[path] = DocumentVersion.objects.get(
            document__agent_id=proposal.agent_id,
            document__path=path,
            document__is_body=True,
            number=place["version"],
        ).text
    files["system_prompt.md"] = snapshot["role"] + "\n"
    rows = [f"- [{'x' if row['enabled'] else ' '}] {_one_item(row['content'])}" for row in snapshot["rows"]]
    files["experiences.md"] = "".join(f"{row}\n" for row in rows)
    return files


def _one_item(content: str) -> str:
    return content.replace("\n", "\n  ")

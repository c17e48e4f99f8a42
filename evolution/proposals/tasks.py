"""Periodic work of proposals: hints and sweepers; the rows are the jobs."""

from celery import shared_task
from django.utils import timezone

from common.actors import task_actor
from evolution.proposals.models import GitMirrorCommit
from evolution.proposals.services.editing import expire_overdue
from evolution.proposals.services.mirror import mirror_one, mirror_pending


@shared_task
def expire_proposals() -> int:
    """Expire proposals that waited 30 days."""
    return expire_overdue(actor=task_actor("every-day-expire-proposals"), now=timezone.now())


@shared_task
def mirror_commit(commit_id: int) -> bool:
    """Commit one applied change to the git mirror."""
    return mirror_one(commit_id=commit_id, now=timezone.now())


def hint_mirror(proposal_id: int) -> None:
    """Ask a worker to mirror what was just applied, once the transaction has committed; only a hint."""
    for pk in GitMirrorCommit.objects.filter(proposal_id=proposal_id, status="pending").values_list(
        "pk", flat=True
    ):
        mirror_commit.delay_on_commit(pk)


@shared_task
def mirror_commits() -> int:
    """Commit what still waits, after a crash or a lost hint."""
    return mirror_pending(now=timezone.now())

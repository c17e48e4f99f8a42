"""Periodic work of proposals: hints and sweepers; the rows are the jobs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import structlog
from celery import shared_task
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import KombuError

from common.actors import task_actor
from evolution.proposals.models import GitMirrorCommit
from evolution.proposals.services.expiring import expire_overdue
from evolution.proposals.services.mirror import mirror_one, mirror_pending

log = structlog.get_logger(__name__)


@shared_task
def expire_proposals() -> int:
    """Expire proposals that waited more than 30 days."""
    return expire_overdue(actor=task_actor("every-day-expire-proposals"), now=timezone.now())


@shared_task
def mirror_commit(commit_id: int) -> bool:
    """Commit one applied change to the git mirror."""
    return mirror_one(commit_id=commit_id, now=timezone.now())


@shared_task
def mirror_commits() -> int:
    """Commit what still waits, after a crash or a lost hint."""
    return mirror_pending(now=timezone.now())


def hint_mirror(proposal_id: int) -> None:
    """Ask a worker to mirror what was just applied or taken back, once the transaction has committed.

    Only a hint: without a broker the change stays, and the sweeper mirrors it later.
    """
    waiting = GitMirrorCommit.objects.filter(proposal_id=proposal_id, status=GitMirrorCommit.State.PENDING)
    for pk in waiting.values_list("pk", flat=True):
        transaction.on_commit(partial(_send, mirror_commit.delay, pk))


def _send(delay: Callable[[int], Any], pk: int) -> None:
    try:
        delay(pk)
    except (KombuError, OSError) as error:
        log.warning("mirror_hint_not_sent", commit=pk, error=str(error))

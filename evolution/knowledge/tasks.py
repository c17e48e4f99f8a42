"""Periodic work of the knowledge loop. Each may be delivered twice."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from common.actors import task_actor
from evolution.knowledge.services.archiving import archive_knowledge as archive_due_knowledge
from evolution.knowledge.services.decaying import decay_knowledge as decay_unused_knowledge
from evolution.knowledge.services.injection_retention import archive_injections as archive_old_injections


@shared_task
def decay_knowledge() -> int:
    """Let confidence fade that nobody uses; of how many items."""
    actor = task_actor("every-day-decay-knowledge")
    return len(decay_unused_knowledge(actor=actor, now=timezone.now()).faded)


@shared_task
def archive_knowledge() -> int:
    """Archive what was deprecated for a week, and drafts that nobody confirmed within two."""
    actor = task_actor("every-day-archive-knowledge")
    report = archive_due_knowledge(actor=actor, now=timezone.now())
    return len(report.deprecated) + len(report.drafts)


@shared_task
def archive_injections() -> int:
    """Archive injections that are older than the archive_days of their company."""
    actor = task_actor("every-day-archive-injections")
    return archive_old_injections(actor=actor, now=timezone.now())

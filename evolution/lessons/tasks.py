"""Periodic work of lessons. Each may be delivered twice."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from common.actors import task_actor
from evolution.lessons.services.recall_retention import archive_recalls as archive_old_recalls


@shared_task
def archive_recalls() -> int:
    """Archive recalls that are older than 90 days."""
    return archive_old_recalls(actor=task_actor("every-day-archive-recalls"), now=timezone.now())

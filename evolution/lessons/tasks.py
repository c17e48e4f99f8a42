"""Periodic work of lessons. Each may be delivered twice."""

from __future__ import annotations

import structlog
from celery import shared_task
from django.utils import timezone

from common.actors import task_actor
from common.errors import ApplicationError
from evolution.lessons.models import Repository
from evolution.lessons.services.archiving import archive_lessons as archive_due_lessons
from evolution.lessons.services.recall_retention import archive_recalls as archive_old_recalls
from evolution.lessons.services.repositories import note_failure
from evolution.lessons.services.scanning import Asked, scan_repository

log = structlog.get_logger(__name__)


@shared_task
def archive_recalls() -> int:
    """Archive recalls that are older than 90 days."""
    return archive_old_recalls(actor=task_actor("every-day-archive-recalls"), now=timezone.now())


@shared_task
def capture_lessons() -> int:
    """Read the enabled repositories; how many drafts they gave. One that cannot be read does not stop the next."""
    rows = Repository.objects.enabled().exclude(path="").filter(company__enabled=True)
    drafts, bug = 0, None
    for pk in rows.order_by("pk").values_list("pk", flat=True):
        asked = Asked(task_actor("every-hour-capture-lessons"), timezone.now())
        try:
            drafts += len(scan_repository(repository_id=pk, asked=asked).made)
        except ApplicationError as error:
            log.warning("repository_unreadable", repository=pk, code=error.code)
            note_failure(repository_id=pk, message=str(error.message))
        except Exception as error:
            log.exception("capture_failed", repository=pk)
            bug = bug or error
    if bug is not None:
        raise bug
    return drafts


@shared_task
def archive_lessons() -> int:
    """Archive lessons whose time is over, and the least recalled above the cap."""
    actor = task_actor("every-day-archive-lessons")
    return archive_due_lessons(actor=actor, now=timezone.now()).archived

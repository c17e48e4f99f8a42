"""Periodic work of the learning cycle. Each may be delivered twice."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from common.actors import task_actor
from evolution.cycles.services.dispatching import Asked, process_queue
from evolution.knowledge.rules.queue import up_to
from evolution.knowledge.services.queue import purge_done

#: Reports of one run; the next one goes on. docs/rules.md: learning queue.
MOST = 500
MOST_PURGED = 10_000


@shared_task
def process_urgent_learning() -> int:
    """Work on reports of P0 and P1, and delete those that were done a week ago; how many reports were worked on."""
    actor = task_actor("every-10-minutes-process-urgent-learning")
    done = process_queue(Asked(actor, timezone.now, up_to("P1"), limit=MOST))
    purge_done(actor=actor, now=timezone.now(), limit=MOST_PURGED)
    return len(done.items)

"""Nightly forgetting."""

from celery import shared_task
from django.utils import timezone

from common.idempotency.services import forget_old


@shared_task
def forget_old_requests() -> int:
    """Delete stored answers that are too old to be asked for again."""
    return forget_old(now=timezone.now())

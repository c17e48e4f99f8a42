"""Every periodic job, on one page. Times are in TIME_ZONE."""

from celery.schedules import crontab

SCHEDULE = {
    "every-day-forget-idempotent-requests": {
        "task": "common.idempotency.tasks.forget_old_requests",
        "schedule": crontab(hour=3, minute=40),
    },
}

"""Every periodic job, on one page. Times are in TIME_ZONE."""

from celery.schedules import crontab

SCHEDULE = {
    "every-day-forget-idempotent-requests": {
        "task": "common.idempotency.tasks.forget_old_requests",
        "schedule": crontab(hour=3, minute=40),
    },
    "every-day-expire-proposals": {
        "task": "evolution.proposals.tasks.expire_proposals",
        "schedule": crontab(hour=3, minute=50),
    },
    "every-day-archive-recalls": {
        "task": "evolution.lessons.tasks.archive_recalls",
        "schedule": crontab(hour=4, minute=10),
    },
    "every-day-archive-lessons": {
        "task": "evolution.lessons.tasks.archive_lessons",
        "schedule": crontab(hour=4, minute=0),
    },
    "every-hour-capture-lessons": {
        "task": "evolution.lessons.tasks.capture_lessons",
        "schedule": crontab(minute=20),
    },
    "every-day-decay-knowledge": {
        "task": "evolution.knowledge.tasks.decay_knowledge",
        "schedule": crontab(hour=4, minute=20),
    },
    "every-day-archive-knowledge": {
        "task": "evolution.knowledge.tasks.archive_knowledge",
        "schedule": crontab(hour=4, minute=30),
    },
    "every-day-archive-injections": {
        "task": "evolution.knowledge.tasks.archive_injections",
        "schedule": crontab(hour=4, minute=15),
    },
    "every-10-minutes-process-urgent-learning": {
        "task": "evolution.cycles.tasks.process_urgent_learning",
        "schedule": crontab(minute="*/10"),
    },
    "every-5-minutes-mirror-commits": {
        "task": "evolution.proposals.tasks.mirror_commits",
        "schedule": crontab(minute="*/5"),
    },
}

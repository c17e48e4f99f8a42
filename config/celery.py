"""The Celery application. The row is the job; Celery only wakes workers (see docs/map.md)."""

import logging.config
import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, setup_logging, worker_init
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django_structlog.celery.steps import DjangoStructLogInitStep

from config.startup import refuse_wrong_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")

app = Celery("fieldbook")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# A task's log lines carry the id of the request that asked for it.
app.steps["worker"].add(DjangoStructLogInitStep)


@setup_logging.connect
def log_as_the_web_server_does(**kwargs: Any) -> None:
    """With a receiver here Celery leaves its own handlers, plain text on stderr, away."""
    logging.config.dictConfig(settings.LOGGING)


@worker_init.connect
@beat_init.connect
def start_only_with_settings_that_fit(**kwargs: Any) -> None:
    """Celery logs an exception of a receiver and goes on; it does not catch this one."""
    try:
        refuse_wrong_settings()
    except ImproperlyConfigured as error:
        raise SystemExit(str(error)) from None

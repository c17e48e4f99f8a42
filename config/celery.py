"""The Celery application. The row is the job; Celery only wakes workers (see docs/map.md)."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")

app = Celery("fieldbook")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

"""What happens once at the start of a process that `manage.py` does not start: web server, worker, schedule."""

from django.conf import settings
from django.core.checks import ERROR, run_checks
from django.core.exceptions import ImproperlyConfigured


def refuse_wrong_settings() -> None:
    """Raise ImproperlyConfigured with the errors of `manage.py check` and their hints, in production only.

    Neither gunicorn nor Celery heeds system checks, so a wrong combination would run until somebody asked.
    """
    if settings.PROFILE != "production":
        return
    found = [message for message in run_checks() if message.is_serious(ERROR) and not message.is_silenced()]
    if found:
        raise ImproperlyConfigured("\n".join(["These settings do not fit together:", *map(str, found)]))

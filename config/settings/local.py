"""The embedded profile: one machine, SQLite, filesystem broker; what `make run` uses."""

import logging

from config import logs
from config.settings.base import *  # noqa: F403
from config.settings.base import BROKER_DIR, LOGGING, STATIC_ROOT, VAR_DIR, env

PROFILE = "local"
LOGGING = {**LOGGING, "loggers": logs.QUIET}
DJANGO_STRUCTLOG_STATUS_4XX_LOG_LEVEL = logging.INFO
DEBUG = env.bool("DEBUG", False)
for folder in (VAR_DIR, STATIC_ROOT, BROKER_DIR / "messages", BROKER_DIR / "control"):
    folder.mkdir(parents=True, exist_ok=True)
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

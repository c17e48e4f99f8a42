"""The test profile: eager tasks, fast hashing, in-memory cache; the database from DATABASE_URL."""

import os

os.environ.setdefault("DATABASE_URL", "sqlite:///:memory:")

from config.settings.base import *  # noqa: F403
from config.settings.base import VAR_DIR

PROFILE = "test"
SECRET_KEY = "test-only-secret-key-of-sufficient-length-0123456789abcdef"
API_KEY_PEPPER = "test-only-pepper"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CELERY_TASK_ALWAYS_EAGER = True
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
# A browser fetches scripts and styles once, as in production.
WHITENOISE_MAX_AGE = 3600
LOGGING = {
    **LOGGING,  # noqa: F405
    "root": {"handlers": ["console"], "level": "CRITICAL"},
}
VAR_DIR.mkdir(parents=True, exist_ok=True)
DATABASES["default"].setdefault("TEST", {})  # noqa: F405
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405
    # A file, not memory: threads of the race tests need connections of their own, with WAL.
    DATABASES["default"]["TEST"]["NAME"] = str(VAR_DIR / f"test-{os.getpid()}.sqlite3")  # noqa: F405

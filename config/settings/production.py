"""The production profile: PostgreSQL, Redis, TLS in front, JSON logs. Refuses to start on a default secret."""

from django.core.exceptions import ImproperlyConfigured

from config import logs
from config.settings.base import *  # noqa: F403
from config.settings.base import API_KEY_PEPPER, DEFAULT_SECRET_KEY, LOGGING, SECRET_KEY, env

for name, value in {"SECRET_KEY": SECRET_KEY, "API_KEY_PEPPER": API_KEY_PEPPER}.items():
    if value == DEFAULT_SECRET_KEY or len(value) < 40:
        raise ImproperlyConfigured(
            f"{name} must be set in production: at least 40 random characters "
            "(for example the output of `openssl rand -base64 48`)."
        )

PROFILE = "production"
DEBUG = False
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS")
SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", True)
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", 31536000)
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
LOGGING = {**LOGGING, "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json"}}}
logs.configure()

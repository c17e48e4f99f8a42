"""WSGI entry for gunicorn: Django behind the prompt's fast path."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")

django_application = get_wsgi_application()

# Only now: they need the models, which `get_wsgi_application` loads.
from common.api.wsgi import PlainRequests  # noqa: E402
from config.startup import refuse_wrong_settings  # noqa: E402
from prompt.fastpath import PromptFastPath  # noqa: E402

refuse_wrong_settings()
application = PromptFastPath(PlainRequests(django_application))

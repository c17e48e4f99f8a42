"""WSGI entry for gunicorn: Django behind the prompt's fast path."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")

django_application = get_wsgi_application()

# Only now: it needs the models, which `get_wsgi_application` loads.
from common.api.wsgi import Utf8Only  # noqa: E402
from prompt.fastpath import PromptFastPath  # noqa: E402

application = PromptFastPath(Utf8Only(django_application))

"""A plain Django REST framework view on SQLite: one query by primary key, JSON out.

gunicorn runs it as `bench.plain:application`. BENCH_TEXT names the file with the text to serve, BENCH_PLAIN_DB
the SQLite file. The settings are those that `django-admin startproject` writes, with REST framework added and
nobody asked to sign in; BENCH_STRIPPED takes all middleware and authentication away and keeps the connection.
REST framework can be imported only after the settings, hence the order below.
"""

import os
import sqlite3
from pathlib import Path

import django
from django.conf import settings

STRIPPED = bool(os.environ.get("BENCH_STRIPPED"))
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
APPS = ["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "rest_framework"]
DATABASE = {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["BENCH_PLAIN_DB"]}

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    SECRET_KEY="not a secret",
    DATABASES={"default": {**DATABASE, "CONN_MAX_AGE": None if STRIPPED else 0}},
    INSTALLED_APPS=["rest_framework"] if STRIPPED else APPS,
    MIDDLEWARE=[] if STRIPPED else MIDDLEWARE,
    REST_FRAMEWORK=({"DEFAULT_AUTHENTICATION_CLASSES": [], "UNAUTHENTICATED_USER": None} if STRIPPED else {}),
    ROOT_URLCONF=__name__,
    USE_TZ=True,
)
django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import models  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402


class Prompt(models.Model):
    """A text and its number."""

    text = models.TextField()

    class Meta:
        app_label = "bench"
        db_table = "prompt"
        managed = False

    def __str__(self):
        return f"prompt {self.pk}"


class PromptView(APIView):
    """GET /prompts/{pk}"""

    def get(self, request, pk):
        return Response({"text": Prompt.objects.get(pk=pk).text})


def make_database() -> None:
    """A hundred rows with the text."""
    text = Path(os.environ["BENCH_TEXT"]).read_text(encoding="utf-8")
    with sqlite3.connect(os.environ["BENCH_PLAIN_DB"]) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE prompt (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
        connection.executemany("INSERT INTO prompt (text) VALUES (?)", [(text,)] * 100)


urlpatterns = [path("prompts/<int:pk>", PromptView.as_view())]
application = get_wsgi_application()

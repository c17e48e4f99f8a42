"""Web server, worker and schedule: what each refuses at its start, and that their logs tell one story."""

import json
import os
import secrets
import subprocess
import sys

import pytest
from celery.signals import beat_init, worker_init

from config.startup import refuse_wrong_settings
from tests.house.scripts import ROOT

PRODUCTION = {
    "DJANGO_SETTINGS_MODULE": "config.settings.production",
    "SECRET_KEY": secrets.token_hex(32),
    "API_KEY_PEPPER": secrets.token_hex(32),
    "ALLOWED_HOSTS": "fieldbook.example",
    "DATABASE_URL": "postgres://app:secret@db.example:5432/fieldbook",
    "BROKER_URL": "redis://redis.example:6379/0",
    "CACHE_URL": "redis://redis.example:6379/1",
    "WEB_CONCURRENCY": "2",
}
#: What `gunicorn` (its configuration first) loads in each of its processes.
WEB_SERVER = "import runpy; runpy.run_path('gunicorn.conf.py'); import config.wsgi; print('serves')"
#: A request asks for work and a worker does it, here in one process.
REQUEST_AND_WORKER = """
import django; django.setup()
import logging, structlog, threading
from celery.contrib.testing.worker import start_worker
from celery.signals import task_postrun
from config.celery import app

done = threading.Event()
task_postrun.connect(lambda **kwargs: done.set(), weak=False)

@app.task
def speak():
    logging.getLogger("some.library").warning("said in a task")

structlog.contextvars.bind_contextvars(request_id="the-request")
with start_worker(app, perform_ping_check=False):
    speak.delay()
    assert done.wait(60)
"""
COUNT_ONE = """
import django; django.setup()
from prompt.fastpath import _ANSWERED
_ANSWERED[200].inc()
"""
SHOW_METRICS = """
from django.test import RequestFactory
from django.urls import resolve
print(resolve("/metrics").func(RequestFactory().get("/metrics")).content.decode())
"""


class WorkerOfAnotherApplication:
    """Celery's own preparations, which would close this process's connections, leave it alone."""

    app = object()


def run(code, environment):
    """A process with exactly these settings; nothing of the test run's own."""
    names = {*PRODUCTION, "CELERY_TASK_ALWAYS_EAGER", "DEBUG", "LOG_LEVEL", "LOG_FORMAT"}
    base = {name: value for name, value in os.environ.items() if name not in names}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**base, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_web_server_refuses_to_start_with_settings_that_do_not_fit():
    wrong = {
        **PRODUCTION,
        "BROKER_URL": "filesystem://",
        "ALLOWED_HOSTS": "*",
        "DATABASE_URL": "sqlite:////nowhere/fieldbook.sqlite3",
    }
    # Nothing said about processes: then there are several, which SQLite does not serve.
    del wrong["WEB_CONCURRENCY"]
    done = run(WEB_SERVER, wrong)
    assert done.returncode != 0
    for named in ("fieldbook.E002", "fieldbook.E011", "fieldbook.E005", "HINT"):
        assert named in done.stderr


def test_the_web_server_starts_with_settings_that_fit():
    """Control; it also shows that the start waits for neither database nor broker."""
    done = run(WEB_SERVER, PRODUCTION)
    assert done.stdout.strip() == "serves", done.stderr


@pytest.mark.parametrize("signal", [worker_init, beat_init])
def test_worker_and_schedule_refuse_to_start_with_settings_that_do_not_fit(settings, signal):
    settings.PROFILE = "production"
    settings.CELERY_TASK_ALWAYS_EAGER = True
    with pytest.raises(SystemExit, match=r"fieldbook\.E006"):
        signal.send(sender=WorkerOfAnotherApplication())


def test_outside_production_the_errors_are_for_the_check_command_only(settings):
    settings.PROFILE = "local"
    settings.CELERY_TASK_ALWAYS_EAGER = True
    assert refuse_wrong_settings() is None


def test_the_log_of_a_task_is_json_and_names_the_request_that_asked_for_it():
    local = {
        "DJANGO_SETTINGS_MODULE": "config.settings.local",
        "BROKER_URL": "memory://",
        "LOG_FORMAT": "json",
    }
    done = run(REQUEST_AND_WORKER, local)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    (said,) = [line for line in lines if line["event"] == "said in a task"]
    assert (said["request_id"], said["level"]) == ("the-request", "warning")
    assert said["task_id"]


def test_metrics_count_over_all_processes(tmp_path):
    alone = {"DJANGO_SETTINGS_MODULE": "config.settings.local"}
    several = {**alone, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    assert run(COUNT_ONE, several).returncode == 0
    done = run(COUNT_ONE + SHOW_METRICS, several)
    assert 'fieldbook_prompt_fast_answers_total{status="200"} 2.0' in done.stdout, done.stderr
    # Control: without the common folder a process knows its own count only.
    assert 'fast_answers_total{status="200"} 1.0' in run(COUNT_ONE + SHOW_METRICS, alone).stdout

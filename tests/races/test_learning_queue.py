"""Two dispatchers over one queue, the same report at once, and a kill between effect and "done"."""

import os
import signal
import subprocess
import sys

import pytest
from django.db import connection
from django.utils import timezone

from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from evolution.cycles.services import dispatching, effects
from evolution.cycles.services.dispatching import Asked, process_queue
from evolution.cycles.services.effects import Effect
from evolution.knowledge.models import LearningItem
from evolution.knowledge.rules.queue import checked_report
from evolution.knowledge.services.queue import report
from tests.factories import SYSTEM, make_company
from tests.races.threads import RACE, in_threads

pytestmark = RACE
ASKED = Asked(SYSTEM, timezone.now)


@pytest.fixture
def acme():
    return make_company("acme")


def reported(company, number):
    fields = {"source_type": "workflow_run", "source_id": f"run-{number}"}
    return report(company=company, report=checked_report(fields), actor=SYSTEM)


def test_the_same_reports_at_once_are_one_item_each(acme):
    found = in_threads(4, lambda thread: [reported(acme, number) for number in range(5)])
    assert LearningItem.objects.count() == 5
    assert sum(one.created for reports in found for one in reports) == 5
    assert sorted(LearningItem.objects.values_list("number", flat=True)) == [1, 2, 3, 4, 5]


def test_dispatchers_at_once_give_each_effect_once(acme, monkeypatch):
    for number in range(12):
        reported(acme, number)
    seen = []
    act = lambda item, actor, now: seen.append(item.code) or Effect(note="seen")  # noqa: E731
    monkeypatch.setattr(effects, "_EFFECTS", dict.fromkeys(effects._EFFECTS, act))
    runs = in_threads(4, lambda thread: process_queue(ASKED))
    assert sorted(seen) == sorted(set(seen)) and len(seen) == 12
    assert sum(len(run.items) for run in runs) == 12
    assert set(LearningItem.objects.values_list("status", "attempts")) == {("done", 0)}
    assert Receipt.objects.filter(trigger="learning_item_processed").count() == 12
    assert verify_chain(acme).intact


def test_without_the_lease_the_effect_would_come_twice(acme, monkeypatch):
    """Control."""
    item = reported(acme, 1).item
    seen = []
    act = lambda item, actor, now: seen.append(item.code) or Effect(note="seen")  # noqa: E731
    monkeypatch.setattr(effects, "_EFFECTS", dict.fromkeys(effects._EFFECTS, act))
    everybody = lambda pk, now: LearningItem.objects.get(pk=pk)  # noqa: E731
    monkeypatch.setattr(dispatching, "lease", everybody)
    monkeypatch.setattr(dispatching, "locked_lease", lambda item: item)
    for _time in range(2):
        dispatching.process_item(item.pk, actor=SYSTEM, now=timezone.now())
    assert len(seen) == 2


KILLED = """
import os, signal, sys
import django
from django.conf import settings
django.setup()
settings.DATABASES["default"]["NAME"] = sys.argv[1]
from django.db import connection
connection.settings_dict["NAME"] = sys.argv[1]
from django.utils import timezone
from evolution.cycles.services import dispatching
from common.actors import command_actor
finish = dispatching.finish
def kill(*args, **kwargs):
    finish(*args, **kwargs)
    os.kill(os.getpid(), signal.SIGKILL)
dispatching.finish = kill
dispatching.process_queue(dispatching.Asked(command_actor("killed"), timezone.now))
"""


def test_a_kill_before_the_commit_leaves_nothing_half_done(acme):
    if connection.vendor == "sqlite" and "memory" in str(connection.settings_dict["NAME"]):
        pytest.skip("a database in memory belongs to one process")
    reported(acme, 1)
    settings = os.environ.get("DJANGO_SETTINGS_MODULE", "config.settings.test")
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": settings}
    name = str(connection.settings_dict["NAME"])
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, name], env=environment, capture_output=True, text=True
    )  # noqa: S603
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    item = LearningItem.objects.get()
    assert (item.status, Receipt.objects.filter(trigger="learning_item_processed").count()) == (
        "processing",
        0,
    )
    LearningItem.objects.update(leased_until=timezone.now() - timezone.timedelta(seconds=1))
    assert process_queue(ASKED).counts()["done"] == 1
    assert Receipt.objects.filter(trigger="learning_item_processed").count() == 1

"""One of the processes of test_three_processes: `writer_process.py ROLE COUNT AGENT KEY`.

Prints how often the database was locked, and how often anything else went wrong.
"""

import sys

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import OperationalError, close_old_connections  # noqa: E402

from agents.services.rows import add_row  # noqa: E402
from tests.factories import ApiClient, an_edit  # noqa: E402

ROLE, COUNT, AGENT, KEY = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
settings.ALLOWED_HOSTS = ["testserver"]


def web(turn):
    answer = ApiClient(KEY).post(f"agents/{AGENT}/experiences", {"content": f"web {turn}"})
    if answer.status_code == 503:
        raise OperationalError("database is locked")
    assert answer.status_code == 201, answer.content


def worker(turn):
    add_row(agent_id=AGENT, content=f"worker {turn}", edit=an_edit())


def command(turn):
    with open("/dev/null", "w", encoding="utf-8") as nowhere:
        call_command("issue_api_key", company="acme", name=f"k{turn}", scope=["read"], stdout=nowhere)


locked = failed = 0
for turn in range(COUNT):
    try:
        {"web": web, "worker": worker, "command": command}[ROLE](turn)
    except Exception as error:
        is_lock = isinstance(error, OperationalError) and "locked" in str(error)
        locked, failed = locked + is_lock, failed + (not is_lock)
        sys.stderr.write(f"{ROLE}: {error!r}\n")
    close_old_connections()
sys.stdout.write(f"locked {locked} failed {failed}\n")

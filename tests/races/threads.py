"""Real threads against the real test database.

Marks: `pytestmark = RACE` in each file of this folder. The rows that migrations made are put back before each test.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections

from tests.sizes import PATIENT, sized

RACE = [
    pytest.mark.race,
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
    PATIENT,
]


def in_threads(count: int, work: Callable[[int], Any]) -> list[Any]:
    """Call `work(0)` ... `work(count - 1)` in as many threads, started together; their results in order.

    An exception in a thread is raised here. Every thread closes its connections.
    """
    barrier = threading.Barrier(count)
    results: list[Any] = [None] * count
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            barrier.wait(timeout=30)
            results[number] = work(number)
        except BaseException as failure:
            failures.append(failure)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=sized(240, 3600))
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    if failures:
        raise failures[0]
    return results

"""Fixtures of the admin tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext


@pytest.fixture
def count_queries() -> Callable[[Callable[[], object]], int]:
    """`count_queries(call)` -> how often the call asks the database."""

    def count(call: Callable[[], object]) -> int:
        with CaptureQueriesContext(connection) as captured:
            call()
        return len(captured)

    return count

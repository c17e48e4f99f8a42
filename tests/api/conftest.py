"""Fixtures of the API's tests."""

import json

import pytest
import time_machine
from django.apps import apps
from django.core import serializers


@pytest.fixture
def time_machine_at():
    """`with time_machine_at(moment):` the clock stands still at `moment`."""

    def stand(moment):
        return time_machine.travel(moment, tick=False)

    return stand


@pytest.fixture
def database_dump():
    """All rows of all tables as one text."""

    def dump():
        rows = [row for model in apps.get_models() for row in model._base_manager.order_by("pk")]
        return json.dumps(serializers.serialize("python", rows), default=str, ensure_ascii=False)

    return dump

"""The rate limit counts exactly, also when all requests come at once."""

import os
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.cache import cache

from tests.factories import ApiClient, make_company, make_key
from tests.races.threads import RACE, in_threads

pytestmark = RACE

NOON = datetime(2026, 6, 12, 12, 0, 20, tzinfo=UTC)


@pytest.fixture
def client():
    return ApiClient(make_key(make_company("acme"), scopes=["read"]))


def test_of_64_simultaneous_requests_at_limit_10_exactly_10_pass(client, settings):
    settings.API_RATE_LIMIT_PER_MINUTE = 10
    with time_machine.travel(NOON, tick=False):
        answers = in_threads(64, lambda number: ApiClient(client.key).get("me"))
    statuses = [answer.status_code for answer in answers]
    assert (statuses.count(200), statuses.count(429)) == (10, 54)
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused["Retry-After"] == "40"
    assert refused["Content-Type"] == "application/problem+json"
    assert (refused.json()["code"], refused.json()["retry_after"]) == ("RATE_LIMITED", 40)


@pytest.mark.redis
def test_on_redis_too_exactly_10_pass(client, settings):
    url = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/15")
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": url}}
    cache.clear()
    settings.API_RATE_LIMIT_PER_MINUTE = 10
    with time_machine.travel(NOON, tick=False):
        answers = in_threads(64, lambda number: ApiClient(client.key).get("me"))
    assert [answer.status_code for answer in answers].count(200) == 10
    cache.clear()


def test_without_its_cache_the_limit_is_no_open_door(client, settings):
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:1/0",
        }
    }
    settings.API_RATE_LIMIT_PER_MINUTE = 10
    answer = client.get("me")
    assert (answer.status_code, answer.json()["code"]) == (503, "SERVICE_UNAVAILABLE")


def test_without_the_atomic_count_more_would_pass(client, settings, monkeypatch):
    """Control: reading, then writing, as the framework's own throttle does."""
    settings.API_RATE_LIMIT_PER_MINUTE = 10

    def read_then_write(name):
        import time

        count = cache.get(name, 0)
        time.sleep(0.01)
        cache.set(name, count + 1)
        return count + 1

    monkeypatch.setattr("common.api.throttling._counted", read_then_write)
    with time_machine.travel(NOON, tick=False):
        answers = in_threads(32, lambda number: ApiClient(client.key).get("me"))
    assert [answer.status_code for answer in answers].count(200) > 10


def test_each_key_has_its_own_limit_and_each_minute_begins_anew(client, settings):
    settings.API_RATE_LIMIT_PER_MINUTE = 2
    other = ApiClient(make_key(make_company("rival"), scopes=["read"]))
    with time_machine.travel(NOON, tick=False) as clock:
        assert [client.get("me").status_code for _ in range(3)] == [200, 200, 429]
        assert other.get("me").status_code == 200
        clock.move_to(NOON + timedelta(seconds=39.5))
        refused = client.get("me")
        assert (refused.status_code, refused["Retry-After"]) == (429, "1")
        clock.move_to(NOON + timedelta(seconds=40))
        assert client.get("me").status_code == 200


def test_a_count_that_the_cache_threw_out_starts_again(client, settings, monkeypatch):
    settings.API_RATE_LIMIT_PER_MINUTE = 2
    add = cache.add
    monkeypatch.setattr(
        cache, "add", lambda name, *rest, **more: add(name, *rest, **more) and cache.delete(name)
    )
    assert client.get("me").status_code == 503


def test_zero_is_no_limit(client, settings):
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    assert {client.get("me").status_code for _ in range(20)} == {200}

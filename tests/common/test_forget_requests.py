"""The archive-command base, on its first user: forgetting stored answers."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from common.idempotency.models import IdempotentRequest
from common.idempotency.services import KEPT_FOR

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 6, 12, 8, tzinfo=UTC)


def stored_answers(company, *ages):
    for number, age in enumerate(ages):
        IdempotentRequest.objects.create(
            company=company, kind="agents", key=f"k{number}", body_sha256="0" * 64, created_at=NOW - age
        )


def run(*arguments):
    out = StringIO()
    call_command("forget_requests", "--as-of", NOW.isoformat(), *arguments, stdout=out)
    return out.getvalue().strip()


def test_exactly_the_age_stays_and_a_second_older_goes(acme):
    stored_answers(acme, KEPT_FOR, KEPT_FOR + timedelta(seconds=1))
    assert run() == "forgotten 1"
    assert run() == "forgotten 0"
    assert IdempotentRequest.objects.get().key == "k0"


def test_a_trial_run_counts_the_same_rows_and_changes_nothing(acme):
    stored_answers(acme, *[KEPT_FOR + timedelta(days=day) for day in (1, 2, 3)])
    assert run("--dry-run") == "would have: forgotten 3"
    assert IdempotentRequest.objects.count() == 3


def test_a_limit_takes_the_oldest_first(acme):
    stored_answers(acme, *[KEPT_FOR + timedelta(days=day) for day in (1, 2, 3)])
    assert run("--limit", "2") == "forgotten 2"
    assert IdempotentRequest.objects.get().key == "k0"


@pytest.mark.parametrize("arguments", [("--limit", "0"), ("--as-of", "yesterday"), ("--as-of", "2026-13-40")])
def test_a_bad_option_is_refused(acme, arguments):
    with pytest.raises(CommandError):
        call_command("forget_requests", *arguments)


def test_a_time_without_a_zone_is_local(acme, settings):
    settings.TIME_ZONE = "Asia/Shanghai"
    stored_answers(acme, KEPT_FOR + timedelta(seconds=1))
    out = StringIO()
    call_command("forget_requests", "--as-of", "2026-06-12T16:00:00", stdout=out)
    assert out.getvalue().strip() == "forgotten 1"

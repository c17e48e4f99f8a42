"""`issue_api_key`: the key alone on the last line, working at once, and never shown again."""

from datetime import UTC, datetime

import pytest
import time_machine
from django.core.management import CommandError, call_command

from common.companies.models import ApiKey
from common.receipts.models import Receipt
from tests.commands.calls import lines, run
from tests.factories import ApiClient, make_agent

pytestmark = pytest.mark.django_db


def test_the_last_line_is_a_key_that_works(acme):
    make_agent(acme, "运维")
    key = lines("issue_api_key", "--company", "acme", "--name", "我的运行端", "--scope", "read")[-1]
    answer = ApiClient(key).get("agents")
    assert answer.status_code == 200
    assert [agent["name"] for agent in answer.json()["results"]] == ["运维"]


@pytest.mark.parametrize(
    "arguments", [("--scope", "report", "read"), ("--scope", "report", "--scope", "read", "--scope", "read")]
)
def test_scopes_are_collected_however_they_are_given(acme, arguments):
    run("issue_api_key", "--company", "acme", "--name", "k", *arguments)
    assert ApiKey.objects.get().scopes == ["read", "report"]


def test_only_a_hash_is_kept_and_a_receipt_says_who(acme):
    key = lines("issue_api_key", "--company", "acme", "--name", "k", "--scope", "read")[-1]
    row = ApiKey.objects.get()
    secret = key.rpartition("_")[2]
    assert secret not in str(row.__dict__)
    receipt = Receipt.objects.get()
    assert (receipt.trigger, receipt.actor_name) == ("api_key_issued", "command:issue_api_key")


def test_a_key_for_one_agent_reaches_no_other(acme, global_company):
    one, shared = make_agent(acme, "one"), make_agent(global_company, "shared")
    key = lines("issue_api_key", "--company", "acme", "--name", "k", "--scope", "read", "--agent", shared.pk)[
        -1
    ]
    assert ApiClient(key).get(f"agents/{shared.pk}").status_code == 200
    assert ApiClient(key).get(f"agents/{one.pk}").status_code == 404


def test_the_expiry_counts_days_from_now(acme):
    with time_machine.travel(datetime(2026, 6, 12, 8, tzinfo=UTC), tick=False):
        run("issue_api_key", "--company", "acme", "--name", "k", "--scope", "read", "--expires-days", 30)
    assert ApiKey.objects.get().expires_at == datetime(2026, 7, 12, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"company": "nobody"}, "nobody"),
        ({"name": "  "}, "100"),
        ({"name": "字" * 101}, "101"),
        ({"scope": ["read", "everything"]}, "everything"),
        ({"agent": 999_999}, "999999"),
        ({"expires_days": 0}, "--expires-days"),
        ({"expires_days": -1}, "--expires-days"),
        ({"expires_days": 10**9}, "--expires-days"),
    ],
)
def test_a_bad_option_is_named_and_makes_no_key(acme, changes, word):
    options = {"company": "acme", "name": "k", "scope": ["read"], **changes}
    with pytest.raises(CommandError, match=word):
        call_command("issue_api_key", **options)
    assert not ApiKey.objects.exists()


def test_an_agent_of_another_company_is_not_found(acme, rival):
    foreign = make_agent(rival, "theirs")
    with pytest.raises(CommandError, match=str(foreign.pk)):
        run("issue_api_key", "--company", "acme", "--name", "k", "--scope", "read", "--agent", foreign.pk)
    assert not ApiKey.objects.exists()

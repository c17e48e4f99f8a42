"""Old injections leave the list and still answer."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command

from common.receipts.models import Receipt
from evolution.knowledge.models import Injection, Outcome
from evolution.knowledge.tasks import archive_injections
from evolution.parameters.models import Parameter
from tests.factories import ApiClient, make_key
from tests.knowledge.items import make_knowledge

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 6, 12, tzinfo=UTC)


def aged(company, days, **fields):
    return Injection.objects.create(company=company, created_at=NOW - timedelta(days=days), **fields)


def run(*options, as_of="2026-06-12T00:00:00Z"):
    call_command("archive_injections", "--as-of", as_of, *options)


def test_older_than_the_companys_days_are_archived_once(acme, rival, capsys):
    Parameter.objects.create(company=rival, name="archive_days", value=7)
    stays, goes, theirs = aged(acme, 90), aged(acme, 91), aged(rival, 8)
    run("--dry-run")
    assert not Injection.objects.exclude(archived_at=None).exists()
    before = Receipt.objects.count()
    run()
    assert set(Injection.objects.exclude(archived_at=None)) == {goes, theirs}
    assert Receipt.objects.count() == before + 2
    run()
    assert Receipt.objects.count() == before + 2
    stays.refresh_from_db()
    assert stays.archived_at is None
    assert capsys.readouterr().out.count("2") >= 2


def test_one_company_at_most_so_many(acme, rival):
    for company in (acme, acme, rival):
        aged(company, 100)
    run("--company", "acme", "--limit", "1")
    assert list(Injection.objects.exclude(archived_at=None).values_list("company__slug", flat=True)) == [
        "acme"
    ]


def test_an_archived_injection_answers_and_takes_outcomes(acme):
    item = make_knowledge(acme)
    row = aged(acme, 400, items=[{"id": item.code, "kind": "use"}])
    assert archive_injections() == 1 and archive_injections() == 0
    runtime = ApiClient(make_key(acme, ["read", "report"]))
    assert runtime.get("injections").json()["count"] == 0
    assert runtime.get(f"injections/{row.injection_id}").status_code == 200
    sent = {"injection_id": str(row.injection_id), "result": "success"}
    assert runtime.post("outcomes", sent).status_code == 201
    assert Outcome.objects.get().injection == row

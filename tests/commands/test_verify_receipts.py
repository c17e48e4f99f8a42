"""`verify_receipts`: whatever is done to a receipt by hand, the first broken link is named."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from agents.services.agents import update_agent
from common.companies.models import Company
from common.receipts.models import Receipt, ReceiptHead, ReceiptLine, ReceiptText
from common.receipts.selectors import verify_chain
from tests.commands.calls import lines
from tests.conftest import append_only_lifted
from tests.factories import an_edit, make_agent

pytestmark = pytest.mark.django_db


@pytest.fixture
def three(acme, rival):
    """acme has the receipts 1 to 3, rival has one."""
    agent = make_agent(acme, "运维", rows=["先看日志"])
    update_agent(agent_id=agent.pk, fields={"description": "two"}, edit=an_edit())
    update_agent(agent_id=agent.pk, fields={"description": "三"}, edit=an_edit())
    make_agent(rival, "theirs")
    return acme


def by_hand(sql, *values):
    """What somebody with the database in hand can do: the guards taken off, and put back."""
    with append_only_lifted(), connection.cursor() as cursor:
        cursor.execute(sql, values)
        assert cursor.rowcount == 1


def receipt(company, number):
    return Receipt.objects.get(company=company, number=number)


def test_whole_chains_are_counted(three, global_company):
    assert lines("verify_receipts") == [
        "_global: 0 receipts, intact",
        "acme: 3 receipts, intact",
        "rival: 1 receipts, intact",
        "chains 3 receipts 4 broken 0",
    ]


def test_one_company_alone(three):
    assert lines("verify_receipts", "--company", "rival")[-1] == "chains 1 receipts 1 broken 0"


def changed_field(company):
    by_hand("UPDATE receipts_receipt SET actor_name = 'x' WHERE id = %s", receipt(company, 2).pk)


def changed_line(company):
    line = ReceiptLine.objects.filter(receipt=receipt(company, 2)).first()
    by_hand("UPDATE receipts_receiptline SET target = 'x' WHERE id = %s", line.pk)


def changed_text(company):
    text = ReceiptText.objects.filter(receipt=receipt(company, 2)).first()
    by_hand("UPDATE receipts_receipttext SET text = 'x' WHERE id = %s", text.pk)


def removed_text(company):
    text = ReceiptText.objects.filter(receipt=receipt(company, 2)).first()
    by_hand("DELETE FROM receipts_receipttext WHERE id = %s", text.pk)


def changed_number(company):
    by_hand("UPDATE receipts_receipt SET number = 9 WHERE id = %s", receipt(company, 2).pk)


def removed(company):
    _forget(receipt(company, 2))


def removed_last(company):
    _forget(receipt(company, 3))


def head_put_back(company):
    ReceiptHead.objects.filter(company=company).update(number=1, sha256=receipt(company, 1).sha256)


def head_of_another(company):
    ReceiptHead.objects.filter(company=company).update(sha256="0" * 64)


def head_removed(company):
    ReceiptHead.objects.filter(company=company).delete()


def _forget(row):
    with append_only_lifted(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM receipts_receipttext WHERE receipt_id = %s", [row.pk])
        cursor.execute("DELETE FROM receipts_receiptline WHERE receipt_id = %s", [row.pk])
        cursor.execute("DELETE FROM receipts_receipt WHERE id = %s", [row.pk])


@pytest.mark.parametrize(
    ("tampering", "number"),
    [
        (changed_field, 2),
        (changed_line, 2),
        (changed_text, 2),
        (removed_text, 2),
        (changed_number, 3),
        (removed, 3),
        (removed_last, 3),
        (head_put_back, 3),
        (head_of_another, 3),
        (head_removed, 3),
    ],
)
def test_the_first_broken_link_is_named(three, tampering, number):
    tampering(three)
    out = StringIO()
    with pytest.raises(CommandError, match=rf"acme is broken at receipt #{number}\."):
        call_command("verify_receipts", stdout=out)
    assert f"acme: BROKEN at receipt #{number}:" in out.getvalue()
    assert out.getvalue().splitlines()[-1].endswith("broken 1")
    assert lines("verify_receipts", "--company", "rival")[-1].endswith("broken 0")


def test_an_erased_text_keeps_the_chain_whole(three):
    with connection.cursor() as cursor:
        cursor.execute("UPDATE receipts_receipttext SET text = ''")
    assert lines("verify_receipts")[-1].endswith("broken 0")


def test_receipts_written_during_the_check_are_no_fault(three, monkeypatch):
    """The check reads the end of the chain first; what comes later only adds links behind it."""
    agent = three.agents.get()
    from common.receipts import selectors

    honest = selectors._in_order

    def slow(company_id):
        yield from list(honest(company_id))
        update_agent(agent_id=agent.pk, fields={"description": "四"}, edit=an_edit())

    monkeypatch.setattr(selectors, "_in_order", slow)
    assert verify_chain(three).intact
    assert receipt(three, 4)


def test_the_chain_of_a_company_that_is_gone_is_checked_too(three):
    company = Company.objects.create(slug="gone", name="Gone")
    make = make_agent(company)
    gone = company.pk
    with append_only_lifted(), connection.cursor() as cursor:
        for table in ("agents_agentversion", "experiences_experience"):
            cursor.execute(f"DELETE FROM {table} WHERE agent_id = %s", [make.pk])  # noqa: S608
        cursor.execute("DELETE FROM agents_agent WHERE id = %s", [make.pk])
        cursor.execute("DELETE FROM companies_company WHERE id = %s", [gone])
    assert f"company {gone} (deleted): 1 receipts, intact" in lines("verify_receipts")


def test_an_unknown_company_is_named(three):
    with pytest.raises(CommandError, match="nobody"):
        call_command("verify_receipts", company="nobody")

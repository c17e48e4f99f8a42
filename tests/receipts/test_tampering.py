"""Whatever is changed in the tables of receipts by hand, `verify_chain` names it; erasing words is no change."""

import random
from datetime import timedelta

import pytest
from django.db import connection, models, transaction
from django.utils import timezone

from agents.models import Agent
from common.companies.models import Company
from common.receipts.models import Receipt, ReceiptHead, ReceiptLine, ReceiptText
from common.receipts.rules import LINE_FIELDS, RECEIPT_FIELDS, Line
from common.receipts.selectors import verify_chain
from common.receipts.services import write_receipt
from tests.conftest import append_only_lifted
from tests.factories import SYSTEM, make_agent, make_company, make_person
from tests.sizes import PATIENT, sized

pytestmark = [pytest.mark.django_db, PATIENT]

TABLES = (Receipt, ReceiptLine, ReceiptText, ReceiptHead)
#: Numbers of rows alone, which nothing hangs on but the rows below; and what erasing empties.
UNHASHED = {(model, "id") for model in TABLES} | {(ReceiptText, "text")}


@pytest.fixture
def chain(acme):
    agent = make_agent(acme, name="运维", rows=["一", "two"])
    for number in range(10):
        write_receipt(
            company=acme,
            actor=SYSTEM,
            type="self-evolution",
            trigger=f"t{number}",
            at=timezone.now(),
            agent_id=agent.pk,
            agent_name=agent.name,
            proposal_code=f"EP-{number:03d}",
            lines=[
                Line(type="a", target="principles.md", content=f"内容 {number}", document_version=number),
                Line(type="b", target="x", status="user_rejected", rejection_reason=f"no {number}"),
            ],
            detail={"version": number},
            session_analysis={"session_id": f"s{number}"},
        )
    assert verify_chain(acme).intact
    return acme


def plain(model, company):
    rows = models.QuerySet(model)
    if model in (Receipt, ReceiptHead):
        return rows.filter(company=company)
    return rows.filter(receipt__company=company)


def other_value(field, value, dice):
    """Another value of the same type."""
    if isinstance(field, models.JSONField):
        return {**value, "forged": 1}
    if isinstance(field, models.DateTimeField):
        return value + timedelta(microseconds=1)
    if isinstance(field, models.ForeignKey | models.IntegerField):
        return (value or 0) + 1000
    flipped = list(value or "x")
    place = dice.randrange(len(flipped))
    flipped[place] = "y" if flipped[place] != "y" else "z"
    return "".join(flipped)


def change_a_column(company, dice):
    model = dice.choice(TABLES)
    row = dice.choice(list(plain(model, company)))
    fields = [field for field in model._meta.concrete_fields if (model, field.name) not in UNHASHED]
    field = dice.choice(fields)
    value = other_value(field, getattr(row, field.attname), dice)
    models.QuerySet(model).filter(pk=row.pk).update(**{field.attname: value})
    return f"{model.__name__}.{field.attname}"


def change_words(company, dice):
    row = dice.choice(list(plain(ReceiptText, company).exclude(text="")))
    models.QuerySet(ReceiptText).filter(pk=row.pk).update(text=row.text + " ")
    return "ReceiptText.text"


def remove_a_row(company, dice):
    model = dice.choice(TABLES)
    row = dice.choice(list(plain(model, company)))
    if model is Receipt:
        models.QuerySet(ReceiptText).filter(receipt=row)._raw_delete("default")
        models.QuerySet(ReceiptLine).filter(receipt=row)._raw_delete("default")
    if model is ReceiptLine:
        models.QuerySet(ReceiptText).filter(line=row)._raw_delete("default")
    models.QuerySet(model).filter(pk=row.pk)._raw_delete("default")
    return f"DELETE {model.__name__}"


def cut_the_tail(company, dice):
    last = plain(Receipt, company).order_by("-number")[: dice.randrange(1, 5)]
    for row in list(last):
        models.QuerySet(ReceiptText).filter(receipt=row)._raw_delete("default")
        models.QuerySet(ReceiptLine).filter(receipt=row)._raw_delete("default")
        models.QuerySet(Receipt).filter(pk=row.pk)._raw_delete("default")
    return "cut the tail"


def insert_a_copy(company, dice):
    row = dice.choice(list(plain(Receipt, company)))
    row.pk, row.number = None, dice.choice([0, plain(Receipt, company).count() + 1, 500])
    models.QuerySet(Receipt).bulk_create([row])
    return "INSERT Receipt"


def add_a_line(company, dice):
    row = dice.choice(list(plain(ReceiptLine, company)))
    row.pk, row.order = None, 77
    models.QuerySet(ReceiptLine).bulk_create([row])
    return "INSERT ReceiptLine"


def add_words(company, dice):
    receipt = plain(Receipt, company).filter(trigger="agent_created").first()
    models.QuerySet(ReceiptText).bulk_create(
        [ReceiptText(receipt=receipt, field="session_analysis", text="forged")]
    )
    return "INSERT ReceiptText"


def swap_two(company, dice):
    first, second = dice.sample(list(plain(Receipt, company)), 2)
    numbers = {first.pk: second.number, second.pk: first.number}
    models.QuerySet(Receipt).filter(pk=first.pk).update(number=9999)
    for pk in (second.pk, first.pk):
        models.QuerySet(Receipt).filter(pk=pk).update(number=numbers[pk])
    return "swap numbers"


def swap_words(company, dice):
    first, second = dice.sample(list(plain(ReceiptText, company).filter(field="content")), 2)
    models.QuerySet(ReceiptText).filter(pk=first.pk).update(text=second.text)
    return "swap texts" if first.text != second.text else change_words(company, dice)


def move_a_line(company, dice):
    line = dice.choice(list(plain(ReceiptLine, company)))
    other = plain(Receipt, company).exclude(pk=line.receipt_id).first()
    models.QuerySet(ReceiptLine).filter(pk=line.pk).update(receipt=other, order=500)
    return "move a line"


MUTATIONS = [
    *[change_a_column] * 4,
    *(change_words, remove_a_row, cut_the_tail, insert_a_copy, add_a_line, add_words, swap_two, swap_words),
    move_a_line,
]


def test_every_change_by_hand_is_found(chain):
    dice = random.Random(20260612)
    for turn in range(sized(200, 2000)):
        with transaction.atomic():
            with append_only_lifted():
                what = MUTATIONS[turn % len(MUTATIONS)](chain, dice)
            report = verify_chain(chain)
            assert not report.intact, what
            assert report.reason, what
            assert report.first_bad is not None
            transaction.set_rollback(True)
    assert verify_chain(chain).intact


def test_the_first_broken_link_is_named(chain):
    for receipt in plain(Receipt, chain).order_by("number"):
        with transaction.atomic():
            with append_only_lifted():
                models.QuerySet(Receipt).filter(pk=receipt.pk).update(actor_name="someone else")
            assert verify_chain(chain).first_bad == receipt.number
            transaction.set_rollback(True)


def test_erased_words_leave_the_chain_whole(chain):
    assert plain(ReceiptText, chain).update(text="") > 0
    assert verify_chain(chain).intact


def test_every_column_is_in_the_hash_or_known_to_be_kept_another_way():
    receipt = {field.attname for field in Receipt._meta.concrete_fields}
    assert receipt - set(RECEIPT_FIELDS) == {"id", "sha256", "previous_sha256"}
    line = {field.attname for field in ReceiptLine._meta.concrete_fields}
    assert line - set(LINE_FIELDS) == {"id", "receipt_id"}


def test_a_change_in_one_company_breaks_no_other_chain(chain, rival):
    make_agent(rival)
    with append_only_lifted():
        models.QuerySet(Receipt).filter(company=chain).update(actor_name="someone else")
    assert not verify_chain(chain).intact
    assert verify_chain(rival).intact


def test_people_agents_and_companies_may_go_and_their_receipts_stay(chain):
    before = list(plain(Receipt, chain).order_by("pk").values())
    person = make_person("owner", companies=[chain])
    models.QuerySet(Agent).update(owner=person)
    person.delete()
    empty = make_company("empty")
    write_receipt(company=empty, actor=SYSTEM, type="change", trigger="t", at=timezone.now())
    Company.objects.filter(pk=empty.pk).delete()
    assert list(plain(Receipt, chain).order_by("pk").values()) == before
    assert Receipt.objects.get(company_id=empty.pk).company_slug == "empty"
    assert verify_chain(empty).intact
    assert connection.vendor in ("sqlite", "postgresql")

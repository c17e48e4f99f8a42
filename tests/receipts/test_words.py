"""What a receipt speaks of is said in words, in the language of who reads it."""

import re
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone, translation

from common.receipts.choices import LINE_TYPES, TOTALS, TRIGGERS, LineStatus
from common.receipts.models import Receipt
from common.receipts.rules import TOTAL_OF_STATUS, Line
from common.receipts.services import write_receipt
from evolution.proposals.choices import ItemType, Status
from tests import factories

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("agents", "common", "evolution", "experiences")
CLOSED = (Status.REJECTED, Status.SKIPPED, Status.BLOCKED, Status.EXPIRED, Status.CONFLICT, Status.FAILED)


def said(pattern):
    """Every word that the code gives where `pattern` has its group."""
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    return {word for path in files for word in re.findall(pattern, path.read_text(encoding="utf-8"))}


def in_chinese(words):
    with translation.override("zh-hans"):
        return {key: str(label) for key, label in words.items()}


def test_every_occasion_that_the_code_names_has_a_word():
    assert said(r'trigger="([a-z_]+)"') - set(TRIGGERS) == set()
    assert {f"proposal_{status}" for status in CLOSED} <= set(TRIGGERS)
    assert {"phrase_created", "phrase_changed", "phrase_deleted"} <= set(TRIGGERS)


def test_every_type_of_a_line_has_a_word():
    assert said(r'\bLine\(\s*type="([a-z_]+)"') - set(LINE_TYPES) == set()
    assert set(ItemType.values) <= set(LINE_TYPES)


@pytest.mark.parametrize("words", [TRIGGERS, LINE_TYPES, TOTALS, dict(LineStatus.choices)])
def test_every_word_is_chinese_in_chinese(words):
    assert [word for word in in_chinese(words).values() if not re.search(r"[\u4e00-\u9fff]", word)] in (
        [],
        ["API"],
    )


def test_every_outcome_has_a_total_and_a_word():
    assert set(LineStatus.values) == set(TOTAL_OF_STATUS)
    assert set(TOTAL_OF_STATUS.values()) <= set(TOTALS)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("items taken out before the decision", "behaviour rule")),
        ("zh-hans", ("决定前取出的项", "行为规则")),
    ],
)
def test_the_pages_show_the_words_and_not_the_codes(signed_in, viewer, acme, language, words):
    line = Line(type="behavior_rule", target="principles.md", status="user_rejected", risk_level="high")
    write_receipt(
        company=acme,
        actor=factories.SYSTEM,
        type="self-evolution",
        trigger="items_taken_out",
        at=timezone.now(),
        lines=[line],
    )
    client, receipt = signed_in(viewer, language), Receipt.objects.get()
    pages = [
        client.get(reverse("admin:receipts_receipt_changelist")).content.decode(),
        client.get(reverse("admin:receipts_receiptline_changelist")).content.decode(),
        client.get(reverse("admin:receipts_receipt_change", args=[receipt.pk])).content.decode(),
    ]
    occasion, kind = words
    assert occasion in pages[0] and kind in pages[1]
    assert occasion in pages[2] and kind in pages[2]
    codes = ("items_taken_out", "behavior_rule", "user_rejected")
    assert not [code for code in codes for page in pages[1:] if f">{code}<" in page]

"""Phrases are kept through the service, with receipts; the lexicon follows every change."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from common.errors import ApplicationError
from common.receipts.models import Receipt, ReceiptText
from evolution.memory.choices import PhraseKind
from evolution.memory.models import Phrase
from evolution.memory.rules.lexicon import Kind
from evolution.memory.rules.signs import signs
from evolution.memory.selectors import lexicon
from evolution.memory.services import delete_phrase, save_phrase
from tests.factories import SYSTEM
from tests.memory.defaults import PHRASES

pytestmark = pytest.mark.django_db


def keep(text, kind="teach", language="zh", **fields):
    phrase = Phrase(kind=kind, language=language, text=text, **fields)
    return save_phrase(phrase=phrase, actor=SYSTEM, now=timezone.now())


def test_an_installation_starts_with_the_default_phrases():
    rows = Phrase.objects.enabled().values_list("kind", "language", "text")
    assert sorted(rows) == sorted(PHRASES)


def test_the_kinds_of_rows_and_rules_are_the_same():
    assert set(PhraseKind.values) == set(Kind)


@pytest.mark.parametrize(
    ("text", "stored", "key"),
    [
        (" 牢记 ", "牢记", "牢记"),
        ("Keep In  Mind", "Keep In  Mind", "keep in mind"),
        ("ＴＯＤＯ", "ＴＯＤＯ", "todo"),
    ],
)
def test_a_phrase_is_stored_as_typed_with_its_key(text, stored, key):
    phrase = keep(text)
    phrase.refresh_from_db()
    assert (phrase.text, phrase.key) == (stored, key)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"text": ""}, "/text"),
        ({"text": " \u200b "}, "/text"),
        ({"text": "长" * 101}, "/text"),
        ({"text": "记住\n这个"}, "/text"),
        ({"text": "记\u200b住"}, "/text"),
        ({"text": "\u202e记住"}, "/text"),
        ({"text": "..."}, "/text"),
        ({"text": "不要..."}, "/text"),
        ({"text": "…again"}, "/text"),
        ({"text": "a ... b ... c"}, "/text"),
        ({"text": "记住", "kind": "learn"}, "/kind"),
        ({"text": "souviens-toi", "language": "fr"}, "/language"),
        ({"text": "记住"}, "/text"),
        ({"text": "ＲＥＭＥＭＢＥＲ　this"}, "/text"),
    ],
)
def test_what_is_no_phrase_is_refused(fields, pointer):
    count, receipts = Phrase.objects.count(), Receipt.objects.count()
    with pytest.raises(ApplicationError) as refused:
        keep(**fields)
    assert [fault.pointer for fault in refused.value.errors] == [pointer]
    assert (Phrase.objects.count(), Receipt.objects.count()) == (count, receipts)


@pytest.mark.parametrize("text", ["长" * 100, "do ... twice", "c++", "👍", "(a+)+$", "\ufdfa" * 100])
def test_what_is_a_phrase_is_kept(text):
    assert keep(text, "positive").pk


def test_one_text_may_belong_to_two_kinds():
    assert keep("记住", "positive").pk


@pytest.mark.parametrize("change", [{"text": ""}, {"text": "x" * 101}, {"kind": "x"}, {"language": "x"}])
def test_the_database_refuses_what_the_service_refuses(change):
    phrase = keep("牢记")
    with pytest.raises(Exception, match=r"memory_phrase|too long"), transaction.atomic():
        Phrase.objects.filter(pk=phrase.pk).update(**change)


def test_the_database_holds_a_phrase_once_a_kind():
    with pytest.raises(IntegrityError), transaction.atomic():
        Phrase.objects.create(kind="teach", language="zh", text="记住", key="记住")


def test_a_phrase_stored_by_another_in_the_meantime_is_refused(monkeypatch):
    monkeypatch.setattr("evolution.memory.services.check_phrase", lambda phrase: None)
    with pytest.raises(ApplicationError):
        keep("记住")


def test_each_change_leaves_one_receipt_in_the_chain_of_global():
    phrase = keep("牢记")
    phrase.enabled = False
    save_phrase(phrase=phrase, actor=SYSTEM, now=timezone.now())
    save_phrase(phrase=phrase, actor=SYSTEM, now=timezone.now())
    target = f"phrases/{phrase.pk}/"
    delete_phrase(phrase=phrase, actor=SYSTEM, now=timezone.now())
    receipts = Receipt.objects.about(target)
    assert [(row.trigger, row.type, row.company_slug) for row in reversed(receipts)] == [
        ("phrase_created", "change", "_global"),
        ("phrase_changed", "change", "_global"),
        ("phrase_deleted", "change", "_global"),
    ]
    assert ReceiptText.objects.filter(receipt=receipts[0]).get().text == "牢记"


def test_the_lexicon_follows_every_change():
    assert not signs("牢记：x", lexicon()).teach
    phrase = keep("牢记")
    assert signs("牢记：x", lexicon()).teach
    # Past the service, without a new stamp.
    Phrase.objects.filter(pk=phrase.pk).update(enabled=False)
    assert not signs("牢记：x", lexicon()).teach
    Phrase.objects.filter(pk=phrase.pk).update(enabled=True)
    assert signs("牢记：x", lexicon()).teach
    delete_phrase(phrase=phrase, actor=SYSTEM, now=timezone.now())
    assert not signs("牢记：x", lexicon()).teach


def test_an_unchanged_lexicon_costs_one_query_and_is_not_built_again():
    known = lexicon()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert lexicon() is known
    assert len(queries) == 1

"""Phrases are kept and dropped here; every change leaves a receipt in the chain of `_global`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from common.actors import Actor
from common.companies.selectors import global_company
from common.errors import ApplicationError, invalid
from common.receipts.choices import ReceiptType
from common.receipts.rules import Line
from common.receipts.services import write_receipt
from common.text import clean, name_key
from evolution.memory.choices import PhraseKind, PhraseLanguage
from evolution.memory.models import Phrase
from evolution.memory.rules.phrases import phrase_fault

FIELDS = ("kind", "language", "text", "enabled")


@transaction.atomic
def save_phrase(*, phrase: Phrase, actor: Actor, now: datetime) -> Phrase:
    """Store a new or changed phrase; a save that changes nothing leaves no receipt.

    Errors: VALIDATION_ERROR for an unknown kind or language, a text that cannot be a phrase, or one that the
    kind has already.
    """
    before = Phrase.objects.select_for_update().filter(pk=phrase.pk).first()
    check_phrase(phrase)
    phrase.text = clean(phrase.text)
    phrase.key = name_key(phrase.text)
    changed = [name for name in FIELDS if before is None or getattr(before, name) != getattr(phrase, name)]
    if changed:
        _store(phrase)
        lines = [_line(phrase, name, str(getattr(phrase, name))) for name in changed]
        _receipt("phrase_created" if before is None else "phrase_changed", lines, actor, now)
    return phrase


@transaction.atomic
def delete_phrase(*, phrase: Phrase, actor: Actor, now: datetime) -> None:
    """Drop a phrase for good; its receipt names it."""
    lines = [_line(phrase, "text", phrase.text)]
    phrase.delete()
    _receipt("phrase_deleted", lines, actor, now)


def check_phrase(phrase: Phrase) -> None:
    """Raise VALIDATION_ERROR unless the phrase can be stored (see `save_phrase`)."""
    if phrase.kind not in PhraseKind.values:
        raise invalid("/kind", _("There is no such kind of phrase."))
    if phrase.language not in PhraseLanguage.values:
        raise invalid("/language", _("A phrase is Chinese (zh) or English (en)."))
    if fault := phrase_fault(phrase.text):
        raise fault
    same = Phrase.objects.filter(kind=phrase.kind, key=name_key(phrase.text)).exclude(pk=phrase.pk)
    if same.exists():
        raise _taken()


def _store(phrase: Phrase) -> None:
    try:
        with transaction.atomic():
            phrase.save()
    except IntegrityError:
        # Somebody stored the same phrase between the check and here.
        raise _taken()


def _taken() -> ApplicationError:
    return invalid("/text", _("This kind has the phrase already."))


def _line(phrase: Phrase, field: str, content: str) -> Line:
    return Line(type="phrase", target=f"phrases/{phrase.pk}/{field}", content=content)


def _receipt(trigger: str, lines: Sequence[Line], actor: Actor, now: datetime) -> None:
    write_receipt(
        company=global_company(), actor=actor, type=ReceiptType.CHANGE, trigger=trigger, at=now, lines=lines
    )

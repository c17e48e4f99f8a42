"""What a phrase may be before it is kept."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from common.errors import ApplicationError, invalid
from common.text import clean, is_blank, length, show_hidden
from evolution.memory.rules.folding import folded_phrase
from evolution.memory.rules.lexicon import GAP

MAX_LENGTH = 100


def phrase_fault(text: str) -> ApplicationError | None:
    """Why a text cannot be a phrase, or None. docs/rules.md: phrases."""
    text = clean(text)
    if is_blank(text) or length(text) > MAX_LENGTH:
        return invalid(
            "/text",
            _("A phrase has 1 to %(limit)d visible characters; this one has %(actual)d.")
            % {"limit": MAX_LENGTH, "actual": length(text)},
        )
    if "\n" in text or show_hidden(text) != text:
        return invalid("/text", _("A phrase is one line without characters that show nothing."))
    pieces = [piece.strip(" .") for piece in folded_phrase(text).split(GAP)]
    if not all(pieces) or len(pieces) > 2:
        return invalid("/text", _("“...” may stand once in a phrase, with words on both sides of it."))
    return None

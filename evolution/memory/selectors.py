"""Reads of the memory room."""

from __future__ import annotations

from functools import lru_cache

from evolution.memory.models import Phrase
from evolution.memory.rules.lexicon import Lexicon


def lexicon() -> Lexicon:
    """The enabled phrases, ready to be found; one query, and built anew only when one of them has changed.

    The phrases themselves are the key of the cache: there are dozens, and no stamp can miss a change of them.
    """
    rows = Phrase.objects.enabled().order_by("id").values_list("kind", "language", "text")
    return _built(tuple(rows))


@lru_cache(maxsize=4)
def _built(phrases: tuple[tuple[str, str, str], ...]) -> Lexicon:
    return Lexicon(phrases)

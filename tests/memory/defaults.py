"""The default phrases without a database, as (kind, language, text)."""

from importlib import import_module

from evolution.memory.rules.lexicon import Lexicon

_MIGRATION = import_module("evolution.memory.migrations.0002_default_phrases")
PHRASES = [(kind, language, text) for kind, language, texts in _MIGRATION.PHRASES for text in texts]
LEXICON = Lexicon(PHRASES)


def without(*kinds: str) -> Lexicon:
    """The default lexicon without some kinds of phrases."""
    return Lexicon(phrase for phrase in PHRASES if phrase[0] not in kinds)

"""The text of an item as a person reads it before they activate it, and its digest."""

from __future__ import annotations

import hashlib

from evolution.knowledge.models import Knowledge
from evolution.knowledge.rules.shown import shown_text
from evolution.knowledge.rules.values import TEXT_FIELDS


def text_of(item: Knowledge) -> str:
    """All that activating it stands for. docs/rules.md: shown knowledge."""
    return shown_text({name: getattr(item, name) for name in TEXT_FIELDS})


def shown_sha256(item: Knowledge) -> str:
    """SHA-256 of that text."""
    return hashlib.sha256(text_of(item).encode()).hexdigest()

"""What exactly is approved, as a hash; and when two drafts teach the same. Pure.

docs/rules.md: approved hash, learning key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from common.strict_json import canonical
from common.text import name_key


def text_sha256(text: str | None) -> str:
    """SHA-256 (hex) of a text's UTF-8; empty for no text."""
    return "" if text is None else hashlib.sha256(text.encode()).hexdigest()


def items_hash(items: Iterable[Mapping[str, Any]]) -> str:
    """SHA-256 over the canonical items (number, target, operation, base hash, new text, new target), by number."""
    fields = ("number", "target", "operation", "base_sha256", "new_text", "new_target")
    body = [{name: item[name] for name in fields} for item in sorted(items, key=lambda item: item["number"])]
    return hashlib.sha256(canonical(body)).hexdigest()


def learning_key(target: str, operation: str, text: str) -> str:
    """Equal for two drafts of the same learning point: same target, same normalised text, same kind of change.

    Creating a document and adding to it are one kind, because the same teaching does the one before the
    document exists and the other afterwards.
    """
    kind = "write" if operation in ("create", "update") else operation
    normalised = "\n".join((name_key(target), kind, name_key(text)))
    return hashlib.sha256(normalised.encode()).hexdigest()

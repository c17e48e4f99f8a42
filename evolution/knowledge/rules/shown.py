"""An item of knowledge as one text: what a person reads, and whose digest they confirm. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def shown_text(fields: Mapping[str, Any]) -> str:
    """Every field that is handed out, each under its name; different fields give different texts.

    Lists are numbered and lines of a text indented, so that no text can pass for another field.
    docs/rules.md: shown knowledge.
    """
    return "\n".join(line for name, value in fields.items() for line in _lines(name, value)) + "\n"


def _lines(name: str, value: Any) -> list[str]:
    if isinstance(value, list):
        return [f"{name}:", *(f"  {place}. {entry}" for place, entry in enumerate(value, 1))]
    if "\n" not in value:
        return [f"{name}: {value}"]
    return [f"{name}:", *(f"  {line}" for line in value.split("\n"))]

"""An item of knowledge as files hold it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal


@dataclass
class KnowledgeRecord:
    """What a file says of an item; `related` is number -> title, `warnings` tell what was odd.

    `number` None: it names none. `created` None: unknown. `is_deprecated`: it says so, whatever its confidence.
    """

    number: int | None = None
    title: str = ""
    category: str = ""
    tags: list[str] = field(default_factory=list)
    summary: str = ""
    details: str = ""
    code_example: str = ""
    code_language: str = ""
    references: list[str] = field(default_factory=list)
    related: dict[int, str] = field(default_factory=dict)
    created: date | None = None
    confidence: Decimal = Decimal("0.7")
    is_deprecated: bool = False
    warnings: list[str] = field(default_factory=list)

"""What a runtime may ask an injection for. Pure. docs/rules.md: injection request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from common.reading import Reading
from common.redaction import redact
from evolution.knowledge.rules.injection import MAX_KEYWORDS
from evolution.knowledge.rules.values import shortened

MAX_TASK = 4000
MAX_PHASE = 50
MAX_KEYWORD = 100
MAX_NAME = 200
MAX_ID = 2**63 - 1


@dataclass(frozen=True)
class InjectionRequest:
    """A cleaned request; absent texts are empty."""

    agent_id: int | None = None
    phase: str = ""
    keywords: Sequence[str] = ()
    task: str = ""
    workflow: str = ""
    conversation_id: str = ""


def checked_request(values: Mapping[str, Any]) -> InjectionRequest:
    """The request of these raw values. Errors: VALIDATION_ERROR naming every fault."""
    reading = Reading(values)
    request = InjectionRequest(
        agent_id=reading.whole("agent", 1, MAX_ID),
        phase=reading.text("phase", MAX_PHASE),
        keywords=reading.texts("keywords", MAX_KEYWORDS, MAX_KEYWORD),
        task=reading.text("task", MAX_TASK),
        workflow=reading.text("workflow", MAX_NAME),
        # Compared and shown: without secrets in both.
        conversation_id=shortened(redact(reading.text("conversation_id", MAX_NAME)).text, MAX_NAME),
    )
    reading.check()
    return request

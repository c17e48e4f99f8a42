"""Prompt data as the services would load it, without a database."""

from datetime import UTC, datetime

from prompt.rules.rendering import render
from prompt.rules.requests import checked_request
from prompt.rules.values import DocumentText, Notes, PromptData, Row

#: A Friday, 14:05 in Shanghai.
NOW = datetime(2026, 6, 12, 6, 5, tzinfo=UTC)


def some_data(rows=(), documents=(), **fields):
    """`rows` are contents, `documents` (path, text) pairs; ids count from 1."""
    loaded = {
        "experiences": tuple(Row(number, content) for number, content in enumerate(rows, 1)),
        "documents": tuple(
            DocumentText(number, path, text) for number, (path, text) in enumerate(documents, 1)
        ),
        "injection": Notes(),
        "lessons": Notes(),
    }
    values = {
        "agent_id": 7,
        "agent_name": "运维",
        "role": "你是运维助手。",
        "language": "zh",
        "company_slug": "acme",
        "time_zone": "Asia/Shanghai",
        "loaded": loaded,
        **fields,
    }
    return PromptData(**values)


def rendered(rows=(), documents=(), request=None, now=NOW, **fields):
    return render(some_data(rows, documents, **fields), checked_request(request or {}), now)


def section(result, key):
    """The text of one section, or None when it is not there."""
    return next((found.text for found in result.sections if found.key == key), None)

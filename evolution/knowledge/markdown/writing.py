"""Writes `k-NNN.md`. The same record gives the same bytes. docs/rules.md: knowledge files."""

from __future__ import annotations

import re

from common.counters.rules import format_code
from common.yaml_writing import flow_list, scalar
from evolution.knowledge.markdown.sections import HEADINGS, escaped
from evolution.knowledge.rules.records import KnowledgeRecord
from evolution.knowledge.rules.values import PREFIX

_FENCES_RE = re.compile(r"^\s*(`{3,})", re.MULTILINE)


def write_knowledge(record: KnowledgeRecord) -> str:
    """The file of an item, with LF line ends and one at the end. docs/rules.md: knowledge files."""
    related = "\n".join(
        f"- {format_code(PREFIX, number)}: {title}" for number, title in sorted(record.related.items())
    )
    sections = {
        "summary": escaped(record.summary),
        "details": escaped(record.details),
        "code": _fenced(escaped(record.code_example), record.code_language),
        "related": related,
    }
    body = [f"{HEADINGS[name]}\n\n{text}" for name, text in sections.items() if text]
    return "\n\n".join(["\n".join(["---", *_front_matter(record), "---"]), *body]) + "\n"


def _front_matter(record: KnowledgeRecord) -> list[str]:
    lines = [
        f"id: {format_code(PREFIX, record.number or 0)}",
        f"title: {scalar(record.title)}",
        f"category: {record.category}",
        f"tags: {flow_list(record.tags)}",
        f"created: {record.created.isoformat() if record.created else 'null'}",
        f"confidence: {record.confidence.normalize():f}",
        f"references: {flow_list(record.references)}",
    ]
    return [*lines, "status: deprecated"] if record.is_deprecated else lines


def _fenced(code: str, language: str) -> str:
    if not code:
        return ""
    longest = max((len(found) for found in _FENCES_RE.findall(code)), default=2)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}{language}\n{code}\n{fence}"

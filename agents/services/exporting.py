"""Agents as JSON objects that `import_agents` reads back to equal agents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agents.importers.own_export import MANY, ONE, VERSION
from agents.models import Agent
from agents.selectors import RESTORED_SETTINGS, body_documents
from experiences.selectors import rows_of


def export_agent(agent: Agent) -> dict[str, Any]:
    """Agent, rows in order, body documents; nothing learned, no `users/**`, no keys."""
    return {"format": ONE, "version": VERSION, **_body(agent)}


def export_collection(agents: Iterable[Agent]) -> dict[str, Any]:
    """Several agents in one object, each as in `export_agent`."""
    return {"format": MANY, "version": VERSION, "agents": [_body(agent) for agent in agents]}


def _body(agent: Agent) -> dict[str, Any]:
    settings = {name: getattr(agent, name) for name in RESTORED_SETTINGS}
    return {
        "agent": {**settings, "system_prompt": agent.system_prompt},
        "experiences": [
            {"content": row.content, "enabled": row.enabled, "sort_order": row.order}
            for row in rows_of(agent.pk)
        ],
        "documents": [{"path": document.path, "text": document.text} for document in body_documents(agent)],
    }

"""An agent as one JSON object that `import_agents` reads back to an equal agent."""

from __future__ import annotations

from typing import Any

from agents.models import Agent
from agents.selectors import RESTORED_SETTINGS, body_documents
from experiences.selectors import rows_of

FORMAT = "fieldbook.agent"


def export_agent(agent: Agent) -> dict[str, Any]:
    """Agent, rows in order, body documents; nothing learned, no `users/**`, no keys."""
    settings = {name: getattr(agent, name) for name in RESTORED_SETTINGS}
    return {
        "format": FORMAT,
        "version": 1,
        "agent": {**settings, "system_prompt": agent.system_prompt},
        "experiences": [
            {"content": row.content, "enabled": row.enabled, "sort_order": row.order}
            for row in rows_of(agent.pk)
        ],
        "documents": [{"path": document.path, "text": document.text} for document in body_documents(agent)],
    }

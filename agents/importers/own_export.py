"""The application's own JSON export: everything comes back as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _

from agents.importers.items import Draft, FailedItem, Item, finished, shown_name
from agents.importers.json_values import element_lines

ONE = "fieldbook.agent"
MANY = "fieldbook.agents"
VERSION = 1

_SWITCHES = ("enabled", "inject_session_recaps", "introspection_enabled")


def is_own_export(value: Any) -> bool:
    """Whether a JSON value calls itself an export of this application, of whatever version."""
    return isinstance(value, dict) and value.get("format") in (ONE, MANY)


def read_own_export(value: Mapping[str, Any], text: str, file: str) -> list[Item]:
    """The agents of an export; `text` is what `value` was read from. A faulty agent fails as a whole."""
    version = value.get("version")
    if version != VERSION or isinstance(version, bool):
        reason = _("version %(actual)s of the format is not known; this application reads version %(known)d")
        return [FailedItem(file, 1, reason % {"actual": repr(version)[:20], "known": VERSION})]
    if value["format"] == ONE:
        return [_agent(value, 1, file)]
    agents = value.get("agents")
    if not isinstance(agents, list):
        return [FailedItem(file, 1, str(_("“agents” must be a list")))]
    return [
        _agent(agent, line, file) for agent, line in zip(agents, element_lines(text, "agents"), strict=True)
    ]


def _agent(value: Any, line: int, file: str) -> Item:
    agent = value.get("agent") if isinstance(value, dict) else None
    if not isinstance(agent, dict):
        return FailedItem(file, line, str(_("“agent” must be an object with name and system_prompt")))
    rows, documents = value.get("experiences") or [], value.get("documents") or []
    fault = _shape_fault(rows, documents)
    if fault:
        return FailedItem(file, line, fault, shown_name(agent.get("name")))
    draft = Draft(
        line,
        name=agent.get("name"),
        description=agent.get("description"),
        system_prompt=agent.get("system_prompt"),
        language=agent.get("language"),
        tags=agent.get("tags"),
        skill_names=agent.get("skill_names"),
        experiences=[(row.get("content"), _enabled(row)) for row in _in_order(rows)],
        documents=[(document.get("path"), document.get("text")) for document in documents],
        settings={key: agent[key] for key in _SWITCHES if key in agent},
    )
    return finished(draft, file)


def _shape_fault(rows: Any, documents: Any) -> str:
    for name, values in (("experiences", rows), ("documents", documents)):
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            return str(_("“%s” must be a list of objects") % name)
    if any(type(row.get("sort_order", 0)) not in (int, type(None)) for row in rows):
        return str(_("“sort_order” must be a whole number"))
    return ""


def _enabled(row: Mapping[str, Any]) -> Any:
    return True if row.get("enabled") is None else row["enabled"]


def _in_order(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """By `sort_order` where given, else by list index; ties by list index."""
    positions = [
        index if row.get("sort_order") is None else row["sort_order"] for index, row in enumerate(rows)
    ]
    return [rows[index] for index in sorted(range(len(rows)), key=lambda index: (positions[index], index))]

"""Agents in YAML: mappings with role, goal and backstory, by key or in a list; Dify applications too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from agents.importers.dify import is_dify_app, read_dify
from agents.importers.items import Draft, Item, SkippedItem, as_text, finished
from common.errors import ApplicationError
from common.front_matter import FrontMatterWarning, read_mapping
from common.safe_yaml import Path, load_yaml_document
from common.text import is_blank, normalise_newlines

#: The parts of a role, in the order in which they are put together.
_PARTS = ("role", "goal", "backstory")


@dataclass
class _Reading:
    value: Any
    lines: Mapping[Path, int]
    warnings: list[FrontMatterWarning]


@dataclass(frozen=True)
class _Place:
    line: int
    agent: Mapping[str, Any]


def read_yaml_agents(text: str, file: str) -> list[Item]:
    """The agents of a YAML file, or one skipped item.

    Errors: `VALIDATION_ERROR` naming the line for what is not YAML, also when read leniently.
    """
    reading = _read(normalise_newlines(text))
    if is_dify_app(reading.value):
        return read_dify(reading.value, reading.lines, file, reading.warnings)
    places = list(_places(reading))
    if not any(_is_agent(place.agent) for place in places):
        reason = _("no agents (a mapping with role, goal and backstory) in this YAML file")
        return [SkippedItem(file, 1, str(reason))]
    drafts = [_draft(place) for place in places if _is_agent(place.agent)]
    for warning in reading.warnings:
        # A warning belongs to the agent that starts last above it.
        above = [draft for draft in drafts if draft.line <= warning.line]
        (above[-1] if above else drafts[0]).warnings.append((warning.line, warning.message))
    reason = _("no agent: a mapping without a role, or without goal and backstory")
    skipped = [SkippedItem(file, place.line, str(reason)) for place in places if not _is_agent(place.agent)]
    return sorted([*(finished(draft, file) for draft in drafts), *skipped], key=lambda item: item.line)


def _read(text: str) -> _Reading:
    try:
        document = load_yaml_document(text)
    except ApplicationError as strict:
        if strict.extra.get("refused"):
            raise
        try:
            value, warnings = read_mapping(text)
        except ApplicationError:
            raise strict from None
        return _Reading(value, _lines_of_keys(text, value), warnings)
    return _Reading(document.value, document.lines, [])


def _lines_of_keys(text: str, mapping: Mapping[str, Any]) -> dict[Path, int]:
    lines: dict[Path, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        key = line.split(":", 1)[0].strip()
        if line[:1].strip() and key in mapping:
            lines.setdefault((key,), number)
    return lines


def _places(reading: _Reading) -> Iterator[_Place]:
    """Every mapping that stands where an agent could: the file itself, or members of it or of `agents`."""
    value: Any = reading.value
    base: Path = ()
    if isinstance(value, dict) and isinstance(value.get("agents"), dict | list):
        value, base = value["agents"], ("agents",)
    if _is_agent(value):
        yield _Place(1, value)
        return
    members: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    for key, agent in members:
        if isinstance(agent, dict):
            yield _Place(reading.lines.get((*base, key), reading.lines.get(base, 1)), agent)


def _is_agent(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        return False
    return any(isinstance(value.get(part), str) for part in _PARTS[1:])


def _draft(place: _Place) -> Draft:
    agent = place.agent
    draft = Draft(
        line=place.line,
        name=as_text(agent.get("name") or agent["role"]),
        description=as_text(agent.get("description")),
        system_prompt=composed_role(agent),
    )
    missing = [part for part in _PARTS if not isinstance(agent.get(part), str) or is_blank(agent[part])]
    if missing:
        draft.warnings.append((place.line, str(_("without %s") % ", ".join(missing))))
    return draft


def composed_role(agent: Mapping[str, Any]) -> str:
    """One role definition of the parts, each under a heading with its own key.

    The keys stay as they are in the file, so that the text fits Chinese and English agents alike.
    """
    parts = [(part, agent[part].strip()) for part in _PARTS if isinstance(agent.get(part), str)]
    return "\n\n".join(f"## {part.capitalize()}\n\n{text}" for part, text in parts if text)

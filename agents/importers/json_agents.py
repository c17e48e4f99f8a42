"""Agents in JSON: the own export, lists of `{act, prompt}`, market descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from agents.importers.items import Draft, FailedItem, Item, SkippedItem, finished
from agents.importers.json_values import element_lines, load_json
from agents.importers.market import is_market_agent, read_market_agent
from agents.importers.own_export import is_own_export, read_own_export

_NAMES = ("act", "name")
_PROMPTS = ("prompt", "system_prompt")


def read_json_agents(text: str, file: str) -> list[Item]:
    """The agents of a JSON file, or one skipped item.

    Errors: `VALIDATION_ERROR` naming the line for what is not JSON.
    """
    text = text.removeprefix("\ufeff")
    value = load_json(text)
    if is_own_export(value):
        return read_own_export(value, text, file)
    if is_market_agent(value):
        return [read_market_agent(value, file)]
    if _is_pair(value):
        return [_pair(value, 1, file)]
    if isinstance(value, list) and any(map(_is_pair, value)):
        return [_pair(pair, line, file) for pair, line in zip(value, element_lines(text), strict=True)]
    reason = _("no agents (own export, or a list of objects with act and prompt) in this JSON file")
    return [SkippedItem(file, 1, str(reason))]


def _is_pair(value: Any) -> bool:
    return isinstance(value, dict) and bool(_key(value, _NAMES)) and bool(_key(value, _PROMPTS))


def _pair(value: Any, line: int, file: str) -> Item:
    if not isinstance(value, dict):
        return FailedItem(file, line, str(_("not an object with act and prompt")))
    return finished(
        Draft(
            line,
            name=value.get(_key(value, _NAMES)),
            description=value.get("description"),
            system_prompt=value.get(_key(value, _PROMPTS)),
        ),
        file,
    )


def _key(value: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((name for name in names if name in value), "")

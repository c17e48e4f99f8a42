"""The role definition."""

from __future__ import annotations

from typing import Any

from agents.models import Agent
from agents.rules.fields import checked_fields
from agents.rules.protection import Change
from agents.services.agents import change_fields
from agents.services.editing import Edit
from evolution.proposals.operations.base import Current, Operation, Place, Result, Wanted
from evolution.proposals.rules.reverse import reversed_change

ROLE_TARGET = "system_prompt"


class WriteRole(Operation):
    """The whole new text of `system_prompt`."""

    def target(self, agent: Agent, raw: str) -> str:
        return ROLE_TARGET

    def current(self, place: Place) -> Current:
        return Current(Agent.objects.values_list("system_prompt", flat=True).get(pk=place.agent.pk))

    def proposed(self, place: Place, base: str | None, wanted: Wanted) -> str | None:
        text = wanted.new_text if wanted.new_text is not None else f"{base or ''}\n\n{wanted.content}"
        return checked_fields({"system_prompt": text})["system_prompt"]

    def check(self, place: Place, new_text: str | None) -> None:
        checked_fields({"system_prompt": new_text or ""})

    def protected_changes(self, place: Place, base: str | None, new_text: str | None) -> list[Change]:
        return [Change(ROLE_TARGET, base, new_text)]

    def apply(self, place: Place, new_text: str | None, edit: Edit, note: str, code: str) -> Result:
        change_fields(place.agent, {"system_prompt": new_text}, edit)
        return Result()

    def revert(self, place: Place, item: Any, edit: Edit, note: str, code: str) -> Result:
        text = reversed_change(item.base_text, item.new_text, self.current(place).text)
        change_fields(place.agent, checked_fields({"system_prompt": text or ""}), edit)
        return Result()

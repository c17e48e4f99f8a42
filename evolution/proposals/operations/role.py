"""The role definition."""

from __future__ import annotations

from dataclasses import replace

from agents.models import Agent
from agents.rules.fields import checked_fields
from agents.services.agents import change_fields
from agents.services.editing import Edit
from evolution.proposals.operations.base import Applied, Current, Operation, Place, Result, Reversal, Wanted
from evolution.proposals.rules.reverse import reversed_change

ROLE_TARGET = "system_prompt"


class WriteRole(Operation):
    """The whole new text of `system_prompt`."""

    is_about_role = True

    def normalised(self, place: Place) -> Place:
        return replace(place, target=ROLE_TARGET, new_target="")

    def current(self, place: Place) -> Current:
        return Current(Agent.objects.values_list("system_prompt", flat=True).get(pk=place.agent.pk))

    def proposed(self, place: Place, base: str | None, wanted: Wanted) -> str | None:
        text = wanted.new_text if wanted.new_text is not None else f"{base or ''}\n\n{wanted.content}"
        return checked_fields({"system_prompt": text})["system_prompt"]

    def check(self, place: Place, new_text: str | None) -> None:
        checked_fields({"system_prompt": new_text or ""})

    def apply(self, place: Place, new_text: str | None, edit: Edit, note: str, code: str) -> Result:
        change_fields(place.agent, {"system_prompt": new_text}, edit)
        return Result()

    def reversal(self, place: Place, item: Applied) -> Reversal:
        now = self.current(place).text
        # With a line end after the last line, so that what was added behind it since is another line.
        found = reversed_change(*map(self.as_file, (item.base_text, item.new_text, now)))
        text = (found or "").removesuffix("\n")
        return Reversal(text, self.protected_changes(place, now, text))

    def revert(
        self, place: Place, item: Applied, reversal: Reversal, edit: Edit, note: str, code: str
    ) -> Result:
        change_fields(place.agent, checked_fields({"system_prompt": reversal.text or ""}), edit)
        return Result()

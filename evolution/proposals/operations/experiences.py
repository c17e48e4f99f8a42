"""Experience rows. As text a row is `- [x] content` (on) or `- [ ] content` (off), so that a switch is a difference."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from agents.services.editing import Edit
from common.errors import ApplicationError, invalid
from evolution.proposals.operations.base import Current, Operation, Place, Result, Wanted
from experiences.models import Experience
from experiences.rules import checked_content
from experiences.services import add_experience, change_experience, delete_experiences, restore_experience

TARGET = "experiences"
_ROW = re.compile(rf"{TARGET}/([0-9]{{1,18}})")


def as_text(content: str, enabled: bool) -> str:
    """A row as one text."""
    return f"- [{'x' if enabled else ' '}] {content}"


def content_of(text: str) -> str:
    """The content of a row's text; a text without the switch is the content itself."""
    return text[6:] if text[:6] in ("- [x] ", "- [ ] ") else text


def enabled_of(text: str) -> bool:
    """The switch of a row's text; on when it has none."""
    return not text.startswith("- [ ] ")


def said(wanted: Wanted) -> str:
    """The content that an item asks for."""
    return content_of(wanted.new_text) if wanted.new_text is not None else wanted.content


class AddExperience(Operation):
    """A new row at the end."""

    chains = False

    def target(self, agent: Agent, raw: str) -> str:
        return TARGET

    def current(self, place: Place) -> Current:
        return Current()

    def proposed(self, place: Place, base: str | None, wanted: Wanted) -> str | None:
        return as_text(said(wanted), True)

    def check(self, place: Place, new_text: str | None) -> None:
        checked_content(content_of(new_text or ""), "/content")

    def lines(self, place: Place, base: str | None) -> dict[str, Iterable[str]]:
        return {}  # the enabled rows are compared for every item anyway

    def apply(self, place: Place, new_text: str | None, edit: Edit, note: str, code: str) -> Result:
        row = add_experience(agent_id=place.agent.pk, content=content_of(new_text or ""), now=edit.now)
        return Result(values={"experience": row.pk})

    def revert(self, place: Place, item: Any, edit: Edit, note: str, code: str) -> Result:
        row = Experience.objects.filter(agent=place.agent, pk=item.result.get("experience")).first()
        if row is None or as_text(row.content, row.enabled) != as_text(content_of(item.new_text), True):
            raise ApplicationError(
                "ROLLBACK_CONFLICT", _("The added experience has been changed or deleted since.")
            )
        delete_experiences(agent_id=place.agent.pk, ids=[row.pk], now=edit.now)
        return Result()


class UpdateExperience(Operation):
    """Another content for one row; its place and switch stay."""

    def target(self, agent: Agent, raw: str) -> str:
        match = _ROW.fullmatch(raw.strip().casefold())
        if match is None:
            raise invalid("/target", _("The target of a row is experiences/<id>."))
        return f"{TARGET}/{int(match[1])}"

    def row(self, place: Place) -> Experience:
        pk = int(place.target.rsplit("/", 1)[1])
        row = Experience.objects.filter(agent=place.agent, pk=pk).first()
        if row is None:
            raise ApplicationError("AGENT_EXPERIENCE_NOT_FOUND", _("No such experience of this agent."))
        return row

    def current(self, place: Place) -> Current:
        row = self.row(place)
        return Current(as_text(row.content, row.enabled))

    def proposed(self, place: Place, base: str | None, wanted: Wanted) -> str | None:
        return as_text(said(wanted), enabled_of(base or ""))

    def check(self, place: Place, new_text: str | None) -> None:
        checked_content(content_of(new_text or ""), "/content")

    def lines(self, place: Place, base: str | None) -> dict[str, Iterable[str]]:
        return {}

    def apply(self, place: Place, new_text: str | None, edit: Edit, note: str, code: str) -> Result:
        self._set(place, new_text or "", edit)
        return Result()

    def revert(self, place: Place, item: Any, edit: Edit, note: str, code: str) -> Result:
        if self.current(place).text != item.new_text:
            raise ApplicationError("ROLLBACK_CONFLICT", _("The experience has been changed since."))
        self._set(place, item.base_text, edit)
        return Result()

    def _set(self, place: Place, text: str, edit: Edit) -> None:
        changes = {"content": content_of(text), "enabled": enabled_of(text)}
        change_experience(row=self.row(place), changes=changes, now=edit.now)


class DisableExperience(UpdateExperience):
    """The row stays, its line leaves the prompt."""

    def proposed(self, place: Place, base: str | None, wanted: Wanted) -> str | None:
        return as_text(content_of(base or ""), False)


class DeleteExperience(UpdateExperience):
    """The row is gone for good; rolling back brings it back at its old place under its old id."""

    chains = False

    def proposed(self, place: Place, base: str | None, wanted: Wanted) -> str | None:
        return None

    def check(self, place: Place, new_text: str | None) -> None:
        """Nothing is stored."""

    def apply(self, place: Place, new_text: str | None, edit: Edit, note: str, code: str) -> Result:
        row = self.row(place)
        delete_experiences(agent_id=place.agent.pk, ids=[row.pk], now=edit.now)
        return Result(values={"order": row.order})

    def revert(self, place: Place, item: Any, edit: Edit, note: str, code: str) -> Result:
        restore_experience(
            agent_id=place.agent.pk,
            row_id=int(place.target.rsplit("/", 1)[1]),
            content=content_of(item.base_text),
            enabled=enabled_of(item.base_text),
            position=item.result.get("order", 0),
            now=edit.now,
        )
        return Result()

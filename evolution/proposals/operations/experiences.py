"""Experience rows. As text a row is `- [x] content` (on) or `- [ ] content` (off), so that a switch is a difference."""

from __future__ import annotations

import re
from dataclasses import replace

from django.utils.translation import gettext_lazy as _

from agents.services.editing import Edit
from common.errors import ApplicationError, invalid
from common.text import clean
from evolution.proposals.operations.base import Applied, Current, Operation, Place, Result, Reversal, Wanted
from evolution.proposals.rules.reverse import rollback_conflict
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
    """The content that an item asks for, as a row would keep it."""
    return clean(content_of(wanted.new_text) if wanted.new_text is not None else wanted.content)


class AddExperience(Operation):
    """A new row at the end."""

    chains = False
    is_about_rows = True

    def normalised(self, place: Place) -> Place:
        return replace(place, target=TARGET, new_target="")

    def current(self, place: Place) -> Current:
        return Current()

    def proposed(self, place: Place, base: str | None, wanted: Wanted) -> str | None:
        return as_text(said(wanted), True)

    def check(self, place: Place, new_text: str | None) -> None:
        checked_content(content_of(new_text or ""), "/content")

    def apply(self, place: Place, new_text: str | None, edit: Edit, note: str, code: str) -> Result:
        row = add_experience(agent_id=place.agent.pk, content=content_of(new_text or ""), now=edit.now)
        return Result(values={"experience": row.pk})

    def reversal(self, place: Place, item: Applied) -> Reversal:
        row = _find(place, item.result.get("experience"))
        now = as_text(row.content, row.enabled) if row else None
        if row is None or now != item.new_text:
            message = _("The added experience has been changed or deleted since.")
            raise rollback_conflict(self.as_file(item.new_text), self.as_file(now), message)
        return Reversal(None, self.protected_changes(place, now, None))

    def revert(
        self, place: Place, item: Applied, reversal: Reversal, edit: Edit, note: str, code: str
    ) -> Result:
        delete_experiences(agent_id=place.agent.pk, ids=[item.result["experience"]], now=edit.now)
        return Result()


class UpdateExperience(Operation):
    """Another content for one row; its place and switch stay."""

    is_about_rows = True

    def normalised(self, place: Place) -> Place:
        match = _ROW.fullmatch(place.target.strip().casefold())
        if match is None:
            raise invalid("/target", _("The target of a row is experiences/<id>."))
        return replace(place, target=f"{TARGET}/{int(match[1])}", new_target="")

    def row(self, place: Place) -> Experience:
        """The row of the target. Errors: AGENT_EXPERIENCE_NOT_FOUND."""
        row = _find(place, _id_of(place.target))
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

    def apply(self, place: Place, new_text: str | None, edit: Edit, note: str, code: str) -> Result:
        self._set(place, new_text or "", edit)
        return Result()

    def reversal(self, place: Place, item: Applied) -> Reversal:
        row = _find(place, _id_of(place.target))
        now = as_text(row.content, row.enabled) if row else None
        if now != item.new_text:
            raise rollback_conflict(
                self.as_file(item.new_text), self.as_file(now), _("The experience has been changed since.")
            )
        return Reversal(item.base_text, self.protected_changes(place, now, item.base_text))

    def revert(
        self, place: Place, item: Applied, reversal: Reversal, edit: Edit, note: str, code: str
    ) -> Result:
        self._set(place, reversal.text or "", edit)
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

    def reversal(self, place: Place, item: Applied) -> Reversal:
        row = _find(place, _id_of(place.target))
        if row is not None:
            now = as_text(row.content, row.enabled)
            raise rollback_conflict(None, self.as_file(now), _("The deleted experience is there again."))
        return Reversal(item.base_text, self.protected_changes(place, None, item.base_text))

    def revert(
        self, place: Place, item: Applied, reversal: Reversal, edit: Edit, note: str, code: str
    ) -> Result:
        text = reversal.text or ""
        restore_experience(
            agent_id=place.agent.pk,
            row_id=_id_of(place.target),
            content=content_of(text),
            enabled=enabled_of(text),
            position=item.result.get("order", 0),
            now=edit.now,
        )
        return Result()


def _id_of(target: str) -> int:
    return int(target.rsplit("/", 1)[1])


def _find(place: Place, pk: int | None) -> Experience | None:
    return None if pk is None else Experience.objects.filter(agent=place.agent, pk=pk).first()

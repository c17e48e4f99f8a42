"""Documents: create and update, delete, rename."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

from agents.models import Agent, Document
from agents.rules.documents import checked_text
from agents.rules.paths import is_user_path, normalise_path, path_key
from agents.rules.protection import Change, rename_changes
from agents.selectors import current_text, find_document
from agents.services.documents import remove_document, write_text
from agents.services.editing import Edit
from common.companies.models import Company
from common.errors import ApplicationError, invalid
from evolution.proposals.operations.base import Current, Operation, Place, Result, Wanted
from evolution.proposals.rules.placement import heading_for, with_line
from evolution.proposals.rules.reverse import reversed_change


def owner_of(place: Place, target: str) -> Company:
    """Whose document a target is: the proposal's company for `users/**`, else the agent's."""
    return place.company if is_user_path(target) else place.agent.company


def found(place: Place, target: str) -> Document | None:
    """The document of a target, deleted ones too."""
    return find_document(place.agent, owner_of(place, target), target)


def remove(place: Place, edit: Edit, note: str, code: str) -> Result:
    """Delete the document of the target."""
    version = remove_document(
        agent=place.agent,
        company=owner_of(place, place.target),
        path=place.target,
        edit=edit,
        note=note,
        proposal_code=code,
    )
    return Result(document_version=version.number)


class WriteDocument(Operation):
    """Create and update: the whole new text of a path."""

    def target(self, agent: Agent, raw: str) -> str:
        return normalise_path(raw)

    def current(self, place: Place) -> Current:
        document = found(place, place.target)
        text = current_text(document)
        return Current(text, document.current_version if document and text is not None else None)

    def proposed(self, place: Place, base: str | None, wanted: Wanted) -> str | None:
        if wanted.new_text is not None:
            return wanted.new_text
        return with_line(base or "", wanted.content, heading_for(wanted.item_type, place.agent.language))

    def check(self, place: Place, new_text: str | None) -> None:
        if new_text is None:
            raise invalid("/new_text", _("The text is missing."))
        checked_text(path_key(place.target), new_text)

    def protected_changes(self, place: Place, base: str | None, new_text: str | None) -> list[Change]:
        return [Change(place.target, base, new_text)]

    def apply(self, place: Place, new_text: str | None, edit: Edit, note: str, code: str) -> Result:
        version = write_text(
            agent=place.agent,
            company=owner_of(place, place.target),
            path=place.target,
            text=new_text or "",
            edit=edit,
            note=note,
            proposal_code=code,
        )
        return Result(document_version=version.number)

    def revert(self, place: Place, item: Any, edit: Edit, note: str, code: str) -> Result:
        now = self.current(place).text
        text = reversed_change(item.base_text, item.new_text, now)
        if text is not None:
            return WriteDocument.apply(self, place, text, edit, note, code)
        return remove(place, edit, note, code)


class DeleteDocument(WriteDocument):
    """The document is gone; its history stays."""

    chains = False

    def current(self, place: Place) -> Current:
        now = super().current(place)
        if now.text is None:
            raise ApplicationError("NOT_FOUND", _("No such document of this agent."))
        return now

    def proposed(self, place: Place, base: str | None, wanted: Wanted) -> str | None:
        return None

    def check(self, place: Place, new_text: str | None) -> None:
        """Nothing is stored."""

    def apply(self, place: Place, new_text: str | None, edit: Edit, note: str, code: str) -> Result:
        return remove(place, edit, note, code)

    def revert(self, place: Place, item: Any, edit: Edit, note: str, code: str) -> Result:
        if WriteDocument.current(self, place).text is not None:
            raise ApplicationError("ROLLBACK_CONFLICT", _("The path has been written again since."))
        return WriteDocument.apply(self, place, item.base_text, edit, note, code)


class RenameDocument(DeleteDocument):
    """Delete and create in one: the text moves to `new_target`, which must be free."""

    def proposed(self, place: Place, base: str | None, wanted: Wanted) -> str | None:
        return wanted.new_text if wanted.new_text is not None else base

    def check(self, place: Place, new_text: str | None) -> None:
        if not place.new_target:
            raise invalid("/new_target", _("A rename needs the new path."))
        if is_user_path(place.target) != is_user_path(place.new_target):
            raise invalid(
                "/new_target", _("A document cannot move between the agent's body and a user's files.")
            )
        if current_text(found(place, place.new_target)) is not None:
            raise invalid("/new_target", _("There is a document of the new path already."))
        checked_text(path_key(place.new_target), new_text)

    def protected_changes(self, place: Place, base: str | None, new_text: str | None) -> list[Change]:
        return rename_changes(place.target, place.new_target, old_text=base or "", new_text=new_text)

    def apply(self, place: Place, new_text: str | None, edit: Edit, note: str, code: str) -> Result:
        super().apply(place, None, edit, note, code)
        moved = Place(place.agent, place.company, place.new_target)
        return WriteDocument.apply(self, moved, new_text, edit, note, code)

    def revert(self, place: Place, item: Any, edit: Edit, note: str, code: str) -> Result:
        moved = Place(place.agent, place.company, place.new_target)
        if WriteDocument.current(self, moved).text != item.new_text:
            raise ApplicationError("ROLLBACK_CONFLICT", _("The renamed document has changed since."))
        remove(moved, edit, note, code)
        return WriteDocument.apply(self, place, item.base_text, edit, note, code)

"""Documents: create and update, delete, rename."""

from __future__ import annotations

from dataclasses import replace

from django.utils.translation import gettext_lazy as _

from agents.models import Document
from agents.rules.documents import checked_text
from agents.rules.paths import is_user_path, normalise_path, path_key
from agents.rules.protection import Change, rename_changes
from agents.selectors import current_text, find_document
from agents.services.documents import remove_document, write_text
from agents.services.editing import Edit
from common.companies.models import Company
from common.errors import ApplicationError, invalid
from evolution.proposals.operations.base import Applied, Current, Operation, Place, Result, Reversal, Wanted
from evolution.proposals.rules.placement import heading_for, with_line
from evolution.proposals.rules.reverse import reversed_change, rollback_conflict

#: First parts of targets that stand for something other than a document.
RESERVED = frozenset({"experiences", "parameters", "system_prompt"})


def owner_of(place: Place, target: str) -> Company:
    """Whose document a target is: the proposal's company for `users/**`, else the agent's."""
    return place.company if is_user_path(target) else place.agent.company


def found(place: Place, target: str) -> Document | None:
    """The document of a target, deleted ones too."""
    return find_document(place.agent, owner_of(place, target), target)


def text_now(place: Place, target: str) -> str | None:
    """The current text at a target; None when there is none."""
    return current_text(found(place, target))


def write(place: Place, target: str, text: str, edit: Edit, note: str, code: str) -> Result:
    """Make `text` the text of the target; equal text adds no version."""
    document = found(place, target)
    if document is not None and current_text(document) == text:
        return Result(document_version=document.current_version)
    version = write_text(
        agent=place.agent,
        company=owner_of(place, target),
        path=target,
        text=text,
        edit=edit,
        note=note,
        proposal_code=code,
    )
    return Result(document_version=version.number)


def remove(place: Place, target: str, edit: Edit, note: str, code: str) -> Result:
    """Delete the document of the target; its history stays."""
    version = remove_document(
        agent=place.agent,
        company=owner_of(place, target),
        path=target,
        edit=edit,
        note=note,
        proposal_code=code,
    )
    return Result(document_version=version.number)


def nothing_in(path: str) -> str:
    """A text of the path's format without any section."""
    return "{}" if path_key(path).endswith(".json") else ""


class WriteDocument(Operation):
    """Create and update: the whole new text of a path."""

    def normalised(self, place: Place) -> Place:
        target = self._spelling(place, place.target, "/target")
        new_target = self._spelling(place, place.new_target, "/new_target") if place.new_target else ""
        return replace(place, target=target, new_target=new_target)

    def _spelling(self, place: Place, raw: str, pointer: str) -> str:
        """The normal form, spelled as the document that exists."""
        path = normalise_path(raw)
        if path_key(path).split("/", 1)[0] in RESERVED:
            raise invalid(pointer, _("“%(path)s” is no document; choose another path.") % {"path": path})
        document = found(place, path)
        return document.path if document else path

    def touches_body(self, place: Place) -> bool:
        return not is_user_path(place.target)

    def as_file(self, text: str | None) -> str:
        return text or ""

    def current(self, place: Place) -> Current:
        document = found(place, place.target)
        text = current_text(document)
        return Current(text, document.current_version if document and text is not None else None)

    def proposed(self, place: Place, base: str | None, wanted: Wanted) -> str | None:
        if wanted.new_text is not None:
            return wanted.new_text
        # Where rules stand, a lone heading may be the section of what must never be done.
        apart = wanted.item_type == "behavior_rule"
        heading = heading_for(wanted.item_type, place.agent.language)
        return with_line(base or "", wanted.content, heading, apart=apart)

    def check(self, place: Place, new_text: str | None) -> None:
        if new_text is None:
            raise invalid("/new_text", _("The text is missing."))
        checked_text(path_key(place.target), new_text)

    def apply(self, place: Place, new_text: str | None, edit: Edit, note: str, code: str) -> Result:
        return write(place, place.target, new_text or "", edit, note, code)

    def reversal(self, place: Place, item: Applied) -> Reversal:
        now = text_now(place, place.target)
        text = reversed_change(item.base_text, item.new_text, now)
        # A document that the change itself made may go again, unless a protected part would go with it.
        left = nothing_in(place.target) if text is None else text
        return Reversal(text, self.protected_changes(place, now, left))

    def revert(
        self, place: Place, item: Applied, reversal: Reversal, edit: Edit, note: str, code: str
    ) -> Result:
        if reversal.text is None:
            return remove(place, place.target, edit, note, code)
        return write(place, place.target, reversal.text, edit, note, code)


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
        return remove(place, place.target, edit, note, code)

    def reversal(self, place: Place, item: Applied) -> Reversal:
        now = text_now(place, place.target)
        if now is not None:
            raise rollback_conflict(None, now, _("The path has been written again since."))
        return Reversal(item.base_text, [Change(place.target, None, item.base_text)])


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
        if text_now(place, place.new_target) is not None:
            raise invalid("/new_target", _("There is a document of the new path already."))
        checked_text(path_key(place.new_target), new_text)

    def protected_changes(self, place: Place, base: str | None, new_text: str | None) -> list[Change]:
        if not place.new_target:
            return [Change(place.target, base, None)]
        return rename_changes(place.target, place.new_target, old_text=base or "", new_text=new_text)

    def apply(self, place: Place, new_text: str | None, edit: Edit, note: str, code: str) -> Result:
        remove(place, place.target, edit, note, code)
        return write(place, place.new_target, new_text or "", edit, note, code)

    def reversal(self, place: Place, item: Applied) -> Reversal:
        now = text_now(place, place.new_target)
        if now != item.new_text:
            raise rollback_conflict(item.new_text, now, _("The renamed document has changed since."))
        if text_now(place, place.target) is not None:
            raise rollback_conflict(None, item.new_text, _("The path has been written again since."))
        back = rename_changes(
            place.new_target, place.target, old_text=item.new_text or "", new_text=item.base_text
        )
        return Reversal(item.base_text, back)

    def revert(
        self, place: Place, item: Applied, reversal: Reversal, edit: Edit, note: str, code: str
    ) -> Result:
        remove(place, place.new_target, edit, note, code)
        return write(place, place.target, reversal.text or "", edit, note, code)

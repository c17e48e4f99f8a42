"""What an operation does: read what is there, say what would be there, write it, take it back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.models import Agent
from agents.rules.protection import Change
from agents.services.editing import Edit
from common.companies.models import Company
from common.errors import ApplicationError, Fault


@dataclass(frozen=True)
class Place:
    """Where an operation works: an agent, the company whose proposal it is, a target, perhaps a new one."""

    agent: Agent
    company: Company
    target: str
    new_target: str = ""


@dataclass(frozen=True)
class Current:
    """What is at the target now; `text` None = nothing. `version` is a document's, None elsewhere."""

    text: str | None = None
    version: int | None = None


@dataclass(frozen=True)
class Wanted:
    """What an item asks for: a `content` to be placed, or a whole `new_text` (which then counts)."""

    content: str
    new_text: str | None
    item_type: str


@dataclass(frozen=True)
class Result:
    """What an applied operation did, kept on the item for the receipt and for rolling back."""

    document_version: int | None = None
    values: Mapping[str, Any] = field(default_factory=dict)


class Operation(ABC):
    """One kind of change. All methods are called with the agent's lock held where they write."""

    #: Whether a later item on the same target starts from what this one leaves.
    chains = True

    @abstractmethod
    def current(self, place: Place) -> Current:
        """What is there now. Errors: NOT_FOUND when the operation needs something that is not there."""

    @abstractmethod
    def proposed(self, place: Place, base: str | None, wanted: Wanted) -> str | None:
        """The text that would be there: the whole one if given, else the content where it belongs. None = gone."""

    def target(self, agent: Agent, raw: str) -> str:
        """The target in its normal form. Errors: PATH_INVALID, VALIDATION_ERROR."""
        return raw

    def faults(self, place: Place, new_text: str | None) -> list[Fault]:
        """Why the new text could not be stored; empty when it could."""
        try:
            self.check(place, new_text)
        except ApplicationError as error:
            return list(error.errors) or [Fault("", error.code, error.message)]
        return []

    @abstractmethod
    def check(self, place: Place, new_text: str | None) -> None:
        """Raise what storing `new_text` would raise."""

    def protected_changes(self, place: Place, base: str | None, new_text: str | None) -> list[Change]:
        """The changes that the protection rules must judge; none for targets that are no documents."""
        return []

    def lines(self, place: Place, base: str | None) -> dict[str, Iterable[str]]:
        """Existing lines that a new one may repeat or contradict, by place."""
        return {place.target: (base or "").splitlines()}

    @abstractmethod
    def apply(self, place: Place, new_text: str | None, edit: Edit, note: str, code: str) -> Result:
        """Write it. The caller has checked state, rights, protection and that the base is still current."""

    @abstractmethod
    def revert(self, place: Place, item: Any, edit: Edit, note: str, code: str) -> Result:
        """Write the text before the change again (byte-identical). Errors: ROLLBACK_CONFLICT."""

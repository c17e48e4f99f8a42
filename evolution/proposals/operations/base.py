"""What an operation does: read what is there, say what would be there, write it, take it back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agents.models import Agent
from agents.rules.paths import path_key
from agents.rules.protection import Change
from agents.services.editing import Edit
from common.companies.models import Company
from common.errors import ApplicationError, Fault
from evolution.proposals.rules.entries import entries


@dataclass(frozen=True)
class Approved:
    """What is known of an approved item when it is applied: on which text it was approved, by whom, why, and the
    parameter change that it takes back.
    """

    base: str | None = None
    by: str = ""
    reason: str = ""
    reverts: int | None = None


@dataclass(frozen=True)
class Place:
    """Where an operation works: an agent, the company whose proposal it is, a target, perhaps a new one.

    `beside` are the texts that earlier items of the same proposal leave, by their target's key. A proposal
    about parameters has no agent, and their operation never asks for it.
    """

    agent: Agent
    company: Company
    target: str
    new_target: str = ""
    beside: Mapping[str, str | None] = field(default_factory=dict)
    approved: Approved = Approved()


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


@dataclass(frozen=True)
class Reversal:
    """What taking an item back would do: the text at its target then (None = gone), as the rules must judge it."""

    text: str | None
    changes: Sequence[Change] = ()


class Applied(Protocol):
    """What is known of an applied item."""

    base_text: str | None
    new_text: str | None
    result: Mapping[str, Any]


class Operation(ABC):
    """One kind of change. All methods are called with the agent's lock held where they write."""

    #: Whether a later item on the same target starts from what this one leaves.
    chains = True
    #: Whether it is compared with the agent's rows as its own lines, not with those of a document.
    is_about_rows = False
    #: The role definition is one text that always exists.
    is_about_role = False
    #: Whether a text that could not be stored is kept in a draft with its fault, to be edited.
    keeps_faulty = True

    def normalised(self, place: Place) -> Place:
        """The place with its target(s) in their one spelling. Errors: PATH_INVALID, VALIDATION_ERROR."""
        return place

    def key(self, place: Place) -> str:
        """Equal for two normalised places that are the same target."""
        return path_key(place.target)

    def touches_body(self, place: Place) -> bool:
        """Whether it changes the body of the agent, which all companies see when the agent is shared."""
        return True

    @abstractmethod
    def current(self, place: Place) -> Current:
        """What is there now. Errors: NOT_FOUND when the operation needs something that is not there."""

    @abstractmethod
    def proposed(self, place: Place, base: str | None, wanted: Wanted) -> str | None:
        """The text that would be there: the whole one if given, else the content where it belongs. None = gone."""

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
        """The changes that the protection rules must judge."""
        return [Change(place.target, base, new_text)]

    def as_file(self, text: str | None) -> str:
        """A text of the target as its difference shows it: what is no file has no line end to miss."""
        return f"{text}\n" if text else ""

    def lines(self, base: str | None) -> Iterable[str]:
        """What the target says already, entry by entry: a new line may repeat or contradict it."""
        return (entry.text for entry in entries(base or ""))

    @abstractmethod
    def apply(self, place: Place, new_text: str | None, edit: Edit, note: str, code: str) -> Result:
        """Write it. The caller has checked state, rights, protection and that the base is still current."""

    @abstractmethod
    def reversal(self, place: Place, item: Applied) -> Reversal:
        """What rolling back would write (the text before the change, byte-identical where nothing else happened).

        Errors: ROLLBACK_CONFLICT.
        """

    @abstractmethod
    def revert(
        self, place: Place, item: Applied, reversal: Reversal, edit: Edit, note: str, code: str
    ) -> Result:
        """Write it. The caller has checked the reversal's changes."""

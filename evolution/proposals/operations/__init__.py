"""One module a family of operations; `operation_for` finds the one that an item needs."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from agents.rules.paths import normalise_path, path_key
from common.errors import ApplicationError, invalid
from evolution.proposals.operations.base import Approved, Current, Operation, Place, Result, Reversal, Wanted
from evolution.proposals.operations.documents import DeleteDocument, RenameDocument, WriteDocument
from evolution.proposals.operations.experiences import (
    AddExperience,
    DeleteExperience,
    DisableExperience,
    UpdateExperience,
)
from evolution.proposals.operations.parameters import SET_PARAMETER, SetParameter
from evolution.proposals.operations.role import ROLE_TARGET, WriteRole

__all__ = [
    "SET_PARAMETER",
    "Approved",
    "Current",
    "Operation",
    "Place",
    "Result",
    "Reversal",
    "Wanted",
    "operation_for",
]

_WRITE = WriteDocument()
_REGISTRY: dict[str, Operation] = {
    "create": _WRITE,
    "update": _WRITE,
    "delete": DeleteDocument(),
    "rename": RenameDocument(),
    "add_experience": AddExperience(),
    "update_experience": UpdateExperience(),
    "disable_experience": DisableExperience(),
    "delete_experience": DeleteExperience(),
    SET_PARAMETER: SetParameter(),
}
_ROLE = WriteRole()


def operation_for(operation: str, target: str) -> Operation:
    """The operation of an item. Errors: VALIDATION_ERROR for an unknown one, or one that the target cannot have."""
    found = _REGISTRY.get(operation)
    if found is None:
        known = ", ".join(_REGISTRY)
        raise invalid("/operation", _("Unknown operation; there are: %(known)s.") % {"known": known})
    if isinstance(found, WriteDocument) and _is_role(target):
        if operation != "update":
            raise invalid("/operation", _("The role definition can only be updated."))
        return _ROLE
    return found


def _is_role(target: str) -> bool:
    """Whether the target, however it is spelled, is the role definition."""
    try:
        return path_key(normalise_path(target)) == ROLE_TARGET
    except ApplicationError:
        return False

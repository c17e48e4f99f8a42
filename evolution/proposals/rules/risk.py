"""How risky a change is, by where it writes alone. Pure. docs/rules.md: risk."""

from __future__ import annotations

from collections.abc import Iterable

from agents.rules.paths import DocumentKind, document_kind

ORDER = ("low", "medium", "high", "forbidden")

_BY_KIND = {
    DocumentKind.USER_PROFILE: "low",
    DocumentKind.USER_MEMORY: "low",
    DocumentKind.MEMORY: "medium",
    DocumentKind.SKILL: "medium",
    DocumentKind.WORKFLOW: "medium",
}
#: Operations that write a document under the path in `target` (and `new_target`).
DOCUMENT_OPERATIONS = frozenset({"create", "update", "delete", "rename"})


def risk_of(operation: str, target: str, new_target: str = "") -> str:
    """low, medium or high, for normalised targets; of a rename the riskier of both names.

    Rows and parameters are medium; a document of a kind that the table does not name is high, whatever the
    caller says.
    """
    if operation not in DOCUMENT_OPERATIONS:
        return "medium"
    return highest(_BY_KIND.get(document_kind(path), "high") for path in (target, new_target) if path)


def highest(risks: Iterable[str]) -> str:
    """The highest risk of several; low for none."""
    return max(risks, key=ORDER.index, default="low")

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


def risk_of(operation: str, target: str, new_target: str = "", *, agent_id: int | None) -> str:
    """low, medium or high, for normalised targets; of a rename the riskier of both names.

    Rows and parameters are medium; a document of a kind that the table does not name is high, whatever the
    caller says. What a user shares with another agent than `agent_id` is such a document.
    """
    if operation not in DOCUMENT_OPERATIONS:
        return "medium"
    return highest(_risk_of_document(path, agent_id) for path in (target, new_target) if path)


def _risk_of_document(path: str, agent_id: int | None) -> str:
    kind = document_kind(path)
    if kind is DocumentKind.USER_MEMORY and path.split("/")[3] != str(agent_id):
        return "high"
    return _BY_KIND.get(kind, "high")


def highest(risks: Iterable[str]) -> str:
    """The highest risk of several; low for none."""
    return max(risks, key=ORDER.index, default="low")

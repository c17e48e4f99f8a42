"""How risky a change is, by its target alone. Pure. docs/rules.md: risk."""

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


def risk_of(target: str) -> str:
    """low, medium or high for a normalised target; whatever the caller says, unknown targets are high."""
    root = target.split("/", 1)[0].casefold()
    if root in ("experiences", "parameters"):
        return "medium"
    return _BY_KIND.get(document_kind(target), "high")


def highest(risks: Iterable[str]) -> str:
    """The highest risk of several; low for none."""
    return max(risks, key=ORDER.index, default="low")

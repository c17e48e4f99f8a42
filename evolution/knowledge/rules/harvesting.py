"""What a report teaches, as the fields of a draft, or why it teaches nothing. Pure. docs/rules.md: harvest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext_lazy as _

from common.text import clean, forbidden_character, is_blank, name_key
from evolution.knowledge.rules.values import LIMITS, MAX_REFERENCES, MAX_TAGS, shortened
from evolution.parameters.rules.specs import CATEGORIES

#: Confidence of a draft. docs/rules.md: harvest.
FIX, ANTI, REFERENCE, OTHER = Decimal("0.8"), Decimal("0.85"), Decimal("0.75"), Decimal("0.7")
#: From so many times on a structure is a pattern.
SEEN_OFTEN = 3
ROOT_CAUSE, SOLUTION = "### Root cause", "### Solution"
#: What a report about one of these is about, when it names no category.
_CATEGORY_BY_HINT = {
    "technology": "architecture",
    "decision": "architecture",
    "occurrences": "pattern",
    "structure": "pattern",
    "tool": "tooling",
    "time_saved_minutes": "workflow",
    "improvement": "workflow",
}
_DETAILS = ("details", "root_cause", "solution")


@dataclass(frozen=True)
class Draft:
    """The fields of an item, and the confidence it starts with."""

    fields: dict[str, Any]
    confidence: Decimal


@dataclass(frozen=True)
class Nothing:
    """Why a report teaches nothing."""

    note: Any


def drafted(source_type: str, source_id: str, metadata: Mapping[str, Any]) -> Draft | Nothing:
    """What a report (not yet compared with what is known) teaches. docs/rules.md: harvest.

    `metadata` is whatever was sent; what is no text where a text belongs counts as missing.
    """
    if source_type == "error_fix":
        return _fix(source_id, metadata)
    category = category_of(source_type, metadata)
    title = _text(metadata, "title") or _first_line(_text(metadata, "description"))
    if not title:
        return Nothing(_("The report has neither a title nor a description."))
    refusal = _not_worth_it(source_type, category, metadata)
    if refusal is not None:
        return refusal
    if category == "anti-pattern":
        title, confidence = f"Anti-Pattern: {title}", ANTI
    else:
        confidence = REFERENCE if category == "reference-project" else OTHER
    summary = _text(metadata, "summary") or _text(metadata, "description") or title
    return Draft(_fields(title, category, summary, _details(metadata), source_id, metadata), confidence)


def category_of(source_type: str, metadata: Mapping[str, Any]) -> str:
    """The category that the report names, else that of its source or of what it tells."""
    named = metadata.get("category")
    if isinstance(named, str) and named in CATEGORIES:
        return named
    if source_type == "reference_project":
        return "reference-project"
    if source_type == "code_change":
        return "pattern"
    return next((word for hint, word in _CATEGORY_BY_HINT.items() if hint in metadata), "workflow")


def knows_solution(solution: str, summary: str, details: str) -> bool:
    """Whether an item says this solution already, in whatever spelling; a report without one says nothing new."""
    wanted = name_key(solution[: LIMITS["summary"]])
    return wanted in _folded(summary) or wanted in _folded(details)


def cause_and_solution(summary: str, details: str) -> tuple[str, str]:
    """The root cause and the solution of a debugging item, as a harvest wrote them; else none, and its summary."""
    cause = details.partition(ROOT_CAUSE)[2].partition(SOLUTION)[0].strip()
    return cause, details.partition(SOLUTION)[2].strip() or summary


def _folded(text: str) -> str:
    return " ".join(name_key(line) for line in text.split("\n") if line.strip())


def _fix(source_id: str, metadata: Mapping[str, Any]) -> Draft | Nothing:
    error_type = _line(_text(metadata, "error_type"))
    if not error_type:
        return Nothing(_("The report names no error_type."))
    summary = _text(metadata, "solution") or _text(metadata, "root_cause") or _text(metadata, "description")
    if not summary:
        return Nothing(_("The report tells neither a solution nor a root cause."))
    tags = [error_type, *_list(metadata, "tags")]
    fields = _fields(
        f"Fix: {error_type}", "debugging", summary, _details(metadata), source_id, {**metadata, "tags": tags}
    )
    return Draft(fields, FIX)


def _not_worth_it(source_type: str, category: str, metadata: Mapping[str, Any]) -> Nothing | None:
    times = metadata.get("occurrences")
    if category == "pattern" and (times is not None or source_type == "code_change"):
        is_often = isinstance(times, int) and not isinstance(times, bool) and times >= SEEN_OFTEN
        if not is_often:
            return Nothing(_("A structure is learnt from the third time on that it is seen."))
    saved = metadata.get("time_saved_minutes")
    if category == "workflow" and isinstance(saved, int | float) and saved <= 0:
        return Nothing(_("The report tells of no gain."))
    return None


def _fields(
    title: str, category: str, summary: str, details: str, source_id: str, metadata: Mapping[str, Any]
) -> dict[str, Any]:
    references = dict.fromkeys([_line(source_id), *_list(metadata, "references")])
    return {
        "title": shortened(_line(title), LIMITS["title"]),
        "category": category,
        "tags": [shortened(tag, LIMITS["tags"]) for tag in _list(metadata, "tags")][:MAX_TAGS],
        "summary": shortened(summary, LIMITS["summary"]),
        "details": shortened(details, LIMITS["details"]),
        "code_example": shortened(_text(metadata, "code_example"), LIMITS["code_example"]),
        "code_language": shortened(_line(_text(metadata, "code_language")), LIMITS["code_language"]),
        "references": [shortened(text, LIMITS["references"]) for text in references][:MAX_REFERENCES],
    }


def _details(metadata: Mapping[str, Any]) -> str:
    told = {name: _text(metadata, name) for name in _DETAILS}
    parts = [told["details"]]
    parts += [f"{ROOT_CAUSE}\n{told['root_cause']}"] if told["root_cause"] else []
    parts += [f"{SOLUTION}\n{told['solution']}"] if told["solution"] else []
    files = _list(metadata, "files_changed")[:MAX_REFERENCES]
    parts += ["### Files\n" + "\n".join(f"- {path}" for path in files)] if files else []
    return "\n\n".join(filter(None, parts))


def _text(metadata: Mapping[str, Any], name: str) -> str:
    """The text of a member; nothing for anything else, and for what cannot be stored."""
    value = metadata.get(name)
    if not isinstance(value, str) or is_blank(value) or forbidden_character(value):
        return ""
    return clean(value)


def _list(metadata: Mapping[str, Any], name: str) -> list[str]:
    value = metadata.get(name)
    entries = value if isinstance(value, list) else []
    return [_line(text) for text in (_text({"": entry}, "") for entry in entries) if text]


def _line(text: str) -> str:
    return " ".join(text.split())


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.split("\n") if line.strip()), "")

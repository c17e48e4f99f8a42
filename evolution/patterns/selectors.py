"""Read patterns as the API and other rooms see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from common.companies.models import Company
from common.counters.rules import parse_code
from common.errors import ApplicationError, invalid
from common.text import contained, name_key
from evolution.patterns.choices import PatternCategory, PatternStatus
from evolution.patterns.models import PREFIX, Pattern, PatternQuerySet
from evolution.patterns.rules.matching import SUGGESTED, Candidate, suggested

_WORDS: dict[str, list[str]] = {"status": PatternStatus.values, "category": PatternCategory.values}


@dataclass(frozen=True)
class Suggestion:
    """A pattern that fits a description, and how well (0..1)."""

    pattern: Pattern
    similarity: float


def patterns_of(
    company: Company, agent_id: int | None = None, filters: Mapping[str, Any] | None = None
) -> PatternQuerySet:
    """The company's patterns, highest number first; for a key bound to an agent those that concern it.

    Errors: VALIDATION_ERROR for an unknown status or category.
    """
    rows = Pattern.objects.of_company(company).for_agent(agent_id).filter(quarantined_at=None)
    for name, known in _WORDS.items():
        value = (filters or {}).get(name)
        if value is None:
            continue
        if value not in known:
            raise invalid(
                f"/{name}",
                _("“%(name)s” is one of: %(known)s.") % {"name": name, "known": ", ".join(known)},
            )
        rows = rows.filter(**{name: value})
    return rows.select_related("agent").with_occurrences().order_by("-number", "-id")


def get_pattern(company: Company, code: str, agent_id: int | None = None) -> Pattern:
    """The pattern of this code; NOT_FOUND for unknown and foreign ones alike."""
    pattern = patterns_of(company, agent_id).filter(number=parse_code(PREFIX, code) or 0).first()
    if pattern is None:
        raise pattern_not_found()
    return pattern


def pattern_named(company: Company, name: str) -> Pattern | None:
    """The company's pattern of this name, in whatever spelling."""
    return Pattern.objects.filter(company=company, name_key=name_key(name)).first()


def pattern_not_found() -> ApplicationError:
    """The one answer for a pattern that is not there for the caller."""
    return ApplicationError("NOT_FOUND", _("No such pattern."))


def ranked(description: str, rows: PatternQuerySet) -> list[Suggestion]:
    """Those of the rows that are similar enough to a description, active ones first. docs/rules.md: pattern reuse."""
    by_number = {pattern.number: pattern for pattern in rows}
    candidates = (
        Candidate(
            number,
            f"{pattern.name}\n{pattern.description}\n{pattern.category}",
            pattern.status == PatternStatus.ACTIVE,
        )
        for number, pattern in by_number.items()
    )
    return [Suggestion(by_number[number], score) for number, score in suggested(description, candidates)]


def suggest(company: Company, description: str, agent_id: int | None = None) -> list[Suggestion]:
    """The three patterns that fit a description best; neither deprecated nor quarantined ones."""
    rows = patterns_of(company, agent_id).exclude(status=PatternStatus.DEPRECATED)
    return ranked(description, rows)[:SUGGESTED]


def hint(found: list[Suggestion]) -> str:
    """What to tell a runtime before it writes something new; empty without a suggestion.

    The texts of patterns are contained; who reported one that nobody vouched for is said.
    """
    if not found:
        return ""
    lines = [_("♻️ Patterns that may be reused (%(count)d)") % {"count": len(found)}]
    for item in found:
        pattern = item.pattern
        by = pattern.vouched_by or _("%(who)s, not vouched for") % {"who": pattern.created_by}
        told = {
            "code": pattern.code,
            "name": contained(pattern.name),
            "status": pattern.get_status_display(),
            "similarity": f"{item.similarity:.2f}",
            "by": contained(by),
        }
        lines += ["---", _("**[%(code)s]** %(name)s (similarity: %(similarity)s, %(status)s, %(by)s)") % told]
        if text := contained(pattern.description):
            lines.append(text)
    return "\n".join(lines)

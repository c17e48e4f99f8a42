"""Protection rules as YAML: read back whole or not at all, and written so that they come back equal.

protected_paths:
  - pattern: principles.md
    section: 绝不做
    section_aliases: [must_not, Never]
    level: block
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import yaml
from django.db import transaction
from django.utils.translation import gettext as _

from agents.models import ProtectedPath
from agents.rules.paths import normalise_pattern, path_key
from agents.services.importing import Outcome
from agents.services.protection_rules import change_protection_rule, create_protection_rule
from common.actors import Actor
from common.companies.models import Company
from common.errors import ApplicationError
from common.safe_yaml import load_yaml_document
from common.text import clean

ROOT = "protected_paths"
WRITTEN = ("pattern", "section", "section_aliases", "level", "description", "enabled")
#: Read as another word for `pattern`.
PATH = "path"


@dataclass(frozen=True)
class RuleLine:
    """What became of one rule; `reason` says why one was skipped or failed, `line` where it stands."""

    outcome: Outcome
    line: int
    pattern: str
    reason: str = ""


class _NothingChanges(Exception):
    """Takes back what was written: a fault was found, or it was a trial."""


def import_protection_rules(
    *, text: str, company: Company | None, actor: Actor, now: datetime, dry_run: bool = False
) -> list[RuleLine]:
    """Make or change the rules that the file names, by pattern and section; others stay as they are.

    With one faulty rule nothing changes, and only the faulty ones are reported as failed. `company` None: rules
    for all companies. Errors: VALIDATION_ERROR for a text that is no YAML or has no list of rules.
    """
    document = load_yaml_document(text)
    rules = document.value.get(ROOT) if isinstance(document.value, dict) else None
    if not isinstance(rules, list):
        raise ApplicationError(
            "VALIDATION_ERROR", _("The file needs a list named %(name)s.") % {"name": ROOT}
        )
    lines: list[RuleLine] = []
    try:
        with transaction.atomic():
            seen: set[tuple[str, str]] = set()
            for number, fields in enumerate(rules):
                place = document.lines.get((ROOT, number), 1)
                lines.append(_stored(fields, place, company, actor, now, seen))
            if dry_run or _faulty(lines):
                raise _NothingChanges
    except _NothingChanges:
        pass
    return [_taken_back(line) for line in lines] if _faulty(lines) else lines


def _faulty(lines: Iterable[RuleLine]) -> bool:
    return any(line.outcome is Outcome.FAILED for line in lines)


def _taken_back(line: RuleLine) -> RuleLine:
    if line.outcome is Outcome.FAILED:
        return line
    return RuleLine(Outcome.SKIPPED, line.line, line.pattern, _("another rule of the file is faulty"))


def _stored(
    given: Any,
    line: int,
    company: Company | None,
    actor: Actor,
    now: datetime,
    seen: set[tuple[str, str]],
) -> RuleLine:
    pattern = str(given.get("pattern", given.get(PATH, ""))) if isinstance(given, dict) else ""
    try:
        fields = _fields(given)
        place = (path_key(normalise_pattern(fields["pattern"])), path_key(clean(fields.get("section", ""))))
        if place in seen:
            raise ApplicationError("VALIDATION_ERROR", _("The file names this pattern and section twice."))
        seen.add(place)
        rule = _rule_at(place, company)
        if rule is None:
            create_protection_rule(fields={**fields, "company": company}, actor=actor, now=now)
            return RuleLine(Outcome.IMPORTED, line, pattern)
        before = rule.updated_at
        changed = change_protection_rule(rule_id=rule.pk, fields=fields, actor=actor, now=now)
    except ApplicationError as error:
        return RuleLine(Outcome.FAILED, line, pattern, str(error.message))
    if changed.updated_at == before:
        return RuleLine(Outcome.SKIPPED, line, pattern, _("it stands so already"))
    return RuleLine(Outcome.IMPORTED, line, pattern)


def _fields(given: Any) -> dict[str, Any]:
    """The fields of one rule; VALIDATION_ERROR for what is no rule. Values are checked by the service."""
    if not isinstance(given, dict):
        raise ApplicationError("VALIDATION_ERROR", _("A rule is a mapping with pattern and level."))
    fields = {("pattern" if name == PATH else name): value for name, value in given.items()}
    unknown = sorted(set(fields) - set(WRITTEN))
    if unknown or len(fields) != len(given):
        named = ", ".join(unknown) or f"pattern and {PATH}"
        raise ApplicationError(
            "VALIDATION_ERROR",
            _("Not understood: %(named)s; a rule has %(known)s.")
            % {"named": named[:80], "known": ", ".join(WRITTEN)},
        )
    fields = {name: value for name, value in fields.items() if value is not None}
    for name in ("pattern", "section", "level", "description"):
        if not isinstance(fields.get(name, ""), str):
            raise ApplicationError(
                "VALIDATION_ERROR", _("%(name)s must be a text; put it in quotes.") % {"name": name}
            )
    aliases = fields.get("section_aliases", [])
    if not isinstance(aliases, list) or not all(isinstance(name, str) for name in aliases):
        raise ApplicationError("VALIDATION_ERROR", _("section_aliases must be a list of texts."))
    return {"pattern": "", "level": "", **fields}


def _rule_at(place: tuple[str, str], company: Company | None) -> ProtectedPath | None:
    rules = ProtectedPath.objects.filter(company=company)
    return next((rule for rule in rules if (path_key(rule.pattern), path_key(rule.section)) == place), None)


def export_protection_rules(company: Company | None) -> str:
    """The rules of a company, or those for all, as the YAML that `import_protection_rules` reads."""
    rules = ProtectedPath.objects.filter(company=company).order_by("pattern", "section", "id")
    written = [{name: getattr(rule, name) for name in WRITTEN} for rule in rules]
    return yaml.safe_dump({ROOT: written}, allow_unicode=True, sort_keys=False, width=120)

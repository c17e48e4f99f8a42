"""Make, change and delete protection rules; each change is a receipt of its own type."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from agents.models import ProtectedPath
from agents.rules.fields import too_long
from agents.rules.paths import normalise_pattern, path_key
from agents.rules.protection import Level
from agents.rules.sections import names_something
from common.actors import Actor
from common.companies.selectors import global_company
from common.diff import unified
from common.errors import ApplicationError, Fault
from common.receipts.choices import ReceiptType
from common.receipts.rules import Line, text_hash
from common.receipts.services import write_receipt
from common.text import clean, forbidden_character, is_blank, length

FIELDS = ("pattern", "section", "section_aliases", "level", "description", "enabled", "company")
MAX_SECTION = 100
MAX_ALIASES = 20
MAX_DESCRIPTION = 500


def checked_rule(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The given fields of a rule as they are stored; the pattern in its clean form.

    Errors: PATH_INVALID for a pattern that could match nothing or more than it shows, VALIDATION_ERROR naming
    every other faulty field.
    """
    values = {name: fields[name] for name in FIELDS if name in fields}
    faults: list[Fault] = []
    for name, limit in (("section", MAX_SECTION), ("description", MAX_DESCRIPTION)):
        if name in values:
            values[name] = clean(values[name] or "")
            faults += _text_faults(f"/{name}", values[name], limit)
    if values.get("section") and not names_something(values["section"]):
        faults.append(
            _fault("/section", _("This names no section; leave it empty to protect the whole file."))
        )
    if "section_aliases" in values:
        values["section_aliases"] = list(
            dict.fromkeys(clean(name) for name in values["section_aliases"] or ())
        )
        faults += _alias_faults(values["section_aliases"])
    if "level" in values and values["level"] not in set(Level):
        faults.append(
            _fault("/level", _("Choose one of the levels %(known)s.") % {"known": ", ".join(Level)})
        )
    if "enabled" in values and not isinstance(values["enabled"], bool):
        faults.append(_fault("/enabled", _("This must be true or false.")))
    if faults:
        raise ApplicationError("VALIDATION_ERROR", faults[0].detail, errors=faults)
    if "pattern" in values:
        values["pattern"] = normalise_pattern(values["pattern"] or "")
    return values


def _fault(pointer: str, detail: Any) -> Fault:
    return Fault(pointer, "VALIDATION_ERROR", detail)


def _text_faults(pointer: str, text: str, limit: int) -> list[Fault]:
    if forbidden_character(text):
        return [_fault(pointer, _("This must be a text without NUL characters."))]
    return [too_long(pointer, limit, length(text))] if length(text) > limit else []


def _alias_faults(names: list[str]) -> list[Fault]:
    pointer = "/section_aliases"
    if len(names) > MAX_ALIASES:
        detail = _("At most %(limit)d entries; this has %(actual)d.")
        return [_fault(pointer, detail % {"limit": MAX_ALIASES, "actual": len(names)})]
    faults = [fault for name in names for fault in _text_faults(pointer, name, MAX_SECTION)]
    if any(is_blank(name) or not names_something(name) for name in names):
        faults.append(_fault(pointer, _("An entry must not be blank.")))
    return faults


@transaction.atomic
def create_protection_rule(*, fields: Mapping[str, Any], actor: Actor, now: datetime) -> ProtectedPath:
    """A new rule. Errors: those of `checked_rule`; VALIDATION_ERROR for a second rule of the same place."""
    values = checked_rule({"pattern": "", "level": "", **fields})
    rule = ProtectedPath(**values)
    _refuse_double(rule)
    rule.save()
    _write_receipt(rule, "protection_rule_created", "", described(rule), actor, now)
    return rule


@transaction.atomic
def change_protection_rule(
    *, rule_id: int, fields: Mapping[str, Any], actor: Actor, now: datetime
) -> ProtectedPath:
    """Change the given fields; without a difference nothing is written. Errors: as above, and NOT_FOUND."""
    values = checked_rule(fields)
    rule = _locked(rule_id)
    before = described(rule)
    for name, value in values.items():
        setattr(rule, name, value)
    after = described(rule)
    if before == after:
        return rule
    _refuse_double(rule)
    rule.save(update_fields=[*values, "updated_at"])
    _write_receipt(rule, "protection_rule_changed", before, after, actor, now)
    return rule


@transaction.atomic
def delete_protection_rule(*, rule_id: int, actor: Actor, now: datetime) -> None:
    """Delete a rule for good; the receipt keeps what it said. Errors: NOT_FOUND."""
    rule = _locked(rule_id)
    _write_receipt(rule, "protection_rule_deleted", described(rule), "", actor, now)
    rule.delete()


def described(rule: ProtectedPath) -> str:
    """A rule as text, one field a line; what receipts keep and what tells two states apart."""
    lines = {
        "pattern": rule.pattern,
        "section": rule.section,
        "section_aliases": ", ".join(rule.section_aliases),
        "level": rule.level,
        "description": rule.description,
        "enabled": "true" if rule.enabled else "false",
        "company": rule.company.slug if rule.company else "",
    }
    return "".join(f"{name}: {value}\n" for name, value in lines.items())


def _locked(rule_id: int) -> ProtectedPath:
    rules = ProtectedPath.objects.select_for_update(of=("self",)).select_related("company")
    rule = rules.filter(pk=rule_id).first()
    if rule is None:
        raise ApplicationError("NOT_FOUND", _("No such protection rule."))
    return rule


def _refuse_double(rule: ProtectedPath) -> None:
    """Two rules of one place would contradict each other; the stricter wins, and nobody knows why."""
    place = (path_key(rule.pattern), path_key(rule.section))
    others = ProtectedPath.objects.filter(company=rule.company).exclude(pk=rule.pk)
    if any((path_key(other.pattern), path_key(other.section)) == place for other in others):
        detail = _("There is a rule for this pattern and section already; change that one.")
        raise ApplicationError("VALIDATION_ERROR", detail, errors=[_fault("/pattern", detail)])


def _write_receipt(
    rule: ProtectedPath, trigger: str, before: str, after: str, actor: Actor, now: datetime
) -> None:
    """In the chain of the rule's company; a rule for all companies in that of `_global`."""
    is_change = bool(before and after)
    write_receipt(
        company=rule.company or global_company(),
        actor=actor,
        type=ReceiptType.PROTECTION_CHANGE,
        trigger=trigger,
        at=now,
        lines=[
            Line(
                type="protected_path",
                target=f"protected_paths/{rule.pk}/{rule.pattern}"[:255],
                content=unified(before, after, "before", "after") if is_change else before or after,
                new_sha256=text_hash(after),
            )
        ],
        detail={"before_sha256": text_hash(before), "after_sha256": text_hash(after)},
    )

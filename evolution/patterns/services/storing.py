"""Make patterns, change what they say, and decide about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from common.actors import Actor
from common.companies.models import Company
from common.counters.services import lock_numbers, next_number, raise_to
from common.errors import ApplicationError, invalid
from common.receipts.choices import ReceiptType
from common.receipts.rules import Line, text_hash
from common.receipts.services import write_receipt
from common.redaction import redact
from common.strict_json import canonical
from common.text import name_key
from evolution.patterns.choices import PatternStatus
from evolution.patterns.models import PREFIX, Pattern
from evolution.patterns.rules.matching import MIN_CONFIDENCE, MIN_OCCURRENCES, VERIFIED, status_after
from evolution.patterns.rules.values import LIMITS, MAX_KEYWORD, checked_values
from evolution.patterns.selectors import pattern_not_found

#: Patterns of a company; beyond it nothing new is drafted until staff deprecate or tidy up.
MAX_PATTERNS = 1000
#: Only people say how far a pattern is to be trusted.
_STAFF_FIELDS = ("confidence", "imported_occurrences")
_DIGESTED = ("name", "category", "description", "keywords", "regex", "template", "template_language")


@transaction.atomic
def create_pattern(
    *,
    company: Company,
    values: Mapping[str, Any],
    actor: Actor,
    now: datetime,
    agent: Agent | None = None,
    fingerprint: str = "",
    number: int | None = None,
    is_deprecated: bool = False,
    receipt: bool = True,
) -> Pattern:
    """Store a pattern under the company's next number (or `number`, which is free), with secrets taken out first.

    It is pending, unless an import says that it was seen and trusted enough before.
    `values`: `rules.values.FIELDS`; what a key says of confidence is not heeded. `receipt` False leaves the
    receipt to the caller.
    Errors: VALIDATION_ERROR (also for a name that is taken), STATE_CONFLICT at MAX_PATTERNS.
    """
    lock_patterns(company)
    given = _without_trust(values, actor)
    fields, redactions = _redacted(checked_values({"name": "", **given}))
    _check_name(company, fields["name"])
    if Pattern.objects.filter(company=company).count() >= MAX_PATTERNS:
        told = {"limit": MAX_PATTERNS}
        raise ApplicationError(
            "STATE_CONFLICT", _("There are %(limit)d patterns already; no more are stored.") % told
        )
    pattern = Pattern(
        company=company,
        agent=agent,
        number=_number(company, number),
        fingerprint=fingerprint,
        redactions=redactions,
        first_seen=now,
        created_by=actor.name[:200],
        created_by_key_id=actor.key_id,
        **fields,
        name_key=name_key(fields["name"]),
    )
    _vouch(pattern, actor, now)
    if is_deprecated:
        pattern.status = PatternStatus.DEPRECATED
    pattern.status = status_after(pattern.status, pattern.imported_occurrences, pattern.confidence)
    pattern.save(force_insert=True)
    if receipt:
        _write_receipt(pattern, "pattern_added", actor, now)
    return pattern


@transaction.atomic
def change_pattern(
    *,
    pattern_id: int,
    changes: Mapping[str, Any],
    actor: Actor,
    now: datetime,
    expected: Collection[int] | None = None,
) -> Pattern:
    """Change fields of a pattern; whoever changes its text stands for it. `changes` may hold `agent` as a row.

    Errors: VALIDATION_ERROR, NOT_FOUND, VERSION_MISMATCH.
    """
    pattern = locked(pattern_id, expected)
    fields, redactions = _redacted(checked_values(changes))
    if "agent" in changes:
        fields["agent"] = changes["agent"]
    changed = {name: value for name, value in fields.items() if getattr(pattern, name) != value}
    if not changed:
        return pattern
    if "name" in changed:
        _check_name(pattern.company, changed["name"], pattern)
        pattern.name_key = name_key(changed["name"])
    for name, value in changed.items():
        setattr(pattern, name, value)
    pattern.redactions = dict(Counter(pattern.redactions) + Counter(redactions))
    _vouch(pattern, actor, now)
    pattern.status = status_after(pattern.status, pattern.occurrences, pattern.confidence)
    _save(pattern)
    _write_receipt(pattern, "pattern_changed", actor, now, sorted(changed))
    return pattern


@transaction.atomic
def verify_pattern(
    *, pattern_id: int, actor: Actor, now: datetime, expected: Collection[int] | None = None
) -> Pattern:
    """A person found the pattern right: +0.1 confidence, at most 1."""
    pattern = locked(pattern_id, expected)
    if pattern.status == PatternStatus.DEPRECATED:
        raise _conflict(pattern)
    pattern.confidence = min(pattern.confidence + VERIFIED, Decimal(1))
    _vouch(pattern, actor, now)
    pattern.status = status_after(pattern.status, pattern.occurrences, pattern.confidence)
    _save(pattern)
    _write_receipt(pattern, "pattern_verified", actor, now)
    return pattern


@transaction.atomic
def promote_pattern(
    *, pattern_id: int, actor: Actor, now: datetime, expected: Collection[int] | None = None
) -> Pattern:
    """Make a pattern active, also a deprecated one. Errors: STATE_CONFLICT unless it is seen and trusted enough."""
    pattern = locked(pattern_id, expected)
    if pattern.status == PatternStatus.ACTIVE:
        raise _conflict(pattern)
    if pattern.occurrences < MIN_OCCURRENCES or pattern.confidence < MIN_CONFIDENCE:
        told = {
            "code": pattern.code,
            "least": MIN_OCCURRENCES,
            "seen": pattern.occurrences,
            "trust": str(MIN_CONFIDENCE),
            "confidence": str(pattern.confidence),
        }
        raise ApplicationError(
            "STATE_CONFLICT",
            _(
                "%(code)s needs %(least)d occurrences (there are %(seen)d) and a confidence of %(trust)s (it is "
                "%(confidence)s)."
            )
            % told,
        )
    pattern.status = PatternStatus.ACTIVE
    _vouch(pattern, actor, now)
    _save(pattern)
    _write_receipt(pattern, "pattern_promoted", actor, now)
    return pattern


@transaction.atomic
def deprecate_pattern(
    *, pattern_id: int, actor: Actor, now: datetime, expected: Collection[int] | None = None
) -> Pattern:
    """Suggest a pattern no more, and count it no further. Errors: STATE_CONFLICT when it is deprecated already."""
    pattern = locked(pattern_id, expected)
    if pattern.status == PatternStatus.DEPRECATED:
        raise _conflict(pattern)
    pattern.status = PatternStatus.DEPRECATED
    _save(pattern)
    _write_receipt(pattern, "pattern_deprecated", actor, now)
    return pattern


def lock_patterns(company: Company) -> None:
    """Writers of a company's patterns come one after the other: a name, a structure, a sighting is there once."""
    lock_numbers(company_id=company.pk, prefix=PREFIX)


def locked(pattern_id: int, expected: Collection[int] | None = None) -> Pattern:
    """The pattern, locked until the transaction ends. Errors: NOT_FOUND, VERSION_MISMATCH."""
    rows = Pattern.objects.select_related("company", "agent").filter(pk=pattern_id)
    pattern = rows.first()
    if pattern is not None:
        lock_patterns(pattern.company)
        pattern = rows.select_for_update(of=("self",)).first()
    if pattern is None:
        raise pattern_not_found()
    if expected is not None and pattern.version not in expected:
        raise ApplicationError(
            "VERSION_MISMATCH",
            _("The pattern changed in the meantime; read version %(version)d and try again.")
            % {"version": pattern.version},
            extra={"current_version": pattern.version},
        )
    return pattern


def free_name(company: Company, name: str) -> str:
    """The name, with a number behind it where it is taken."""
    taken = set(
        Pattern.objects.filter(company=company, name_key__startswith=name_key(name)[:80]).values_list(
            "name_key", flat=True
        )
    )
    candidate, number = name, 1
    while name_key(candidate) in taken:
        number += 1
        ending = f" {number}"
        candidate = f"{name[: LIMITS['name'] - len(ending)]}{ending}"
    return candidate


def _without_trust(values: Mapping[str, Any], actor: Actor) -> dict[str, Any]:
    is_key = actor.key_id is not None
    return {name: value for name, value in values.items() if not (is_key and name in _STAFF_FIELDS)}


def _redacted(fields: dict[str, Any]) -> tuple[dict[str, Any], dict[str, int]]:
    """The fields without secrets; what grew beyond its limit by that is cut."""
    counts: Counter[str] = Counter()
    result = dict(fields)
    for name, limit in LIMITS.items():
        # An expression with another text in it would be another expression.
        if name in result and name != "regex":
            found = redact(result[name])
            counts.update(found.counts)
            result[name] = found.text[:limit]
    if "keywords" in result:
        words = [redact(word) for word in result["keywords"]]
        for word in words:
            counts.update(word.counts)
        result["keywords"] = [word.text[:MAX_KEYWORD] for word in words]
    if redact(result.get("regex", "")).counts:
        raise invalid("/regex", _("This expression holds a secret; take it out."))
    return result, dict(counts)


def _number(company: Company, number: int | None) -> int:
    if number is None:
        return next_number(company_id=company.pk, prefix=PREFIX)
    raise_to(company_id=company.pk, prefix=PREFIX, number=number)
    return number


def _check_name(company: Company, name: str, existing: Pattern | None = None) -> None:
    others = Pattern.objects.filter(company=company, name_key=name_key(name))
    if (others.exclude(pk=existing.pk) if existing else others).exists():
        raise invalid("/name", _("Another pattern of the company has this name."))


def _vouch(pattern: Pattern, actor: Actor, now: datetime) -> None:
    """A signed-in person stands for the pattern as it is now; an edit by anybody else takes that back."""
    pattern.vouched_by = actor.name[:200] if actor.is_person else ""
    pattern.vouched_by_user_id = actor.user_id
    pattern.vouched_at = now if actor.is_person else None


def _save(pattern: Pattern) -> None:
    pattern.version += 1
    pattern.save()


def _conflict(pattern: Pattern) -> ApplicationError:
    told = {"code": pattern.code, "status": pattern.get_status_display()}
    return ApplicationError("STATE_CONFLICT", _("%(code)s is %(status)s.") % told)


def _write_receipt(
    pattern: Pattern, trigger: str, actor: Actor, now: datetime, changed: Collection[str] = ()
) -> None:
    digest = text_hash(canonical({name: getattr(pattern, name) for name in _DIGESTED}).decode())
    write_receipt(
        company=pattern.company,
        actor=actor,
        type=ReceiptType.CHANGE,
        trigger=trigger,
        at=now,
        agent_id=pattern.agent_id,
        agent_name=pattern.agent.name if pattern.agent else "",
        lines=[Line(type="pattern", target=pattern.code, content=pattern.name, new_sha256=digest)],
        detail={
            "fields": list(changed),
            "status": str(pattern.status),
            "confidence": str(pattern.confidence),
            "version": pattern.version,
        },
    )

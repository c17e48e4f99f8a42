"""Companies and keys: every change leaves a receipt in the company's chain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.actors import Actor
from common.companies.choices import SLUG_PATTERN, Scope
from common.companies.models import ApiKey, Company
from common.companies.rules import new_key_text, secret_hash
from common.companies.selectors import LAST_USED_RESOLUTION, peppers
from common.errors import ApplicationError, invalid
from common.receipts.choices import ReceiptType
from common.receipts.rules import Line
from common.receipts.services import write_receipt
from common.text import clean, is_blank, length

MAX_KEY_NAME = 100


@transaction.atomic
def issue_api_key(
    *,
    company: Company,
    name: str,
    scopes: Sequence[str],
    actor: Actor,
    now: datetime,
    agent_id: int | None = None,
    agent_name: str = "",
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """Make a key; returns the row and the key text, which exists nowhere else afterwards.

    Errors: VALIDATION_ERROR for a blank or long name, no or unknown scopes, an expiry in the past.
    """
    name = clean(name)
    _check_key(name, scopes, expires_at, now)
    text = new_key_text()
    key = ApiKey.objects.create(
        company=company,
        name=name,
        agent_id=agent_id,
        prefix=text.prefix,
        secret_hash=secret_hash(text.secret, peppers()[0]),
        scopes=sorted(set(scopes)),
        expires_at=expires_at,
        created_by=actor.name,
    )
    _key_receipt(key, actor, now, "api_key_issued", agent_name)
    return key, str(text)


def _check_key(name: str, scopes: Sequence[str], expires_at: datetime | None, now: datetime) -> None:
    if is_blank(name) or length(name) > MAX_KEY_NAME:
        raise invalid(
            "/name",
            _("The name needs 1 to %(limit)d characters; it has %(actual)d.")
            % {"limit": MAX_KEY_NAME, "actual": length(name)},
        )
    unknown = sorted(set(scopes) - set(Scope.values))
    if unknown or not scopes:
        raise invalid(
            "/scopes",
            _("Choose at least one of the scopes %(known)s; unknown: %(unknown)s.")
            % {"known": ", ".join(Scope.values), "unknown": ", ".join(unknown) or "–"},
        )
    if expires_at is not None and expires_at <= now:
        raise invalid("/expires_at", _("The expiry must lie in the future."))


@transaction.atomic
def revoke_api_key(*, key_id: int, actor: Actor, now: datetime) -> ApiKey:
    """Revoke a key, effective at once. Errors: STATE_CONFLICT when it is revoked already."""
    changed = ApiKey.objects.filter(pk=key_id, revoked_at=None).update(revoked_at=now)
    if not changed:
        raise ApplicationError("STATE_CONFLICT", _("This key is revoked already."))
    key = ApiKey.objects.select_related("company").get(pk=key_id)
    _key_receipt(key, actor, now, "api_key_revoked")
    return key


def note_key_use(*, key: ApiKey, now: datetime) -> None:
    """Remember when the key was last used, at most once a minute."""
    due = now - LAST_USED_RESOLUTION
    if key.last_used_at is None or key.last_used_at <= due:
        # Asked again in the database: of simultaneous requests one writes.
        unused = Q(last_used_at=None) | Q(last_used_at__lte=due)
        ApiKey.objects.filter(unused, pk=key.pk).update(last_used_at=now)


def _key_receipt(key: ApiKey, actor: Actor, now: datetime, trigger: str, agent_name: str = "") -> None:
    write_receipt(
        company=key.company,
        actor=actor,
        type=ReceiptType.CHANGE,
        trigger=trigger,
        at=now,
        agent_id=key.agent_id,
        agent_name=agent_name,
        lines=[Line(type="api_key", target=f"api_keys/{key.prefix}", content=key.name)],
        detail={"scopes": list(key.scopes)},
    )


@transaction.atomic
def save_company(
    *, company: Company, actor: Actor, now: datetime, member_ids: Sequence[int] | None = None
) -> Company:
    """Store a new or changed company and its members, with a receipt in its chain.

    Errors: VALIDATION_ERROR for a bad or taken slug, a bad name, and for renaming or disabling `_global`.
    """
    before = Company.objects.select_for_update(no_key=True).filter(pk=company.pk).first()
    company.name = clean(company.name)
    _check_company(company, before)
    company.save()
    lines = _changed_lines(before, company)
    if member_ids is not None:
        lines += _set_members(company, member_ids)
    if lines:
        trigger = "company_created" if before is None else "company_changed"
        _company_receipt(company, actor, now, trigger, lines)
    return company


def _check_company(company: Company, before: Company | None) -> None:
    if before is not None and before.is_global:
        kept = (company.slug, company.name, company.enabled) == (before.slug, before.name, True)
        if not kept:
            raise invalid("/slug", _("The company _global can be neither renamed nor disabled."))
    if not re.fullmatch(SLUG_PATTERN, company.slug):
        raise invalid(
            "/slug", _("1 to 50 lower-case letters, digits and hyphens; used in URLs and commands.")
        )
    if Company.objects.filter(slug=company.slug).exclude(pk=company.pk).exists():
        raise invalid("/slug", _("There is a company with this slug already."))
    if is_blank(company.name) or length(company.name) > MAX_KEY_NAME:
        raise invalid("/name", _("The name needs 1 to 100 visible characters."))


def _changed_lines(before: Company | None, after: Company) -> list[Line]:
    fields = ("slug", "name", "enabled")
    changed = [name for name in fields if before is None or getattr(before, name) != getattr(after, name)]
    return [_company_line(after, name, str(getattr(after, name))) for name in changed]


def _company_line(company: Company, field: str, content: str) -> Line:
    return Line(type="company", target=f"companies/{company.slug}/{field}", content=content)


def _set_members(company: Company, member_ids: Sequence[int]) -> list[Line]:
    """Replace the members; one line that names who came (+) and who went (−), or none."""
    names = dict(company.members.values_list("pk", "username"))
    company.members.set(member_ids)
    now_names = dict(company.members.values_list("pk", "username"))
    came = [f"+ {now_names[pk]}" for pk in sorted(now_names.keys() - names.keys())]
    went = [f"− {names[pk]}" for pk in sorted(names.keys() - now_names.keys())]
    return [_company_line(company, "members", "\n".join(came + went))] if came or went else []


@transaction.atomic
def set_membership(*, company: Company, person_id: int, member: bool, actor: Actor, now: datetime) -> bool:
    """Make a person a member of a company, or no longer one; returns whether that changed anything."""
    known = set(company.members.values_list("pk", flat=True))
    wanted = known | {person_id} if member else known - {person_id}
    lines = _set_members(company, sorted(wanted))
    if lines:
        _company_receipt(company, actor, now, "company_changed", lines)
    return bool(lines)


def _company_receipt(
    company: Company, actor: Actor, now: datetime, trigger: str, lines: Sequence[Line]
) -> None:
    write_receipt(
        company=company,
        actor=actor,
        type=ReceiptType.CHANGE,
        trigger=trigger,
        at=now,
        lines=lines,
        detail={"enabled": company.enabled},
    )

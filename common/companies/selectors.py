"""Who a request is, and which company it acts for."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from common.choices import GLOBAL_SLUG
from common.companies.models import ApiKey, Company
from common.companies.rules import parse_key_text, secret_matches
from common.errors import ApplicationError

#: `last_used_at` is written at most this often for one key.
LAST_USED_RESOLUTION = timedelta(minutes=1)


def peppers() -> list[str]:
    """The current pepper, then the retired ones that still verify."""
    return [settings.API_KEY_PEPPER, *settings.API_KEY_PEPPER_FALLBACKS]


def key_by_text(text: str, now: datetime) -> ApiKey | None:
    """The live key with this text, its company loaded; None for unknown, expired, revoked or disabled."""
    parts = parse_key_text(text)
    if parts is None:
        return None
    key = ApiKey.objects.live(now).select_related("company").filter(prefix=parts.prefix).first()
    if key is None or not secret_matches(parts.secret, key.secret_hash, peppers()):
        return None
    return key


def global_company() -> Company:
    """The company `_global`, which the first migration makes and nobody can delete."""
    return Company.objects.get(slug=GLOBAL_SLUG)


def company_for_staff(user: Any, slug: str | None) -> Company:
    """The company a staff request acts for: the one named, else `_global`.

    Raises `NOT_FOUND` for an unknown company or one the user may not see (the same answer for both).
    """
    company = Company.objects.seen_by(user).filter(slug=slug or GLOBAL_SLUG).first()
    if company is None:
        raise ApplicationError("NOT_FOUND", _("No such company."))
    return company


def company_by_slug(slug: str) -> Company:
    """The company with this slug; raises `NOT_FOUND` naming the slugs that exist (for commands)."""
    company = Company.objects.filter(slug=slug).first()
    if company is None:
        known = ", ".join(Company.objects.values_list("slug", flat=True)[:20])
        raise ApplicationError(
            "NOT_FOUND", _("No company “%(slug)s”. There are: %(known)s.") % {"slug": slug, "known": known}
        )
    return company


def may_write(user: Any, company: Company) -> bool:
    """Whether a staff user may change rows of `company` (their permissions decide the rest)."""
    return user.is_superuser or company.members.filter(pk=user.pk).exists()

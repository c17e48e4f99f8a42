"""Template context of the admin: which companies the signed-in person can switch between."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from common.admin import CHOSEN_COMPANY, chosen_company
from common.companies.models import Company


def company_switcher(request: HttpRequest) -> dict[str, Any]:
    """`switcher_companies` and `switcher_current` for signed-in staff; nothing for anybody else.

    Asked for only by pages that show the switcher, and once a request: a page renders many templates.
    """
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated or not user.is_staff:
        return {}
    return {
        "switcher_companies": SimpleLazyObject(lambda: _companies(request)),
        "switcher_current": SimpleLazyObject(lambda: _current(request)),
    }


def _companies(request: HttpRequest) -> list[dict[str, str]]:
    known = request.__dict__.get("_fieldbook_switcher")
    if known is None:
        known = list(Company.objects.seen_by(request.user).order_by("slug").values("slug", "name"))
        request.__dict__["_fieldbook_switcher"] = known
    return known


def _current(request: HttpRequest) -> str:
    chosen = chosen_company(request)
    if chosen and chosen not in {company["slug"] for company in _companies(request)}:
        # Renamed, or no member any more: forget it, or the lists would stay empty for no visible reason.
        request.session[CHOSEN_COMPANY] = chosen = ""
    return chosen

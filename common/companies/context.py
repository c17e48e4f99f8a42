"""Template context of the admin: which companies the signed-in person can switch between."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from common.admin import CHOSEN_COMPANY
from common.companies.models import Company


def company_switcher(request: HttpRequest) -> dict[str, Any]:
    """`switcher_companies` and `switcher_current` for signed-in staff; nothing for anybody else."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated or not user.is_staff:
        return {}
    companies = list(Company.objects.seen_by(user).order_by("slug").values("slug", "name"))
    chosen = request.session.get(CHOSEN_COMPANY, "")
    known = {company["slug"] for company in companies}
    return {"switcher_companies": companies, "switcher_current": chosen if chosen in known else ""}

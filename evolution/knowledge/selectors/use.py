"""Read outcomes and injections as the API sees them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from common.companies.models import Company
from common.counters.rules import parse_code
from common.errors import ApplicationError
from evolution.knowledge.models import PREFIX, Injection, Knowledge, Outcome
from evolution.knowledge.models.use import InjectionQuerySet, OutcomeQuerySet
from evolution.knowledge.rules.injection import USE


def outcomes_of(item: Knowledge) -> OutcomeQuerySet:
    """The outcomes of an item, newest first."""
    rows = Outcome.objects.of_company(item.company).filter(knowledge=item)
    return rows.select_related("injection").order_by("-at", "-id")


def injections_of(company: Company, agent_id: int | None = None) -> InjectionQuerySet:
    """The injections of a company that are not archived, newest first; for a bound key those of its agent."""
    rows = Injection.objects.of_company(company).filter(archived_at=None).select_related("agent")
    rows = rows if agent_id is None else rows.filter(agent_id=agent_id)
    return rows.order_by("-created_at", "-id")


def get_injection(company: Company, injection_id: UUID | None, agent_id: int | None = None) -> Injection:
    """One injection, an archived one too; NOT_FOUND for unknown and foreign ones alike."""
    rows = Injection.objects.of_company(company).select_related("agent")
    rows = rows if agent_id is None else rows.filter(agent_id=agent_id)
    found = rows.filter(injection_id=injection_id).first() if injection_id else None
    if found is None:
        raise ApplicationError("NOT_FOUND", _("No such injection."))
    return found


def used_items(injection: Injection) -> list[Knowledge]:
    """The items that an injection gave to be used and that are still there; none to avoid, none in quarantine."""
    codes = [str(item.get("id")) for item in injection.items if item.get("kind") == USE]
    numbers = [number for code in codes if (number := parse_code(PREFIX, code))]
    rows: Any = Knowledge.objects.filter(
        company_id=injection.company_id, number__in=numbers, quarantined_at=None
    )
    return list(rows.order_by("pk"))

"""What a database must pass to be trusted: every receipt chain whole, every append-only table guarded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import connection

from common.append_only import missing
from common.companies.models import Company
from common.companies.selectors import company_by_slug
from common.receipts.models import Receipt, ReceiptHead
from common.receipts.rules import Tenant
from common.receipts.selectors import ChainReport, verify_chain


@dataclass
class LostCompany:
    """A company that is gone from its table, though its receipts are not; `slug` is what to call it."""

    pk: int
    slug: str


def chains(slug: str | None = None) -> Sequence[Tenant]:
    """Whose chains there are: the company named, else all, also those whose company is gone.

    Errors: NOT_FOUND for an unknown slug.
    """
    if slug is not None:
        return [company_by_slug(slug)]
    companies = list(Company.objects.order_by("slug"))
    heads = set(ReceiptHead.objects.values_list("company_id", flat=True))
    receipts = set(Receipt.objects.order_by().values_list("company_id", flat=True).distinct())
    lost = (heads | receipts) - {company.pk for company in companies}
    return [*companies, *[LostCompany(pk, f"company {pk} (deleted)") for pk in sorted(lost)]]


def verify_chains(
    *, tenants: Sequence[Tenant], progress: Callable[[int], Any] = lambda done: None
) -> list[ChainReport]:
    """The outcome for each chain; `progress(n)` is told that n more chains are done."""
    reports = []
    for tenant in tenants:
        reports.append(verify_chain(tenant))
        progress(1)
    return reports


def told(report: ChainReport) -> str:
    """One line for people: how many receipts hold, and the first that does not."""
    if report.intact:
        return f"{report.company_slug}: {report.checked} receipts, intact"
    return (
        f"{report.company_slug}: BROKEN at receipt #{report.first_bad}: {report.reason} "
        f"({report.checked} receipts before it are intact)"
    )


def unguarded_tables() -> list[str]:
    """Append-only tables that could be changed, because their triggers are gone."""
    return missing(connection)


def row_counts() -> dict[str, int]:
    """Rows of every table of the application that has any, by model."""
    counts = {model._meta.label_lower: model._base_manager.count() for model in apps.get_models()}
    return {name: count for name, count in sorted(counts.items()) if count}

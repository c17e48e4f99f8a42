"""Read proposals: as the API and the admin see them, the audit view, the health figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Prefetch, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from common.companies.models import Company
from common.counters.rules import parse_code
from common.errors import ApplicationError
from evolution.proposals.choices import ItemStatus
from evolution.proposals.models import PREFIX, Proposal, ProposalItem


def proposals_of(company: Company, agent_id: int | None = None) -> QuerySet[Proposal]:
    """The company's proposals (of one agent, for a key bound to it), with agent and items loaded."""
    queryset = Proposal.objects.of_company(company).select_related("agent", "company")
    queryset = queryset.prefetch_related(Prefetch("items", ProposalItem.objects.order_by("number")))
    return queryset.filter(agent_id=agent_id) if agent_id is not None else queryset


def get_proposal(company: Company, code: str, agent_id: int | None = None) -> Proposal:
    """The proposal of this code; NOT_FOUND for unknown and foreign ones alike."""
    number = parse_code(PREFIX, code)
    proposal = proposals_of(company, agent_id).filter(number=number).first() if number else None
    if proposal is None:
        raise ApplicationError("NOT_FOUND", _("No such proposal."))
    return proposal


@dataclass(frozen=True)
class Window:
    """What a report is about: a company, perhaps one agent, perhaps a time span (from inclusive, to exclusive)."""

    company: Company
    agent_id: int | None = None
    since: datetime | None = None
    until: datetime | None = None


def items_in(window: Window) -> QuerySet[ProposalItem]:
    """Items of proposals drafted in the window."""
    items = ProposalItem.objects.filter(proposal__company=window.company)
    if window.agent_id is not None:
        items = items.filter(proposal__agent_id=window.agent_id)
    if window.since is not None:
        items = items.filter(proposal__created_at__gte=window.since)
    if window.until is not None:
        items = items.filter(proposal__created_at__lt=window.until)
    return items


@dataclass(frozen=True)
class Figure:
    """One health figure: numerator / denominator, None when the denominator is 0; `healthy` None when unknown.

    `rows` filters the item list that stands behind the numerator.
    """

    key: str
    label: Any
    numerator: int
    denominator: int
    above: bool
    limit: float
    rows: dict[str, str]

    @property
    def value(self) -> float | None:
        """The share, rounded to 3 decimals."""
        return round(self.numerator / self.denominator, 3) if self.denominator else None

    @property
    def healthy(self) -> bool | None:
        """Whether the share is on the right side of its limit."""
        if self.value is None:
            return None
        if self.key == "personality_stability":
            return self.numerator == self.denominator
        return self.value > self.limit if self.above else self.value < self.limit


def health(window: Window, stability: tuple[int, int]) -> list[Figure]:
    """The four figures. docs/rules.md: health. `stability` = (agents unchanged, agents with block sections)."""
    ever_applied = Q(status__in=[ItemStatus.APPLIED, ItemStatus.ROLLED_BACK])
    counts = items_in(window).aggregate(
        drafted=Count("pk"),
        applied=Count("pk", filter=ever_applied),
        rejected=Count("pk", filter=Q(status=ItemStatus.REJECTED)),
        rolled_back=Count("pk", filter=Q(status=ItemStatus.ROLLED_BACK)),
        conflicting=Count("pk", filter=~Q(conflicts=[])),
    )
    applied, rejected = counts["applied"], counts["rejected"]
    return [
        Figure(
            "adoption_rate", _("Adoption rate"), applied, applied + rejected, True, 0.6, {"state": "applied"}
        ),
        Figure(
            "conflict_rate",
            _("Rule conflict rate"),
            counts["conflicting"],
            counts["drafted"],
            False,
            0.1,
            {"conflicts": "yes"},
        ),
        Figure(
            "rollback_rate",
            _("Rollback rate"),
            counts["rolled_back"],
            applied,
            False,
            0.05,
            {"state": "rolled_back"},
        ),
        Figure("personality_stability", _("Personality stability"), *stability, True, 1.0, {}),
    ]


@dataclass(frozen=True)
class AuditEntry:
    """One line of the audit view."""

    at: datetime
    agent: str
    code: str
    type: str
    content: str
    status: str
    confirmed_by: str


def audit(window: Window, status: str | None = None) -> QuerySet[ProposalItem]:
    """Decided items, newest first; `status` applied, rejected, skipped, blocked or rolled_back."""
    decided = [
        ItemStatus.APPLIED,
        ItemStatus.REJECTED,
        ItemStatus.SKIPPED,
        ItemStatus.BLOCKED,
        ItemStatus.ROLLED_BACK,
    ]
    items = items_in(window).filter(status__in=[status] if status else decided)
    return items.select_related("proposal", "proposal__agent").order_by("-proposal__updated_at", "-pk")


def audit_entries(items: QuerySet[ProposalItem]) -> Iterator[AuditEntry]:
    """The lines of the audit view."""
    for item in items:
        proposal = item.proposal
        yield AuditEntry(
            at=proposal.applied_at or proposal.updated_at,
            agent=proposal.agent.name,
            code=proposal.code,
            type=str(item.get_type_display()),
            content=" ".join((item.content or item.new_text or "").split())[:120],
            status=str(item.get_status_display()),
            confirmed_by=proposal.approved_by or proposal.decided_by,
        )

"""Keep proposals of a distrusted key from being approved, and find what its applied ones brought."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.utils.translation import gettext_lazy as _

from common.companies.models import Company
from common.errors import ApplicationError
from evolution.proposals.choices import ItemStatus, Operation, Status
from evolution.proposals.models import Proposal, ProposalItem

_UNDECIDED = (Status.DRAFT, Status.PENDING)


def proposals_by_key(company: Company, key_id: int, since: datetime) -> set[int]:
    """Ids of the proposals that this key made since then and nobody has decided yet."""
    rows = Proposal.objects.of_company(company).filter(created_by_key_id=key_id, created_at__gte=since)
    return set(rows.filter(status__in=_UNDECIDED).values_list("pk", flat=True))


def applied_by_key(company: Company, key_id: int, since: datetime) -> list[Proposal]:
    """The applied ones: what they changed is in prompts, and only a person rolls it back."""
    rows = Proposal.objects.of_company(company).filter(created_by_key_id=key_id, created_at__gte=since)
    return list(rows.filter(status=Status.APPLIED).order_by("number"))


def rows_added_by(proposals: Collection[Proposal]) -> set[int]:
    """Ids of the experience rows that these proposals added."""
    items = ProposalItem.objects.filter(
        proposal__in=proposals, operation=Operation.ADD_EXPERIENCE, status=ItemStatus.APPLIED
    )
    results = items.values_list("result", flat=True)
    return {result["experience"] for result in results if "experience" in result}


def hold_proposals(company: Company, ids: Collection[int], now: datetime) -> int:
    """Put these into quarantine: they cannot be approved. How many were not in one."""
    rows = Proposal.objects.of_company(company).filter(pk__in=ids, quarantined_at=None)
    return rows.update(quarantined_at=now)


def release_proposals(company: Company, ids: Collection[int]) -> None:
    """Let people decide about these again."""
    Proposal.objects.of_company(company).filter(pk__in=ids).update(quarantined_at=None)


def check_trusted(proposal: Proposal) -> None:
    """STATE_CONFLICT for a proposal in quarantine."""
    if proposal.quarantined_at is not None:
        raise ApplicationError(
            "STATE_CONFLICT",
            _("%(code)s is in quarantine; lift the quarantine first.") % {"code": proposal.code},
        )

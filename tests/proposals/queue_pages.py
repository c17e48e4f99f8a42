"""What the tests of the queue do in the admin: open it, decide, edit."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from evolution.proposals.models import Proposal, ProposalItem
from tests.admin.pages import form_values

LIST = "/admin/proposals/proposal/"
QUEUE = f"{LIST}queue/"
BULK = f"{QUEUE}bulk/"
RULE = {"type": "behavior_rule", "operation": "update", "target": "principles.md"}
NOTE = {"type": "knowledge", "operation": "update", "target": "memory/notes.md"}
PROFILE = {"type": "user_preference", "operation": "update", "target": "users/u1/profile.md"}
ROW = {"type": "experience", "operation": "add_experience"}


def page_of(proposal: Proposal) -> str:
    return f"{LIST}{proposal.pk}/change/"


def numbered(code: str, company: str = "acme") -> Proposal:
    """The proposal of this code, fresh from the database."""
    return Proposal.objects.get(company__slug=company, number=int(code.removeprefix("EP-")))


def opened(client: Client, proposal: Proposal, query: str = "") -> HttpResponse:
    return client.get(f"{QUEUE}?p={proposal.pk}{query}")


def decide(client: Client, proposal: Proposal, verb: str, query: str = "", **changes: Any) -> HttpResponse:
    """Open the proposal in the queue, fill in some fields, press a button; None leaves a field out."""
    shown = form_values(opened(client, proposal))
    names = ("item", "shown_hash", "reason", "confirmation", "finish")
    values = {name: shown[name] for name in names if name in shown} | {"verb": verb} | changes
    sent = {name: value for name, value in values.items() if value is not None}
    return client.post(f"{QUEUE}{proposal.pk}/decide/{query}", sent)


def edit(client: Client, proposal: Proposal, number: int = 1, **fields: Any) -> HttpResponse:
    """Send the edit form of an item, with the version that is shown now."""
    proposal.refresh_from_db()
    sent = {"version": proposal.version, **fields}
    return client.post(f"{QUEUE}{proposal.pk}/edit/{number}/", sent)


def text_of(response: HttpResponse) -> str:
    return response.content.decode()


def waiting_rows(company: Any, agent: Any, count: int, **fields: Any) -> list[Proposal]:
    """Many waiting proposals at once, past the services: for tests about numbers."""
    now = timezone.now()
    start = Proposal.objects.filter(company=company).count()
    risks = ("low", "medium", "high")
    rows = Proposal.objects.bulk_create(
        Proposal(
            company=company,
            agent=agent,
            number=start + number + 1,
            title=f"proposal {start + number + 1}",
            kind="learning",
            trigger="manual",
            risk=fields.get("risk", risks[number % 3]),
            status="pending",
            created_by=fields.get("created_by", "runtime"),
            pending_at=now,
            expires_at=now + timezone.timedelta(days=30),
        )
        for number in range(count)
    )
    ProposalItem.objects.bulk_create(
        ProposalItem(
            proposal=row,
            number=1,
            type="knowledge",
            content=f"fact {row.number}",
            target=f"memory/{row.number}.md",
            operation="create",
            new_text=f"- fact {row.number}\n",
            risk=row.risk,
            learning_key=f"{row.number:064d}",
            status="pending",
        )
        for row in rows
    )
    return rows

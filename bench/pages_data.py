"""Rows for `bench.pages`: written in bulk, past the services, because only reading is measured."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from agents.choices import Source
from agents.models import Agent, Document, DocumentVersion
from agents.services.agents import create_agent
from agents.services.editing import Edit
from common.actors import Actor, Channel
from common.companies.models import Company
from common.receipts.models import Receipt, ReceiptLine
from evolution.proposals.models import Proposal, ProposalItem
from experiences.models import Experience

ROWS_OF_THE_AGENT = 30


def prepare() -> None:
    """An empty migrated database."""
    call_command("migrate", verbosity=0)


def client_and_agent() -> tuple[Client, int]:
    """A signed-in superuser and one agent with 30 rows."""
    client = Client(headers={"host": "localhost"})
    client.force_login(get_user_model().objects.create_superuser("bench", "", "bench"))
    company = Company.objects.create(slug="bench", name="Bench")
    edit = Edit(Actor("bench", Channel.COMMAND), timezone.now(), Source.IMPORT)
    agent = create_agent(company=company, fields={"name": "a", "system_prompt": "x"}, edit=edit)
    Experience.objects.bulk_create(
        Experience(agent=agent, content=f"row {number}", order=number) for number in range(ROWS_OF_THE_AGENT)
    )
    return client, agent.pk


def grow(agent_id: int, rows: int) -> None:
    """Bring every kind of row to `rows`."""
    agent, now = Agent.objects.get(pk=agent_id), timezone.now()
    company = agent.company
    first = Agent.objects.count()
    numbers = range(first, rows)
    Agent.objects.bulk_create(
        (
            Agent(
                company=company,
                name=f"agent {number}",
                name_key=f"agent {number}",
                system_prompt="x",
                version=1,
            )
            for number in numbers
        ),
        batch_size=2000,
    )
    others = list(Agent.objects.exclude(pk=agent_id).order_by("pk").values_list("pk", flat=True))[first - 1 :]
    Experience.objects.bulk_create(
        (Experience(agent_id=pk, content="Check the log first.", order=0) for pk in others), batch_size=2000
    )
    _documents(company, others)
    _receipts(company, agent, numbers, now)
    _proposals(company, agent, numbers, now)


def _documents(company: Company, agents: list[int]) -> None:
    documents = Document.objects.bulk_create(
        (
            Document(
                agent_id=pk,
                company=company,
                path="memory/x.md",
                path_key="memory/x.md",
                kind="memory",
                current_version=1,
            )
            for pk in agents
        ),
        batch_size=2000,
    )
    DocumentVersion.objects.bulk_create(
        (
            DocumentVersion(
                document=document,
                number=1,
                text="x",
                sha256="0" * 64,
                source=Source.IMPORT,
                created_at=timezone.now(),
            )
            for document in documents
        ),
        batch_size=2000,
    )


def _receipts(company: Company, agent: Agent, numbers: range, now) -> None:
    receipts = Receipt.objects.bulk_create(
        (
            Receipt(
                company=company,
                company_slug=company.slug,
                agent=agent,
                agent_name=agent.name,
                number=number + 1000,
                type="change",
                trigger="agent_changed",
                actor_name="bench",
                channel="admin",
                at=now,
                sha256="0" * 64,
            )
            for number in numbers
        ),
        batch_size=2000,
    )
    ReceiptLine.objects.bulk_create(
        (
            ReceiptLine(
                receipt=receipt, agent=agent, order=0, type="role", target="system_prompt", status="applied"
            )
            for receipt in receipts
        ),
        batch_size=2000,
    )


def _proposals(company: Company, agent: Agent, numbers: range, now) -> None:
    proposals = Proposal.objects.bulk_create(
        (
            Proposal(
                company=company,
                agent=agent,
                number=number + 1,
                title=f"proposal {number}",
                kind="learning",
                trigger="manual",
                risk=("low", "medium", "high")[number % 3],
                status="pending",
                created_by="bench",
                pending_at=now,
                expires_at=now,
            )
            for number in numbers
        ),
        batch_size=2000,
    )
    ProposalItem.objects.bulk_create(
        (
            ProposalItem(
                proposal=proposal,
                number=1,
                type="knowledge",
                content="x",
                target="memory/x.md",
                operation="create",
                new_text="x",
                risk=proposal.risk,
                status="pending",
                learning_key="0" * 64,
            )
            for proposal in proposals
        ),
        batch_size=2000,
    )

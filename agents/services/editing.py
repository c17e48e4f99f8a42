"""The one way to change an agent: lock it, compare versions, change, keep a version, leave a receipt."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from agents.choices import Source
from agents.models import Agent, AgentVersion
from agents.rules.snapshots import Snapshot, diff, digest, receipt_lines
from agents.selectors import agent_not_found, snapshot
from common.actors import Actor
from common.errors import ApplicationError
from common.receipts.choices import ReceiptType
from common.receipts.services import write_receipt


@dataclass(frozen=True)
class Edit:
    """Who changes an agent, when, through which source and why; `expected` are the versions read before.

    `receipt` False: the caller writes one receipt for several changes itself, in the same transaction.
    """

    actor: Actor
    now: datetime
    source: Source
    message: str = ""
    expected: Collection[int] | None = None
    trigger: str = "agent_changed"
    receipt: bool = True


@contextmanager
def edit_agent(agent_id: int, edit: Edit) -> Iterator[Agent]:
    """Lock the live agent, let the caller change it, then version it; nothing is kept when nothing changed.

    Errors: AGENT_NOT_FOUND; VERSION_MISMATCH with the current version and who made it.
    """
    with transaction.atomic():
        agent = lock_agent(agent_id)
        check_version(agent, edit.expected)
        before = snapshot(agent)
        yield agent
        keep_version(agent, before, edit)


def lock_agent(agent_id: int) -> Agent:
    """The live agent, locked until the transaction ends (on SQLite the transaction itself is the lock).

    `no_key`: rows that only refer to the agent are added and committed meanwhile. A full lock would make such
    a writer, which holds the head of the receipt chain, and this one wait for each other.
    """
    agent = (
        Agent.objects.live()
        .select_for_update(of=("self",), no_key=True)
        .select_related("company", "owner")
        .filter(pk=agent_id)
        .first()
    )
    if agent is None:
        raise agent_not_found()
    return agent


def lock_agents(agent_ids: Collection[int]) -> None:
    """Lock several agents in one fixed order, before the first receipt is written, so that writers cannot deadlock."""
    agents = Agent.objects.select_for_update(no_key=True).filter(pk__in=agent_ids).order_by("pk")
    list(agents.values_list("pk"))


def check_version(agent: Agent, expected: Collection[int] | None) -> None:
    """VERSION_MISMATCH unless the agent still has one of the expected versions."""
    if expected is None or agent.version in expected:
        return
    last = AgentVersion.objects.filter(agent=agent, number=agent.version).first()
    author = last.author if last else "?"
    at = last.created_at.isoformat() if last else None
    raise ApplicationError(
        "VERSION_MISMATCH",
        _("%(author)s changed this agent in the meantime; read version %(version)d and try again.")
        % {"author": author, "version": agent.version},
        extra={"current_version": agent.version, "changed_by": author, "changed_at": at},
    )


def keep_version(agent: Agent, before: Snapshot | None, edit: Edit) -> bool:
    """Raise the version, keep the snapshot and write the receipt, if anything differs from `before`."""
    after = snapshot(agent)
    changes = diff(before or EMPTY, after, f"v{agent.version}", f"v{agent.version + 1}")
    if before is not None and changes.is_empty:
        return False
    sha256 = digest(after)
    agent.version += 1
    agent.updated_at = edit.now
    agent.save(update_fields=["version", "updated_at"])
    AgentVersion.objects.create(
        agent=agent,
        number=agent.version,
        snapshot=after,
        sha256=sha256,
        author=edit.actor.name[:200],
        source=edit.source,
        message=edit.message[:500],
        created_at=edit.now,
    )
    if not edit.receipt:
        return True
    write_receipt(
        company=agent.company,
        actor=edit.actor,
        type=ReceiptType.CHANGE,
        trigger=edit.trigger,
        at=edit.now,
        agent_id=agent.pk,
        agent_name=agent.name,
        lines=receipt_lines(changes, after),
        detail={
            "version": agent.version,
            "before_sha256": digest(before) if before is not None else "",
            "after_sha256": sha256,
        },
    )
    return True


#: The snapshot of an agent that does not exist yet.
EMPTY: Snapshot = {"role": "", "settings": {}, "rows": [], "documents": {}}

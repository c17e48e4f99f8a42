"""Lock knowledge in one order: parent, items by id, number, index, receipt."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from common.companies.models import Company
from common.errors import ApplicationError
from evolution.knowledge.models import Knowledge
from evolution.knowledge.selectors.knowledge import knowledge_not_found


def lock_parent(company_id: int, agent_id: int | None) -> None:
    """Whoever adds, orders or purges the items of one agent (None: of the whole company) comes one at a time."""
    if agent_id is None:
        Company.objects.select_for_update(no_key=True).get(pk=company_id)
    else:
        Agent.objects.select_for_update(of=("self",), no_key=True).get(pk=agent_id)


def lock_siblings(company_id: int, agent_ids: Collection[int | None]) -> None:
    """All items of these agents, behind their parents: before orders are written, since that touches many rows.

    Those who lock several items do so by id; whoever took one first and others later could wait for them in a circle.
    """
    owners = Q(agent_id__in=[pk for pk in agent_ids if pk is not None])
    if None in agent_ids:
        owners |= Q(agent_id=None)
    rows = Knowledge.objects.select_for_update(no_key=True).filter(owners, company_id=company_id)
    list(rows.order_by("pk").values_list("pk"))


def locked(
    knowledge_id: int,
    expected: Collection[int] | None = None,
    *,
    with_parent: bool = False,
    with_siblings: bool = False,
) -> Knowledge:
    """The item, locked until the transaction ends, perhaps after its parent, and with all that have an order with it.

    Errors: NOT_FOUND, VERSION_MISMATCH.
    """
    if with_parent:
        parent = Knowledge.objects.filter(pk=knowledge_id).values_list("company_id", "agent_id").first()
        if parent is None:
            raise knowledge_not_found()
        lock_parent(*parent)
        if with_siblings:
            lock_siblings(parent[0], [parent[1]])
    found = locked_items([knowledge_id])
    if not found:
        raise knowledge_not_found()
    check_version(found[0], expected)
    return found[0]


def locked_items(ids: Sequence[int]) -> list[Knowledge]:
    """Those of these items that are there, locked in the order of their ids. Lock all before the first event."""
    rows = Knowledge.objects.select_for_update(of=("self",), no_key=True).select_related("company", "agent")
    return list(rows.filter(pk__in=ids).order_by("pk"))


def check_version(item: Knowledge, expected: Collection[int] | None) -> None:
    """VERSION_MISMATCH unless the item still has one of the expected versions."""
    if expected is not None and item.version not in expected:
        raise ApplicationError(
            "VERSION_MISMATCH",
            _("The item changed in the meantime; read version %(version)d and try again.")
            % {"version": item.version},
            extra={"current_version": item.version},
        )

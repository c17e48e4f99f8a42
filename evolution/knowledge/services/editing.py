"""Change what an item says, whether it is handed out, where it stands and what it is related to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.actors import Actor
from common.errors import ApplicationError
from evolution.knowledge.choices import EventKind, Status
from evolution.knowledge.models import Knowledge
from evolution.knowledge.rules.values import TEXT_FIELDS, checked_values, title_key
from evolution.knowledge.selectors.knowledge import named_items
from evolution.knowledge.selectors.shown import shown_sha256
from evolution.knowledge.services.confidence import record_event
from evolution.knowledge.services.indexing import reindex
from evolution.knowledge.services.locking import locked
from evolution.knowledge.services.receipts import write_knowledge_receipt
from evolution.knowledge.services.storing import redacted
from evolution.parameters.selectors import parameters_of

#: What only staff decide.
STAFF_FIELDS = ("enabled", "order", "confidence")


@transaction.atomic
def change_knowledge(
    *,
    knowledge_id: int,
    changes: Mapping[str, Any],
    actor: Actor,
    now: datetime,
    expected: Collection[int] | None = None,
) -> Knowledge:
    """Change fields of an item, with secrets taken out first; a receipt unless it was a draft.

    `changes` as `fields` of `add_knowledge`, and `enabled`, `order` (its place among the items of its agent, from
    0), `confidence` (a person sets it). Another text makes it a draft that nobody confirmed; nothing else does. A
    key changes the text of drafts that a key reported, and nothing else.
    Errors: VALIDATION_ERROR, NOT_FOUND, SCOPE_MISSING for keys, VERSION_MISMATCH, STATE_CONFLICT when archived.
    """
    wanted = checked_values(changes)
    item = locked(knowledge_id, expected, with_parent=True, with_siblings="order" in wanted)
    _check_may_change(item, wanted, actor)
    before, was_draft = shown_sha256(item), item.status == Status.DRAFT
    changed = [
        _write_text(item, wanted, actor, now),
        _switch(item, wanted),
        _relate(item, wanted),
        place(item, wanted["order"]) if "order" in wanted else False,
    ]
    if any(changed):
        item.version += 1
        item.save()
        reindex(item)
    if not (_set_confidence(item, wanted, actor, now) or any(changed)):
        return item
    if not was_draft:
        write_knowledge_receipt(
            [item],
            actor=actor,
            now=now,
            trigger="knowledge_changed",
            detail={"version": item.version, "before_sha256": before, "after_sha256": shown_sha256(item)},
        )
    return item


def move_knowledge(
    *, knowledge_id: int, step: int, actor: Actor, now: datetime, expected: Collection[int] | None = None
) -> Knowledge:
    """Move an item by `step` places among those of its agent (-1: up), at most to an end. Errors as above."""
    with transaction.atomic():
        item = locked(knowledge_id, expected, with_parent=True, with_siblings=True)
        ids = _in_order(item.company_id, item.agent_id)
        order = max(ids.index(item.pk) + step, 0)
        return change_knowledge(knowledge_id=item.pk, changes={"order": order}, actor=actor, now=now)


def place(item: Knowledge, order: int) -> bool:
    """Put an item at a place among those of its agent, 0..n-1 in the end; whether that moved it. Lock the parent."""
    ids = _in_order(item.company_id, item.agent_id)
    old = ids.index(item.pk)
    ids.insert(min(order, len(ids) - 1), ids.pop(old))
    renumber(ids)
    item.order = ids.index(item.pk)
    return item.order != old


def close_gaps(company_id: int, agent_id: int | None) -> None:
    """Give the items of one agent the orders 0..n-1 again, after some went. Lock the parent."""
    renumber(_in_order(company_id, agent_id))


def renumber(ids: Sequence[int]) -> None:
    """Give these items the orders 0..n-1, writing only those that move."""
    current = dict(Knowledge.objects.filter(pk__in=ids).values_list("pk", "order"))
    moved = [Knowledge(pk=pk, order=order) for order, pk in enumerate(ids) if current[pk] != order]
    Knowledge.objects.bulk_update(moved, ["order"], batch_size=500)


def _in_order(company_id: int, agent_id: int | None) -> list[int]:
    rows = Knowledge.objects.filter(Q(agent_id=agent_id), company_id=company_id)
    return list(rows.order_by("order", "id").values_list("pk", flat=True))


def _check_may_change(item: Knowledge, wanted: Mapping[str, Any], actor: Actor) -> None:
    if item.status == Status.ARCHIVED:
        raise ApplicationError(
            "STATE_CONFLICT",
            _("%(code)s is archived; restore it first.") % {"code": item.code},
            extra={"status": item.status},
        )
    if actor.key_id is None:
        return
    if item.status != Status.DRAFT or item.created_by_key_id is None or set(wanted) & set(STAFF_FIELDS):
        message = _("A key may change only the text of drafts that a key reported; sign in as staff.")
        raise ApplicationError("SCOPE_MISSING", message)


def _write_text(item: Knowledge, wanted: Mapping[str, Any], actor: Actor, now: datetime) -> bool:
    """Set the fields of the text; whether any differs. Then nobody has confirmed the item."""
    columns, counts = redacted({name: wanted[name] for name in TEXT_FIELDS if name in wanted})
    changed = {name: value for name, value in columns.items() if getattr(item, name) != value}
    if not changed:
        return False
    for name, value in changed.items():
        setattr(item, name, value)
    item.title_key = title_key(item.title)
    item.redactions = dict(Counter(item.redactions) + Counter(counts))
    if item.status != Status.DRAFT or actor.key_id is None:
        # What a runtime goes on rewriting does not wait any longer for that.
        item.drafted_at = now
    unconfirm(item)
    return True


def unconfirm(item: Knowledge) -> None:
    """Make an item a draft that nobody has confirmed; not saved."""
    item.status, item.deprecated_at, item.deprecated_by, item.archived_at = Status.DRAFT, None, "", None
    item.confirmed_by, item.confirmed_by_user, item.confirmed_at, item.confirmed_sha256 = "", None, None, ""


def _switch(item: Knowledge, wanted: Mapping[str, Any]) -> bool:
    before, item.enabled = item.enabled, wanted.get("enabled", item.enabled)
    return before != item.enabled


def _set_confidence(item: Knowledge, wanted: Mapping[str, Any], actor: Actor, now: datetime) -> bool:
    delta = wanted.get("confidence", item.confidence) - item.confidence
    if delta:
        parameters = parameters_of(item.company_id)
        record_event(item, EventKind.SET, actor=actor, now=now, parameters=parameters, delta=delta)
    return bool(delta)


def _relate(item: Knowledge, wanted: Mapping[str, Any]) -> bool:
    if "related" not in wanted:
        return False
    others = named_items(item.company, wanted["related"], "/related")
    others = [other for other in others if other.pk != item.pk]
    if set(others) == set(item.related.all()):
        return False
    item.related.set(others)
    return True

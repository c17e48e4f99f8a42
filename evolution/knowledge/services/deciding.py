"""What becomes of an item: a person activates, deprecates, archives or restores it; anybody may vote on it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from common.actors import Actor
from common.errors import ApplicationError
from common.receipts.choices import LineStatus, ReceiptType
from common.text import clean
from evolution.knowledge.choices import EventKind, Status
from evolution.knowledge.models import Knowledge
from evolution.knowledge.rules.confidence import ZERO
from evolution.knowledge.selectors.shown import shown_sha256
from evolution.knowledge.services.confidence import record_event
from evolution.knowledge.services.editing import unconfirm
from evolution.knowledge.services.indexing import reindex
from evolution.knowledge.services.locking import check_version, locked, locked_items
from evolution.knowledge.services.receipts import write_knowledge_receipt
from evolution.knowledge.services.storing import is_own
from evolution.parameters.selectors import parameters_of

#: From which states each verb leads away.
FROM = {
    "activate": (Status.DRAFT,),
    "deprecate": (Status.DRAFT, Status.ACTIVE),
    "archive": (Status.DRAFT, Status.ACTIVE, Status.DEPRECATED),
    "restore": (Status.DEPRECATED, Status.ARCHIVED),
    "verify": (Status.DRAFT, Status.ACTIVE, Status.DEPRECATED),
    "reference": (Status.DRAFT, Status.ACTIVE, Status.DEPRECATED),
    "mislead": (Status.DRAFT, Status.ACTIVE, Status.DEPRECATED),
}


@dataclass(frozen=True)
class Decision:
    """Who decides, when, why; `expected` are the versions of the item that they saw."""

    actor: Actor
    now: datetime
    reason: str = ""
    expected: Collection[int] | None = None


@dataclass
class Activated:
    """What became of each item of a bulk activation: activated ones, and why others were left, by id."""

    items: list[Knowledge] = field(default_factory=list)
    refused: dict[int, ApplicationError] = field(default_factory=dict)


@transaction.atomic
def activate(*, knowledge_id: int, decision: Decision, shown_hash: str | None = None) -> Knowledge:
    """Let a person confirm a draft, which may be handed out from then on, for exactly the text it has.

    `shown_hash` is the SHA-256 of the text that the person read (`selectors.shown`). Confidence below the
    threshold is raised to it: the person stands for the item.
    Errors: SCOPE_MISSING unless a person decides; STATE_CONFLICT, also when the text is no longer the one shown;
    VERSION_MISMATCH, NOT_FOUND.
    """
    _check_is_person(decision.actor)
    item = locked(knowledge_id, decision.expected)
    _confirm(item, decision, shown_hash)
    return _closed(item, decision, "knowledge_activated")


@transaction.atomic
def activate_all(*, shown: Mapping[int, str], decision: Decision) -> Activated:
    """Activate several drafts of one company: id -> SHA-256 of the text shown; one receipt for all.

    One that cannot be activated is left as it is and does not stop the others.
    Errors: SCOPE_MISSING unless a person decides.
    """
    _check_is_person(decision.actor)
    report = Activated()
    for item in locked_items(list(shown)):
        try:
            _confirm(item, decision, shown[item.pk])
        except ApplicationError as error:
            report.refused[item.pk] = error
        else:
            report.items.append(item)
    if report.items:
        write_knowledge_receipt(
            report.items, actor=decision.actor, now=decision.now, trigger="knowledge_activated"
        )
    return report


def verify(*, knowledge_id: int, decision: Decision) -> Knowledge:
    """Say that an item proved right: +0.1. Errors: STATE_CONFLICT, also for a key's own report; NOT_FOUND."""
    return _voted(knowledge_id, EventKind.VERIFIED, "verify", "knowledge_verified", decision)


def reference(*, knowledge_id: int, decision: Decision) -> Knowledge:
    """Say that an item was used: +0.05. Errors: STATE_CONFLICT, also for a key's own report; NOT_FOUND."""
    return _voted(knowledge_id, EventKind.REFERENCED, "reference", "knowledge_referenced", decision)


def mislead(*, knowledge_id: int, decision: Decision) -> Knowledge:
    """Say that an item led into an error: -0.2. Errors: STATE_CONFLICT, NOT_FOUND."""
    return _voted(knowledge_id, EventKind.MISLEADING, "mislead", "knowledge_misled", decision)


@transaction.atomic
def deprecate(*, knowledge_id: int, decision: Decision) -> Knowledge:
    """Stop handing an item out, whatever its confidence; only a person brings it back. Errors: as `activate`."""
    item = _movable(knowledge_id, "deprecate", decision)
    item.status, item.deprecated_at = Status.DEPRECATED, decision.now
    item.deprecated_by = decision.actor.name[:200]
    return _moved(item, decision, "knowledge_deprecated")


@transaction.atomic
def archive(*, knowledge_id: int, decision: Decision) -> Knowledge:
    """Take an item out of view. Errors: as `activate`."""
    item = _movable(knowledge_id, "archive", decision)
    item.status, item.archived_at = Status.ARCHIVED, decision.now
    return _moved(item, decision, "knowledge_archived", type=ReceiptType.ARCHIVE, status=LineStatus.ARCHIVED)


@transaction.atomic
def restore(*, knowledge_id: int, decision: Decision) -> Knowledge:
    """Bring an item back: active, when a person had confirmed its text, else as a draft. Errors: as `activate`.

    Confidence below the threshold is raised to it: who restores an item stands for it.
    """
    item = _movable(knowledge_id, "restore", decision)
    if not item.confirmed_sha256:
        unconfirm(item)
        item.drafted_at = decision.now
        return _moved(item, decision, "knowledge_restored")
    item.status, item.deprecated_at, item.deprecated_by, item.archived_at = Status.ACTIVE, None, "", None
    item.version += 1
    _vouch(item, decision)
    return _closed(item, decision, "knowledge_restored")


def _movable(knowledge_id: int, verb: str, decision: Decision) -> Knowledge:
    _check_is_person(decision.actor)
    item = locked(knowledge_id, decision.expected)
    _check_state(item, verb)
    return item


def _moved(item: Knowledge, decision: Decision, trigger: str, **receipt: Any) -> Knowledge:
    item.version += 1
    item.save()
    reindex(item)
    return _closed(item, decision, trigger, **receipt)


def _confirm(item: Knowledge, decision: Decision, shown_hash: str | None) -> None:
    check_version(item, decision.expected)
    _check_state(item, "activate")
    actual = shown_sha256(item)
    if shown_hash is not None and shown_hash != actual:
        message = _("%(code)s is no longer what you were shown; look at it again.") % {"code": item.code}
        raise ApplicationError("STATE_CONFLICT", message, extra={"shown_hash": actual})
    item.status, item.version = Status.ACTIVE, item.version + 1
    item.confirmed_by, item.confirmed_by_user_id = decision.actor.name[:200], decision.actor.user_id
    item.confirmed_at, item.confirmed_sha256 = decision.now, actual
    _vouch(item, decision)


def _vouch(item: Knowledge, decision: Decision) -> None:
    """Record that a person stands for the item as it is, at the threshold or above; saves and indexes it."""
    parameters = parameters_of(item.company_id)
    record_event(
        item,
        EventKind.SET,
        actor=decision.actor,
        now=decision.now,
        parameters=parameters,
        delta=max(parameters.deprecation_threshold - item.confidence, ZERO),
    )


@transaction.atomic
def _voted(knowledge_id: int, kind: EventKind, verb: str, trigger: str, decision: Decision) -> Knowledge:
    item = locked(knowledge_id, decision.expected)
    _check_state(item, verb)
    if kind != EventKind.MISLEADING and is_own(item, decision.actor):
        message = _("%(code)s was reported by this key, which cannot corroborate it.") % {"code": item.code}
        raise ApplicationError("STATE_CONFLICT", message)
    parameters = parameters_of(item.company_id)
    record_event(item, kind, actor=decision.actor, now=decision.now, parameters=parameters)
    return _closed(item, decision, trigger)


def _check_is_person(actor: Actor) -> None:
    """Errors: SCOPE_MISSING: no key and no job decides what is handed out."""
    if not actor.is_person:
        raise ApplicationError("SCOPE_MISSING", _("Only a person may do this; sign in as staff."))


def _check_state(item: Knowledge, verb: str) -> None:
    if item.quarantined_at is not None:
        message = _("%(code)s is in quarantine; lift the quarantine first.") % {"code": item.code}
        raise ApplicationError("STATE_CONFLICT", message)
    if item.status not in FROM[verb]:
        told = {"code": item.code, "status": item.get_status_display(), "verb": verb}
        message = _("%(code)s is %(status)s; “%(verb)s” does not apply to it.") % told
        raise ApplicationError("STATE_CONFLICT", message, extra={"status": item.status})


def _closed(item: Knowledge, decision: Decision, trigger: str, **receipt: Any) -> Knowledge:
    write_knowledge_receipt(
        [item],
        actor=decision.actor,
        now=decision.now,
        trigger=trigger,
        reason=clean(decision.reason),
        detail={
            "version": item.version,
            "status": item.status,
            "confidence": str(item.confidence),
        },
        **receipt,
    )
    return item

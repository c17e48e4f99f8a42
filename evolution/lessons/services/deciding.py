"""What a person decides about a lesson: confirm, reject, supersede, archive, restore, delete."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from common.actors import Actor
from common.errors import ApplicationError, invalid
from common.receipts.choices import LineStatus, ReceiptType
from common.text import clean, is_blank
from evolution.lessons.choices import ArchiveReason, Status
from evolution.lessons.models import Lesson
from evolution.lessons.rules.lifecycle import DELETABLE, check_complete, next_status
from evolution.lessons.rules.lifetime import expiry_after_restore
from evolution.lessons.selectors.lessons import named_lesson
from evolution.lessons.services.citations import open_references
from evolution.lessons.services.indexing import reindex
from evolution.lessons.services.links import supersede, take_over, unlink
from evolution.lessons.services.locking import check_version, locked, move
from evolution.lessons.services.receipts import write_lesson_receipt
from evolution.lessons.services.records import digest, successor
from evolution.lessons.services.storing import completeness_of


@dataclass(frozen=True)
class Decision:
    """Who decides, when, why; `expected` are the versions of the lesson that the person saw."""

    actor: Actor
    now: datetime
    reason: str = ""
    expected: Collection[int] | None = None


@transaction.atomic
def confirm(*, lesson_id: int, decision: Decision) -> Lesson:
    """Make a draft active; the lesson that it supersedes leaves recall with that.

    Errors: STATE_CONFLICT, LESSON_INCOMPLETE naming each missing part, VERSION_MISMATCH, NOT_FOUND.
    """
    lesson = locked(lesson_id, decision.expected)
    next_status(lesson.status, "confirm")
    check_complete(completeness_of(lesson))
    move(lesson, "confirm", now=decision.now, **_decided(decision))
    return _closed(lesson, take_over(lesson, now=decision.now), decision, "lesson_confirmed")


@transaction.atomic
def reject(*, lesson_id: int, decision: Decision) -> Lesson:
    """Refuse a draft, with a reason; it supersedes nothing any more.

    Errors: VALIDATION_ERROR without a reason, STATE_CONFLICT, VERSION_MISMATCH, NOT_FOUND.
    """
    if is_blank(decision.reason):
        raise invalid("/reason", _("Say why, so that the next person knows."))
    lesson = locked(lesson_id, decision.expected)
    next_status(lesson.status, "reject")
    others = unlink(lesson, now=decision.now)
    move(lesson, "reject", now=decision.now, **_decided(decision))
    return _closed(lesson, others, decision, "lesson_rejected", status=LineStatus.USER_REJECTED)


@transaction.atomic
def supersede_lesson(
    *, newer_id: int, older: int | None, decision: Decision, expects_older: bool = False
) -> Lesson:
    """Let an active lesson (or a draft, once confirmed) supersede the one of number `older`; None: none any more.

    The decision's versions are those of the newer one, or with `expects_older` of the older.
    Errors: LESSON_SUPERSEDE_CYCLE, STATE_CONFLICT, NOT_FOUND, VERSION_MISMATCH.
    """
    lesson = locked(newer_id, None if expects_older else decision.expected)
    if expects_older and older is not None:
        check_version(named_lesson(lesson.company, older, "/supersedes"), decision.expected)
    version = lesson.version
    others = supersede(lesson, older, now=decision.now)
    if lesson.version == version:
        return lesson
    return _closed(lesson, others, decision, "lesson_superseded")


@transaction.atomic
def archive(*, lesson_id: int, decision: Decision) -> Lesson:
    """Take an active lesson out of view by hand. Errors: STATE_CONFLICT, also while it is cited; VERSION_MISMATCH."""
    lesson = locked(lesson_id, decision.expected)
    next_status(lesson.status, "archive")
    cited = open_references(lesson)
    if cited:
        values = {"code": lesson.code, "references": ", ".join(cited)}
        raise ApplicationError(
            "STATE_CONFLICT", _("%(code)s is cited by %(references)s; decide about these first.") % values
        )
    reason = {"archive_reason": ArchiveReason.BY_HAND, "archived_at": decision.now}
    move(lesson, "archive", now=decision.now, **reason, **_decided(decision))
    return _closed(
        lesson, [], decision, "lesson_archived", type=ReceiptType.ARCHIVE, status=LineStatus.ARCHIVED
    )


@transaction.atomic
def restore(*, lesson_id: int, decision: Decision) -> Lesson:
    """Bring an archived lesson back; an expiry that was computed counts from today.

    A superseded one (of an import) comes back when no lesson supersedes it.
    Errors: STATE_CONFLICT, also while another lesson supersedes it; VERSION_MISMATCH.
    """
    lesson = locked(lesson_id, decision.expected)
    newer = successor(lesson)
    if newer is not None and newer.status not in (Status.DRAFT, Status.REJECTED):
        values = {"older": lesson.code, "newer": newer.code}
        raise ApplicationError(
            "STATE_CONFLICT", _("%(newer)s supersedes %(older)s; remove that link first.") % values
        )
    verb = "reinstate" if lesson.status == Status.SUPERSEDED else "restore"
    next_status(lesson.status, verb)
    expiry = expiry_after_restore(
        timezone.localdate(decision.now),
        lesson.category,
        lesson.expires_on,
        is_manual=lesson.expires_manual,
    )
    fields: dict[str, Any] = {"expires_on": expiry, "archived_at": None, "archive_reason": ""}
    extras = {name: value for name, value in lesson.extras.items() if name != "superseded_by"}
    move(lesson, verb, now=decision.now, extras=extras, **fields, **_decided(decision))
    return _closed(lesson, [], decision, "lesson_restored")


@transaction.atomic
def delete_lesson(*, lesson_id: int, decision: Decision) -> None:
    """Delete a draft or a rejected lesson for good; its number is never used again.

    Errors: STATE_CONFLICT for any other, VERSION_MISMATCH, NOT_FOUND.
    """
    lesson = locked(lesson_id, decision.expected)
    if lesson.status not in DELETABLE:
        raise ApplicationError(
            "STATE_CONFLICT",
            _("%(code)s is %(status)s; only drafts and rejected lessons can be deleted.")
            % {"code": lesson.code, "status": lesson.get_status_display()},
            extra={"status": lesson.status},
        )
    before = digest(lesson)
    others = unlink(lesson, now=decision.now)
    newer = successor(lesson)
    if newer is not None:
        unlink(newer, now=decision.now)
    reindex(*others)
    write_lesson_receipt(
        [lesson, *others],
        actor=decision.actor,
        now=decision.now,
        trigger="lesson_deleted",
        reason=decision.reason,
        detail={"before_sha256": before},
    )
    Lesson.objects.filter(pk=lesson.pk).delete()


def _decided(decision: Decision) -> dict[str, Any]:
    """Who decided, as columns of a lesson."""
    return {
        "decided_by": decision.actor.name[:200],
        "decided_by_user_id": decision.actor.user_id,
        "decided_at": decision.now,
        "decision_reason": clean(decision.reason),
    }


def _closed(lesson: Lesson, others: list[Lesson], decision: Decision, trigger: str, **receipt: Any) -> Lesson:
    """Index what changed and write the receipt: of the lesson, and of others whose state changed with it."""
    reindex(lesson, *others)
    sha256 = digest(lesson)
    write_lesson_receipt(
        [lesson, *others],
        actor=decision.actor,
        now=decision.now,
        trigger=trigger,
        reason=clean(decision.reason),
        digests={lesson.pk: sha256},
        detail={"version": lesson.version, "status": lesson.status, "after_sha256": sha256},
        **receipt,
    )
    return lesson

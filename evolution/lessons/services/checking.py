"""What the lessons say of a change before it is merged, and what was answered. It advises, it blocks nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime
from typing import Any

from django.db import transaction
from django.utils.timezone import localdate
from django.utils.translation import gettext_lazy as _

from common.actors import Actor
from common.companies.models import Company
from common.errors import ApplicationError, Fault, invalid
from evolution.lessons.choices import KeyKind
from evolution.lessons.models import ChangeCheck, Lesson, LessonCheck, LessonKey, RecallLog
from evolution.lessons.models.lesson import LessonQuerySet
from evolution.lessons.rules.check_request import CheckRequest, ItemAnswer
from evolution.lessons.rules.guard import Change, Guarded, GuardResult, check_change, codes
from evolution.lessons.rules.kinds import lesson_code
from evolution.lessons.rules.lifetime import is_expired
from evolution.lessons.rules.paths import directories
from evolution.lessons.rules.subjects import judge_subject
from evolution.lessons.services.recalling import stored_text

_SHA_RE = re.compile(r"[0-9a-f]{7,64}")
#: Keys of one query.
_KEYS = 500
#: More keys than this are not asked for one by one.
_MANY = 20_000


def look_at_change(
    *, company: Company, request: CheckRequest, now: datetime, agent_id: int | None = None
) -> GuardResult:
    """Which active lessons the change meets and what is open, with the answers given so far. Reads only.

    `agent_id`: only this agent's lessons and those of all agents. docs/rules.md: change check.
    """
    lessons = Lesson.objects.of_company(company).for_agent(agent_id)
    reference = stored_text(request.reference, 200)
    change = Change(
        modified_files=request.modified_files,
        subject=request.subject,
        cited=request.cited,
        answers=_answers(company, reference),
        was_recalled=bool(reference)
        and RecallLog.objects.filter(company=company, reference=reference).exists(),
        has_lesson=judge_subject(request.subject).is_captured and _has_lesson(lessons, reference),
    )
    return check_change(_met(lessons, request.modified_files, localdate(now)), change)


@transaction.atomic
def check_and_store(
    *,
    company: Company,
    request: CheckRequest,
    actor: Actor,
    now: datetime,
    agent_id: int | None = None,
) -> dict[str, Any]:
    """Keep the answers of a request, check the change, keep the result under its reference; the answer.

    The same reference again updates both. Errors: NOT_FOUND for an answer to an unknown lesson, VALIDATION_ERROR
    for one to an item that the checklist does not have.
    """
    _store_answers(company, request, actor, now, agent_id)
    result = look_at_change(company=company, request=request, now=now, agent_id=agent_id)
    answer = check_answer(request.reference, result)
    ChangeCheck.objects.bulk_create(
        [
            ChangeCheck(
                company=company,
                reference=stored_text(request.reference, 200),
                verdict=result.verdict,
                subject=stored_text(request.subject, 500),
                modified_files=[stored_text(path, 500) for path in request.modified_files],
                result={name: answer[name] for name in _KEPT},
                checked_by=actor.name[:200],
                created_at=now,
                updated_at=now,
            )
        ],
        update_conflicts=True,
        unique_fields=["company", "reference"],
        update_fields=["verdict", "subject", "modified_files", "result", "checked_by", "updated_at"],
    )
    return answer


_KEPT = ("lessons", "missing_citations", "fix_without_lesson", "markdown")


def check_answer(reference: str, result: GuardResult) -> dict[str, Any]:
    """The result as JSON values."""
    return {
        "reference": reference,
        "verdict": result.verdict,
        "lessons": [
            {
                "id": lesson_code(lesson.number),
                "title": lesson.title,
                "severity": lesson.severity,
                "matched_files": lesson.matched_files,
                "open_items": [{"item": item.item, "text": item.text} for item in lesson.open_items],
            }
            for lesson in result.lessons
        ],
        "missing_citations": codes(result.missing_citations),
        "fix_without_lesson": result.fix_without_lesson,
        "markdown": result.markdown,
    }


def _met(lessons: LessonQuerySet, changed: Iterable[str], today: date) -> list[Guarded]:
    """The active lessons that list one of the files or a directory above it; one whose day is over rests."""
    keys = {key for path in changed for key in (path, *directories(path))}
    holders = sorted(_holders(lessons.active(), keys))
    found: dict[int, Lesson] = {}
    for start in range(0, len(holders), _KEYS):
        rows = lessons.active().filter(pk__in=holders[start : start + _KEYS])
        found |= {lesson.pk: lesson for lesson in rows if not is_expired(lesson.expires_on, today)}
    return [
        Guarded(
            number=lesson.number,
            title=lesson.title,
            severity=lesson.severity,
            related_files=lesson.related_files,
            checks=[item["text"] for item in lesson.checklist],
        )
        for lesson in found.values()
    ]


def _holders(lessons: LessonQuerySet, keys: Collection[str]) -> set[int]:
    """Ids of the lessons that list one of these files or directories."""
    listed = LessonKey.objects.filter(kind=KeyKind.FILE, lesson__in=lessons.values("pk"))
    if len(keys) > _MANY:
        # Thousands of deep paths: it is quicker to look at what all the lessons list.
        rows = listed.values_list("lesson", "key").iterator(chunk_size=2000)
        return {lesson for lesson, key in rows if key in keys}
    found: set[int] = set()
    ordered = sorted(keys)
    for start in range(0, len(ordered), _KEYS):
        found.update(listed.filter(key__in=ordered[start : start + _KEYS]).values_list("lesson", flat=True))
    return found


def _has_lesson(lessons: LessonQuerySet, reference: str) -> bool:
    """Whether some lesson, in whatever state, was captured from this commit or names this reference."""
    if not reference:
        return False
    sha = reference.lower()
    if _SHA_RE.fullmatch(sha) and lessons.filter(sha__startswith=sha).exists():
        return True
    named = lessons.exclude(references=[]).values_list("references", flat=True)
    return any(reference in references for references in named.iterator(chunk_size=2000))


def _answers(company: Company, reference: str) -> dict[tuple[int, int], bool]:
    if not reference:
        return {}
    rows = LessonCheck.objects.filter(company=company, reference=reference)
    return {(number, item): done for number, item, done in rows.values_list("lesson__number", "item", "done")}


def _store_answers(
    company: Company, request: CheckRequest, actor: Actor, now: datetime, agent_id: int | None
) -> None:
    numbers = {answer.lesson for answer in request.answers}
    lessons = Lesson.objects.of_company(company).for_agent(agent_id).filter(number__in=numbers)
    known = {lesson.number: lesson for lesson in lessons}
    rows: dict[tuple[int, int], LessonCheck] = {}
    for answer in request.answers:
        _check_item(answer, known)
        rows[answer.lesson, answer.item] = LessonCheck(
            company=company,
            reference=stored_text(request.reference, 200),
            lesson=known[answer.lesson],
            item=answer.item,
            done=answer.done,
            note=stored_text(answer.note, 500),
            answered_by=actor.name[:200],
            answered_by_key_id=actor.key_id,
            at=now,
        )
    # In one order, so that two checks of one change wait for each other and never both.
    LessonCheck.objects.bulk_create(
        [rows[key] for key in sorted(rows)],
        update_conflicts=True,
        unique_fields=["company", "reference", "lesson", "item"],
        update_fields=["done", "note", "answered_by", "answered_by_key", "at"],
    )


def _check_item(answer: ItemAnswer, known: Mapping[int, Lesson]) -> None:
    pointer = f"/answers/{answer.place}"
    lesson = known.get(answer.lesson)
    if lesson is None:
        message = _("There is no lesson %(code)s.") % {"code": lesson_code(answer.lesson)}
        fault = Fault(f"{pointer}/lesson", "NOT_FOUND", message)
        raise ApplicationError("NOT_FOUND", message, errors=(fault,))
    if answer.item >= len(lesson.checklist):
        told = {"code": lesson.code, "count": len(lesson.checklist), "item": answer.item}
        detail = _("%(code)s has %(count)d items, counted from 0; there is no item %(item)d.")
        raise invalid(f"{pointer}/item", detail % told)

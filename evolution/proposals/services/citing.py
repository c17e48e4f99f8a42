"""Lessons that a proposal cites: they exist, they are held while it is open, and it may contradict them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext_lazy as _

from common.companies.models import Company
from common.errors import ApplicationError, Fault
from evolution.lessons.models import Lesson
from evolution.lessons.rules.kinds import lesson_number
from evolution.lessons.services.citations import cite_lessons, close_citations
from evolution.proposals.choices import Status
from evolution.proposals.models import Proposal

#: In these states a proposal holds the lessons that it cites.
HOLDING = frozenset({Status.DRAFT, Status.PENDING, Status.APPROVED})
MAX_LESSONS = 50


def cited_codes(company: Company, codes: Iterable[str]) -> list[str]:
    """The codes of existing lessons, in one spelling, each once. Errors: VALIDATION_ERROR naming each unknown."""
    return known_codes(company, [(f"/cited_lessons/{index}", code) for index, code in enumerate(codes)])


def cited_lines(company: Company, codes: Sequence[str]) -> dict[str, list[str]]:
    """What cited lessons teach, by code, line by line: a change may say the opposite."""
    numbers = [number for number in map(lesson_number, codes) if number]
    lessons = Lesson.objects.of_company(company).filter(number__in=numbers) if numbers else ()
    return {lesson.code: lesson.takeaway.splitlines() for lesson in lessons}


def hold_citations(proposal: Proposal) -> None:
    """While the proposal is open, the lessons that it cites are not archived."""
    if proposal.status in HOLDING:
        if proposal.cited_lessons:
            cite_lessons(
                company=proposal.company, reference=proposal.code, codes=list(proposal.cited_lessons)
            )
    elif proposal.cited_lessons:
        close_citations(company=proposal.company, reference=proposal.code)


def known_codes(company: Company, named: Sequence[tuple[str, str]]) -> list[str]:
    """The codes of (pointer, code) in one spelling. Errors: VALIDATION_ERROR naming each that is no lesson."""
    if len(named) > MAX_LESSONS:
        detail = _("At most %(limit)d lessons; this names %(actual)d.") % {
            "limit": MAX_LESSONS,
            "actual": len(named),
        }
        raise ApplicationError("VALIDATION_ERROR", detail, errors=(Fault("", "VALIDATION_ERROR", detail),))
    numbers = {code: lesson_number(code) for _pointer, code in named}
    lessons = Lesson.objects.of_company(company).filter(number__in=[n for n in numbers.values() if n])
    found = {lesson.number: lesson.code for lesson in lessons.only("number")} if named else {}
    faults = [
        Fault(pointer, "VALIDATION_ERROR", _("There is no lesson of this code; it looks like EXP-007."))
        for pointer, code in named
        if numbers[code] not in found
    ]
    if faults:
        raise ApplicationError("VALIDATION_ERROR", faults[0].detail, errors=faults)
    return list(dict.fromkeys(found[number] for number in numbers.values() if number))

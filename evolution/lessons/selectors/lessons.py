"""Read lessons as the API and other rooms see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from agents.models import Agent, Document
from common.companies.models import Company
from common.errors import ApplicationError, Fault, invalid
from common.text import length
from evolution.lessons.choices import Category, KeyKind, LessonType, Severity, Status
from evolution.lessons.models import Lesson, LessonKey
from evolution.lessons.models.lesson import LessonQuerySet
from evolution.lessons.rules.kinds import lesson_code, lesson_number
from evolution.lessons.rules.paths import MAX_PATH, directories, normalise_path
from evolution.lessons.rules.words import tag_keys
from experiences.models import Experience

#: What the library holds: not what still waits for a person, nor what one refused.
LIBRARY = (Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED)
#: Words that a search looks for, and the texts in which it does.
MAX_WORDS = 10
MAX_QUERY = 500
SEARCHED = ("title", "takeaway", "what", "when", "how", "trigger")


def lessons_of(company: Company, agent_id: int | None = None) -> LessonQuerySet:
    """The company's lessons with all that an answer shows; for a key bound to an agent those that concern it."""
    queryset = Lesson.objects.of_company(company).for_agent(agent_id)
    return queryset.select_related(
        "company", "agent", "repository", "supersedes", "superseded_by"
    ).prefetch_related("related")


def get_lesson(company: Company, code: str, agent_id: int | None = None) -> Lesson:
    """The lesson of this code; NOT_FOUND for unknown and foreign ones alike."""
    lesson = lessons_of(company, agent_id).filter(number=lesson_number(code.upper()) or 0).first()
    if lesson is None:
        raise lesson_not_found()
    return lesson


def lesson_not_found() -> ApplicationError:
    """The one answer for a lesson that is not there for the caller."""
    return ApplicationError("NOT_FOUND", _("No such lesson."))


def named_lesson(company: Company, number: int, pointer: str) -> Lesson:
    """The company's lesson that a field names. Errors: NOT_FOUND at `pointer`."""
    lesson = Lesson.objects.of_company(company).filter(number=number).first()
    if lesson is None:
        message = _("There is no lesson %(code)s.") % {"code": lesson_code(number)}
        raise ApplicationError("NOT_FOUND", message, errors=(Fault(pointer, "NOT_FOUND", message),))
    return lesson


def rule_experience(company: Company, pk: Any) -> Experience:
    """The experience that holds a rule, of an agent that the company sees. AGENT_EXPERIENCE_NOT_FOUND."""
    agents = Agent.objects.live().readable_from(company)
    row = Experience.objects.filter(pk=pk, agent__in=agents).first()
    if row is None:
        raise ApplicationError("AGENT_EXPERIENCE_NOT_FOUND", _("There is no such experience."))
    return row


def rule_document(company: Company, pk: Any) -> Document:
    """The document that holds a rule, of an agent that the company sees. Errors: NOT_FOUND."""
    agents = Agent.objects.live().readable_from(company)
    document = Document.objects.live().readable_from(company).filter(pk=pk, agent__in=agents).first()
    if document is None:
        raise ApplicationError("NOT_FOUND", _("There is no such document."))
    return document


def chain_of(company: Company) -> dict[int, int | None]:
    """Number of each lesson that supersedes another -> the number of that one."""
    links = Lesson.objects.of_company(company).exclude(supersedes=None)
    return dict(links.values_list("number", "supersedes__number"))


def with_tag(queryset: LessonQuerySet, tag: str) -> LessonQuerySet:
    """Lessons that have the tag, in whatever spelling."""
    keys = LessonKey.objects.filter(lesson=OuterRef("pk"), kind=KeyKind.TAG, key__in=tag_keys([tag]))
    return queryset.filter(Exists(keys))


def with_file(queryset: LessonQuerySet, path: str) -> LessonQuerySet:
    """Lessons that list the file or a directory above it; for a directory also what lies below it."""
    path = normalise_path(path)
    listed = Q(key__in=[path, *directories(path)])
    if path.endswith("/"):
        listed |= Q(key__startswith=path)
    keys = LessonKey.objects.filter(listed, lesson=OuterRef("pk"), kind=KeyKind.FILE)
    return queryset.filter(Exists(keys))


def with_words(queryset: LessonQuerySet, query: str) -> LessonQuerySet:
    """Lessons in whose texts all words occur (the code counts too). Case does not matter."""
    for word in query.split()[:MAX_WORDS]:
        said = Q()
        # SQLite folds only ASCII by itself.
        for spelling in dict.fromkeys((word, word.lower(), word.upper(), word.title())):
            for name in SEARCHED:
                said |= Q(**{f"{name}__icontains": spelling})
        if number := lesson_number(word.upper()):
            said |= Q(number=number)
        queryset = queryset.filter(said)
    return queryset


def filtered(queryset: LessonQuerySet, company: Company, filters: dict[str, Any]) -> LessonQuerySet:
    """The lessons that meet all of status, type, severity, category, tag (a list), file, q, expiring_before.

    Errors: VALIDATION_ERROR for a word that is neither listed nor used by a lesson of the company.
    """
    for name, known in _WORDS.items():
        value = filters.get(name)
        if value is not None:
            _check_word(company, name, value, known)
            queryset = queryset.filter(**{name: value})
    for name, most in _LONGEST.items():
        _check_length(name, filters.get(name) or "", most)
    for tag in filter(None, filters.get("tag") or ()):
        queryset = with_tag(queryset, tag)
    if filters.get("file"):
        queryset = with_file(queryset, filters["file"])
    if filters.get("q"):
        queryset = with_words(queryset, filters["q"])
    before: date | None = filters.get("expiring_before")
    return queryset.filter(expires_on__lt=before) if before else queryset


_WORDS: dict[str, Sequence[str]] = {
    "status": Status.values,
    "type": LessonType.values,
    "severity": Severity.values,
    "category": Category.values,
}


#: Longer ones than a database takes as a pattern or a list.
_LONGEST = {"q": MAX_QUERY, "file": MAX_PATH}


def _check_length(name: str, value: str, most: int) -> None:
    actual = length(value)
    if actual > most:
        told = {"limit": most, "actual": actual, "excess": actual - most}
        detail = _("At most %(limit)d characters; this has %(actual)d: remove %(excess)d.")
        raise invalid(f"/{name}", detail % told)


def _check_word(company: Company, name: str, value: str, known: Iterable[str]) -> None:
    if value in known or Lesson.objects.of_company(company).filter(**{name: value}).exists():
        return
    told = {"name": name, "known": ", ".join(known)}
    raise invalid(f"/{name}", _("“%(name)s” is one of: %(known)s.") % told)

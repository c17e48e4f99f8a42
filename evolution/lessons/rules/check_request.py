"""What a caller may send to have a change checked. Pure. docs/rules.md: change check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from evolution.lessons.rules.kinds import lesson_codes, lesson_number
from evolution.lessons.rules.paths import MAX_PATH, normalise_paths
from evolution.lessons.rules.reading import Reading
from evolution.lessons.rules.recall_request import MAX_REFERENCE

MAX_CHANGED_FILES = 3000
MAX_SUBJECT = 500
MAX_BODY = 20_000
MAX_CITED = 200
MAX_ANSWERS = 500
MAX_ANSWER_NOTE = 500
MAX_LABELS, MAX_LABEL = 100, 100


@dataclass(frozen=True)
class ItemAnswer:
    """What was answered to one item (from 0) of a lesson's checklist; `place` in the request."""

    place: int
    lesson: int
    item: int
    done: bool
    note: str


@dataclass(frozen=True)
class CheckRequest:
    """A cleaned request. `cited` are numbers of lessons, those named in subject and body too."""

    reference: str = ""
    modified_files: Sequence[str] = ()
    subject: str = ""
    body: str = ""
    cited: frozenset[int] = frozenset()
    answers: Sequence[ItemAnswer] = ()


def checked_check(values: Mapping[str, Any], *, needs_reference: bool = True) -> CheckRequest:
    """The request of these raw values; `files` is another name for `modified_files`.

    Raises VALIDATION_ERROR naming every fault.
    """
    reading = Reading(values)
    reference = reading.text("reference", MAX_REFERENCE)
    if needs_reference and not reference and not reading.faults:
        reading.fault("/reference", _("Say which change this is, e.g. the number of the pull request."))
    name = "modified_files" if "modified_files" in reading.values else "files"
    files = normalise_paths(reading.texts(name, MAX_CHANGED_FILES, MAX_PATH))
    subject, body = reading.text("subject", MAX_SUBJECT), reading.text("body", MAX_BODY)
    reading.texts("labels", MAX_LABELS, MAX_LABEL)
    cited = _cited(reading, f"{subject}\n{body}")
    answers = [_answer(reading, place, value) for place, value in enumerate(_answers(reading))]
    reading.check()
    return CheckRequest(reference, files, subject, body, cited, [answer for answer in answers if answer])


def _cited(reading: Reading, text: str) -> frozenset[int]:
    listed = reading.texts("cited", MAX_CITED, MAX_REFERENCE, ",，")
    numbers = [reading.code_at(f"/cited/{index}", code) for index, code in enumerate(listed)]
    named = [lesson_number(code) for code in lesson_codes(text)]
    return frozenset(number for number in [*numbers, *named] if number)


def _answers(reading: Reading) -> Sequence[Mapping[str, Any]]:
    return reading.objects("answers", MAX_ANSWERS)


def _answer(reading: Reading, place: int, value: Mapping[str, Any]) -> ItemAnswer | None:
    inside = Reading(value)
    lesson = inside.code_at("/lesson", value.get("lesson"))
    item = inside.whole("item", 0, 2**15 - 1, -1)
    if item < 0 and not any(fault.pointer == "/item" for fault in inside.faults):
        inside.fault("/item", _("Say which item of the checklist, from 0."))
    done, note = inside.switch("done"), inside.text("note", MAX_ANSWER_NOTE)
    for fault in inside.faults:
        reading.fault(f"/answers/{place}{fault.pointer}", fault.detail)
    return ItemAnswer(place, lesson, item, done, note) if lesson and not inside.faults else None

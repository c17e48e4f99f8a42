"""Two at once: every recall is counted, an outcome counts once, one change has one check."""

from datetime import timedelta

import pytest
from django.utils import timezone

from evolution.lessons.models import ChangeCheck, Lesson, LessonCheck, RecallLog
from evolution.lessons.rules.check_request import checked_check
from evolution.lessons.rules.recall_request import checked_request
from evolution.lessons.services.checking import check_and_store
from evolution.lessons.services.recall_retention import archive_recalls
from evolution.lessons.services.recalling import Outcome, recall_and_log, record_outcome
from tests.factories import SYSTEM, make_company
from tests.lessons.library import BUS, make_lesson
from tests.races.threads import RACE, in_threads

pytestmark = RACE
THREADS = 6


@pytest.fixture
def acme():
    company = make_company("acme")
    for number in range(2):
        make_lesson(company, title=f"lease {number}", related_files=[BUS])
    return company


def test_recalls_and_outcomes_at_once_are_counted_exactly(acme):
    now = timezone.now()
    request = checked_request({"files": BUS})

    def recall(number):
        return recall_and_log(company=acme, request=request, actor=SYSTEM, now=now).recall_id

    ids = in_threads(THREADS, recall)
    assert None not in ids
    assert set(Lesson.objects.values_list("recalled_count", flat=True)) == {THREADS}

    def report(number):
        outcome = Outcome(lesson=1, helped=number % 2 == 0, note=str(number))
        return record_outcome(company=acme, recall_id=ids[0], outcome=outcome, actor=SYSTEM, now=now)

    replaced = in_threads(THREADS, report)
    assert replaced.count(False) == 1
    lesson = Lesson.objects.get(number=1)
    assert lesson.helped_count + lesson.not_helped_count == 1


def test_checks_of_one_change_at_once_leave_one_check_and_one_answer_an_item(acme):
    answers = [
        {"lesson": f"EXP-00{number}", "item": item, "done": True} for number in (2, 1) for item in range(3)
    ]
    fields = {"reference": "PR-1", "modified_files": [BUS], "answers": answers}

    def check(number):
        request = checked_check(fields)
        return check_and_store(company=acme, request=request, actor=SYSTEM, now=timezone.now())["verdict"]

    assert len(in_threads(THREADS, check)) == THREADS
    assert (ChangeCheck.objects.count(), LessonCheck.objects.count()) == (1, 6)


def test_two_jobs_archive_each_recall_once(acme):
    request = checked_request({"files": BUS})
    past, now = timezone.now() - timedelta(days=100), timezone.now()
    for _ in range(5):
        recall_and_log(company=acme, request=request, actor=SYSTEM, now=past)
    moved = in_threads(2, lambda number: archive_recalls(actor=SYSTEM, now=now))
    assert sum(moved) == 5
    assert RecallLog.objects.archived().count() == 5

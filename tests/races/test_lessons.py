"""Two people, two runtimes or two imports at once: one result, one receipt, numbers and chains stay whole."""

from datetime import UTC, datetime

import pytest

from agents.models import Agent
from common.errors import ApplicationError
from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from evolution.lessons.models import Lesson
from evolution.lessons.rules.records import LessonRecord
from evolution.lessons.services import deciding, links
from evolution.lessons.services.deciding import Decision
from evolution.lessons.services.folder import Item
from evolution.lessons.services.importing import import_lessons
from evolution.lessons.services.promoting import promote
from evolution.lessons.services.storing import change_lesson
from tests.factories import SYSTEM, make_agent, make_company
from tests.lessons.people import make_lesson
from tests.races.threads import RACE, in_threads

pytestmark = RACE
NOW = datetime(2026, 6, 12, 4, 0, tzinfo=UTC)


@pytest.fixture
def acme():
    return make_company("acme")


def decision():
    return Decision(SYSTEM, NOW, reason="because")


def outcome(work, *arguments, **keywords):
    """ok, or the code of the refusal."""
    try:
        work(*arguments, **keywords)
    except ApplicationError as error:
        return error.code
    return "ok"


def cycles():
    chain = dict(Lesson.objects.exclude(supersedes=None).values_list("pk", "supersedes"))
    for start in chain:
        current, steps = start, 0
        while current in chain and steps <= len(chain):
            current, steps = chain[current], steps + 1
        if steps > len(chain):
            return True
    return False


def test_of_two_who_decide_at_once_one_wins(acme):
    lessons = [make_lesson(acme, NOW, status="draft").pk for _ in range(3)]
    verbs = (deciding.confirm, deciding.reject)
    for pk in lessons:
        results = in_threads(4, lambda n, pk=pk: outcome(verbs[n % 2], lesson_id=pk, decision=decision()))
        assert sorted(results) == ["STATE_CONFLICT"] * 3 + ["ok"]
    assert Receipt.objects.filter(trigger__in=["lesson_confirmed", "lesson_rejected"]).count() == 3
    assert verify_chain(acme).intact


def test_links_made_at_once_never_close_a_circle(acme):
    first, second, third = (make_lesson(acme, NOW) for _ in range(3))
    pairs = [
        (first, second),
        (second, third),
        (third, first),
        (second, first),
        (first, third),
        (third, second),
    ]

    def link(number):
        newer, older = pairs[number]
        return outcome(
            change_lesson, lesson_id=newer.pk, changes={"supersedes": older.code}, actor=SYSTEM, now=NOW
        )

    results = in_threads(len(pairs), link)
    assert "ok" in results
    assert set(results) <= {"ok", "STATE_CONFLICT", "LESSON_SUPERSEDE_CYCLE"}
    assert not cycles()
    superseded = set(Lesson.objects.exclude(supersedes=None).values_list("supersedes", flat=True))
    assert set(Lesson.objects.filter(status="superseded").values_list("pk", flat=True)) == superseded


def test_the_search_for_circles_finds_one(acme, monkeypatch):
    """Control."""
    first, second = (make_lesson(acme, NOW) for _ in range(2))
    Lesson.objects.filter(pk=first.pk).update(supersedes=second)
    Lesson.objects.filter(pk=second.pk).update(supersedes=first)
    assert cycles()
    with pytest.raises(ApplicationError):
        links.check_supersedes(1, 2, {2: 1})


def test_a_lesson_promoted_by_many_at_once_is_one_experience(acme):
    agent, lesson = make_agent(acme), make_lesson(acme, NOW)
    results = in_threads(
        4,
        lambda n: outcome(
            promote, lesson_id=lesson.pk, agent=Agent.objects.get(pk=agent.pk), decision=decision()
        ),
    )
    assert sorted(results) == ["STATE_CONFLICT"] * 3 + ["ok"]
    assert agent.experiences.count() == 1


def test_changes_and_promotions_at_once_do_not_wait_for_each_other_for_ever(acme):
    agent = make_agent(acme)
    lessons = [make_lesson(acme, NOW) for _ in range(4)]

    def work(number):
        if number % 2:
            return outcome(promote, lesson_id=lessons[number // 2].pk, agent=agent, decision=decision())
        others = [lesson.code for lesson in lessons if lesson is not lessons[number // 2]]
        changes = {"title": f"t{number}", "related": others}
        return outcome(
            change_lesson, lesson_id=lessons[number // 2].pk, changes=changes, actor=SYSTEM, now=NOW
        )

    assert in_threads(8, work) == ["ok"] * 8
    assert agent.experiences.count() == 4
    assert verify_chain(acme).intact


def test_one_library_brought_in_twice_at_once_comes_once_and_reports_keep_their_numbers(acme):
    items = [
        Item(f"f{n}", LessonRecord(number=n, title=f"t{n}", what="w", related=[n % 5 + 1]))
        for n in range(1, 6)
    ]

    def work(number):
        if number < 2:
            return import_lessons(items=items, company=acme, actor=SYSTEM, now=NOW).imported
        return make_lesson(acme, NOW, status="draft").number

    first, second, *reported = in_threads(5, work)
    # Drafts that came before the import took its low numbers, and are then left as they are.
    lost = sum(number <= 5 for number in reported)
    assert first + second == 5 - lost
    numbers = list(Lesson.objects.values_list("number", flat=True))
    assert len(set(numbers)) == len(numbers) == 8 - lost

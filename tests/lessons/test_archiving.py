"""Lessons leave the field of view when their time is over; rules and what is under discussion stay."""

import os
import random
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone

from common.receipts.models import Receipt
from common.search.models import SearchDocument, SearchGeneration
from evolution.lessons.models import Lesson, LessonCitation
from evolution.lessons.rules.lifetime import Living, archive_plan
from evolution.lessons.rules.recall_request import checked_request
from evolution.lessons.selectors.recall import recall_lessons
from evolution.lessons.services import archiving
from evolution.lessons.services.citations import cite_lessons, close_citations
from evolution.lessons.services.deciding import Decision, restore
from evolution.lessons.tasks import archive_lessons
from tests.commands.calls import lines, run
from tests.factories import SYSTEM
from tests.house.scripts import ROOT
from tests.lessons.library import make_lesson

pytestmark = pytest.mark.django_db
TODAY = date(2027, 1, 19)
LIVE, OVER = "2027-01-19T12:00:00+08:00", "2027-01-20T00:00:00+08:00"


def archive(*options, at=OVER):
    return lines("archive_lessons", "--as-of", at, *options)


def practice(company, day="2026-07-23", **fields):
    return make_lesson(company, date=date.fromisoformat(day), **fields)


def states():
    return dict(Lesson.objects.values_list("number", "status"))


def receipts():
    return list(Receipt.objects.filter(type="archive", trigger="lessons_expired").order_by("pk"))


def test_the_day_of_expiry_is_still_live_and_a_second_run_archives_nothing(acme):
    lesson = practice(acme)
    assert lesson.expires_on == TODAY
    assert archive(at=LIVE) == ["archived 0 expired 0 least-recalled 0 cited 0"]
    assert archive("--dry-run") == ["EXP-001", "would have: archived 1 expired 1 least-recalled 0 cited 0"]
    assert (states(), receipts()) == ({1: "active"}, [])
    assert archive() == ["EXP-001", "archived 1 expired 1 least-recalled 0 cited 0"]
    assert archive() == ["archived 0 expired 0 least-recalled 0 cited 0"]
    lesson.refresh_from_db()
    assert (lesson.status, lesson.archive_reason, lesson.version) == ("archived", "expired", 2)
    (receipt,) = receipts()
    assert (receipt.detail["archived"], receipt.detail["reason"]) == (1, "expired")
    assert [line.target for line in receipt.lines.all()] == ["EXP-001"]


def test_rules_calibrations_and_what_is_cited_stay(acme, rival):
    kept = [practice(acme, category="CALIB-EXP", expires_on=date(2026, 8, 1)) for _number in range(2)]
    incident = practice(acme, category="INCIDENT-EXP")
    cited, foreign = practice(acme), practice(rival)
    Lesson.objects.filter(pk=kept[0].pk).update(category="RULE-EXP")
    cite_lessons(company=acme, reference="EP-001", codes=[cited.code])
    assert archive("--company", "acme") == [
        f"{cited.code} stays: it is cited", "archived 0 expired 0 least-recalled 0 cited 1",
    ]  # fmt: skip
    assert not receipts()
    close_citations(company=acme, reference="EP-001")
    assert archive("--company", "acme")[-1] == "archived 1 expired 1 least-recalled 0 cited 0"
    active = Lesson.objects.active().values_list("pk", flat=True)
    assert set(active) == {kept[0].pk, kept[1].pk, incident.pk, foreign.pk}
    assert archive(at="2027-07-24T12:00:00+08:00")[-1].startswith("archived 2 ")
    assert set(active.all()) == {lesson.pk for lesson in kept}
    assert {receipt.company.slug for receipt in receipts()} == {"acme", "rival"}


def test_above_the_cap_the_least_recently_recalled_go(acme, settings):
    settings.LESSONS_PRACT_CAP = 3
    now = datetime(2026, 8, 1, tzinfo=UTC)
    for number in range(6):
        practice(acme, day=f"2026-07-{20 - number}")
    make_lesson(acme, category="INCIDENT-EXP", date=TODAY)
    Lesson.objects.filter(number__in=[6, 5]).update(last_recalled_at=now)
    Lesson.objects.filter(number=1).update(last_recalled_at=now - timedelta(days=1))
    cite_lessons(company=acme, reference="EP-001", codes=["EXP-004"])
    at = "2026-08-01T12:00:00+08:00"
    expected = ["EXP-003", "EXP-002", "EXP-001"]
    assert archive("--dry-run", at=at) == [
        *expected,
        "would have: archived 3 expired 0 least-recalled 3 cited 0",
    ]
    assert archive("--limit", "1", at=at)[0] == "EXP-003"
    assert archive(at=at) == [*expected[1:], "archived 2 expired 0 least-recalled 2 cited 0"]
    assert archive(at=at)[-1].startswith("archived 0 ")
    assert set(Lesson.objects.filter(status="archived").values_list("archive_reason", flat=True)) == {"lru"}


def test_250_expired_ones_are_all_archived_and_reported(acme, monkeypatch):
    first = practice(acme)
    copies = [Lesson(company=acme, number=number) for number in range(2, 251)]
    for copy in copies:
        for name in ("title", "date", "expires_on", "status", "created_by"):
            setattr(copy, name, getattr(first, name))
    Lesson.objects.bulk_create(copies)
    monkeypatch.setattr(archiving, "BATCH", 100)
    assert archive("--dry-run")[-1].startswith("would have: archived 250 expired 250")
    printed = archive()
    assert printed[-1].startswith("archived 250 expired 250 ")
    assert printed[-2] == "… and 150 more"
    assert [receipt.detail["archived"] for receipt in receipts()] == [100, 100, 50]
    assert Lesson.objects.filter(status="archived").count() == 250


def test_a_crash_between_two_batches_loses_and_repeats_nothing(acme, monkeypatch):
    for _number in range(5):
        practice(acme)
    monkeypatch.setattr(archiving, "BATCH", 2)
    real, calls = archiving.note_archived, []

    def fail(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise ZeroDivisionError
        real(*arguments)

    monkeypatch.setattr(archiving, "note_archived", fail)
    with pytest.raises(ZeroDivisionError):
        archive()
    assert Lesson.objects.filter(status="archived").count() == 2 == receipts()[0].detail["archived"]
    archive()
    assert sum(receipt.detail["archived"] for receipt in receipts()) == 5
    assert not Lesson.objects.active().exists()


def test_archived_lessons_leave_recall_and_can_be_restored(acme):
    lesson = practice(acme, title="quagga zebra", tags=["quagga"])
    practice(acme, day="2026-12-01", title="quagga other")
    before = SearchGeneration.objects.get(company=acme, kind="lesson").counted
    archive()
    assert before - SearchGeneration.objects.get(company=acme, kind="lesson").counted == 1
    document = SearchDocument.objects.get(object_id=lesson.pk)
    assert (document.state, document.expires) == (2, None)

    def found(**asked):
        request = checked_request({"task": "quagga zebra", "tags": ["quagga"], **asked})
        now = datetime(2027, 1, 20, 4, tzinfo=UTC)
        recalled = recall_lessons(company=acme, request=request, now=now)
        return [match.lesson.pk for match in recalled.matches]

    assert lesson.pk not in found()
    assert lesson.pk in found(include_archived=True)
    restored = restore(
        lesson_id=lesson.pk, decision=Decision(SYSTEM, datetime(2027, 1, 20, 4, tzinfo=UTC), reason="again")
    )
    assert (restored.status, restored.expires_on) == ("active", date(2027, 7, 19))
    assert lesson.pk in found()


def test_the_index_after_an_archive_is_as_if_it_had_been_built_anew(acme):
    for number in range(4):
        practice(acme, title=f"标题 {number} zebra", tags=["x", "y"], related_files=[f"src/{number}.py"])
    practice(acme, day="2027-01-01")
    archive()
    head = SearchGeneration.objects.get(company=acme, kind="lesson")
    assert lines("rebuild_search", "--company", "acme", "--kind", "lesson", "--dry-run")[-1].endswith(
        "differences 0"
    )
    assert head.counted == 1


def test_the_database_chooses_what_the_rule_says(acme, settings):
    """Both say the same of a hundred lessons of all kinds."""
    chance = random.Random(7)
    settings.LESSONS_PRACT_CAP = 15
    now = datetime(2027, 1, 20, 4, tzinfo=UTC)
    rows = [
        Lesson(
            company=acme,
            number=number,
            title="t",
            created_by="x",
            category=chance.choice(["PRACT-EXP"] * 4 + ["RULE-EXP", "CALIB-EXP", "INCIDENT-EXP", "own"]),
            status=chance.choice(["active"] * 5 + ["draft", "archived", "superseded"]),
            date=date(2026, 6, 1) + timedelta(days=chance.randrange(5)),
            expires_on=chance.choice([None, TODAY, TODAY - timedelta(days=1), TODAY + timedelta(days=9)]),
            last_recalled_at=chance.choice([None, None, now, now - timedelta(days=chance.randrange(9))]),
        )
        for number in range(1, 101)
    ]
    Lesson.objects.bulk_create(rows)
    cited = set(chance.sample(range(1, 101), 20))
    for lesson in Lesson.objects.filter(number__in=cited):
        LessonCitation.objects.create(lesson=lesson, reference="EP-001", is_open=lesson.number % 4 > 0)
    cited = {number for number in cited if number % 4}
    living = [
        Living(row.number, row.category, row.status, row.date, row.expires_on, row.last_recalled_at)
        for row in rows
    ]
    plan = archive_plan(living, timezone.localdate(now), cited, settings.LESSONS_PRACT_CAP)
    report = archiving.archive_lessons(actor=SYSTEM, now=now, dry_run=True)
    assert report.cited_count == len(plan.cited) > 0
    assert (report.expired, report.least_recalled) == (len(plan.expired), len(plan.least_recalled))
    archiving.archive_lessons(actor=SYSTEM, now=now)
    archived = Lesson.objects.filter(archived_at=now)
    chosen = {
        reason: sorted(archived.filter(archive_reason=reason).values_list("number", flat=True))
        for reason in ("expired", "lru")
    }
    assert chosen == {"expired": sorted(plan.expired), "lru": sorted(plan.least_recalled)}
    assert len(plan.expired) > 5 < len(plan.least_recalled)


def test_the_task_does_the_same_and_twice_nothing_more(acme):
    practice(acme, day="2020-01-01")
    assert (archive_lessons(), archive_lessons()) == (1, 0)
    assert len(receipts()) == 1


def test_an_unknown_company_is_one_error():
    with pytest.raises(Exception, match="No company"):
        run("archive_lessons", "--company", "nope")


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles", "Asia/Shanghai"])
def test_the_day_is_that_of_the_settings_whatever_the_process_says(zone):
    """2026-06-30 is the last day of a PRACT-EXP of 2026-01-01; 23:30 in Shanghai is still that day."""
    code = (
        "import django; django.setup()\n"
        "from datetime import datetime, date, UTC\n"
        "from django.utils import timezone\n"
        "from evolution.lessons.rules.lifetime import expires_on, is_expired\n"
        "for hour in (15, 16):\n"
        "    now = datetime(2026, 6, 30, hour, 30, tzinfo=UTC)\n"
        "    print(is_expired(expires_on(date(2026, 1, 1), 'PRACT-EXP'), timezone.localdate(now)))\n"
    )
    env = {
        **os.environ,
        "TZ": zone,
        "DJANGO_SETTINGS_MODULE": "config.settings.test",
        "TIME_ZONE": "Asia/Shanghai",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]

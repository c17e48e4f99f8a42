"""Several runs over one repository, and several archives, at once: nothing twice, numbers and receipts whole."""

from datetime import UTC, date, datetime

import pytest
from django.db import IntegrityError

from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from evolution.lessons.models import Lesson, Repository
from evolution.lessons.rules.capture_request import checked_capture
from evolution.lessons.services import archiving
from evolution.lessons.services.archiving import archive_lessons
from evolution.lessons.services.capturing import Capturing
from evolution.lessons.services.scanning import Asked, capture_pushed, scan_repository
from tests.factories import SYSTEM, make_company
from tests.lessons.git_folders import commit, git
from tests.lessons.people import make_lesson
from tests.races.threads import RACE, in_threads

pytestmark = RACE
NOW = datetime(2026, 6, 12, 4, 0, tzinfo=UTC)
ASKED = Asked(SYSTEM, NOW)


@pytest.fixture
def acme():
    return make_company("acme")


@pytest.fixture
def repository(acme, tmp_path):
    git(tmp_path, "init", "-q", "-b", "main")
    for number in range(6):
        commit(tmp_path, f"fix: {number}", {"hot.py": str(number), f"rules/{number}.md": "x"})
    return Repository.objects.create(company=acme, name="app", path=str(tmp_path))


def pushes(number):
    commits = [{"sha": f"{sha:040x}", "subject": f"fix: pushed {sha}"} for sha in range(5)]
    return checked_capture({"repository": "app", "commits": commits, "labels": ["experience-capture"]})


def test_scans_and_pushes_at_once_capture_nothing_twice(repository, acme):
    def work(number):
        if number % 2:
            capture_pushed(company=acme, request=pushes(number), actor=SYSTEM, now=NOW)
        else:
            scan_repository(repository_id=repository.pk, asked=ASKED)

    in_threads(6, work)
    sources = list(Lesson.objects.values_list("source", flat=True))
    assert sorted(sources) == ["churn"] + ["commit"] * 11 + ["rule_file"] * 6
    assert sorted(Lesson.objects.values_list("number", flat=True)) == list(range(1, 19))
    receipts = Receipt.objects.filter(type="capture")
    assert sum(receipt.detail["captured"] for receipt in receipts) == 18
    repository.refresh_from_db()
    assert repository.cursor_sha == git(repository.path, "rev-parse", "HEAD")
    assert verify_chain(acme).intact


def test_without_the_memory_of_what_was_captured_the_database_refuses(repository, monkeypatch):
    """Control."""
    scan_repository(repository_id=repository.pk, asked=ASKED)
    Repository.objects.update(cursor_sha="")
    monkeypatch.setattr(Capturing, "is_known", lambda self, *keys: False)
    with pytest.raises(IntegrityError):
        scan_repository(repository_id=repository.pk, asked=ASKED)
    assert Lesson.objects.filter(source="commit").count() == 6


def test_archives_at_once_archive_each_lesson_once(acme, monkeypatch):
    monkeypatch.setattr(archiving, "BATCH", 3)
    for _number in range(12):
        make_lesson(acme, NOW, date=date(2025, 1, 1))
    reports = in_threads(4, lambda number: archive_lessons(actor=SYSTEM, now=NOW))
    assert sum(report.archived for report in reports) == 12
    assert set(Lesson.objects.values_list("status", "version")) == {("archived", 2)}
    receipts = Receipt.objects.filter(trigger="lessons_expired")
    assert sum(receipt.detail["archived"] for receipt in receipts) == 12
    targets = [line.target for receipt in receipts for line in receipt.lines.all()]
    assert len(targets) == len(set(targets)) == 12
    assert verify_chain(acme).intact

"""Several scans of the same commits at once: no sighting, structure or name twice, no error."""

import pytest
from django.db import IntegrityError
from django.utils import timezone

from common.receipts.selectors import verify_chain
from evolution.patterns.models import Pattern, PatternSighting
from evolution.patterns.services import scanning
from evolution.patterns.services.scanning import Commit, scan
from evolution.patterns.services.storing import create_pattern
from tests.factories import SYSTEM, make_company
from tests.patterns.diffs import added, three_places
from tests.races.threads import RACE, in_threads

pytestmark = RACE
DIFF = three_places() + added("z.py", "repository session")


@pytest.fixture
def acme():
    company = make_company("acme")
    values = {"name": "Repository", "keywords": ["repository", "session"]}
    create_pattern(company=company, values=values, actor=SYSTEM, now=timezone.now())
    return company


def scanned(company, commit):
    return scan(company=company, commit=Commit("app", commit, DIFF), actor=SYSTEM, now=timezone.now())


def test_scans_at_once_note_each_thing_once(acme):
    reports = in_threads(4, lambda number: [scanned(acme, commit) for commit in ("a1", "b2", "c3")])
    assert sorted(Pattern.objects.values_list("number", flat=True)) == [1, 2]
    assert PatternSighting.objects.count() == 3 * 4
    assert sum(len(report.drafted) for found in reports for report in found) == 1
    assert set(Pattern.objects.values_list("status", flat=True)) == {"active"}
    assert verify_chain(acme).intact


def test_without_the_look_at_what_is_there_the_database_refuses(acme, monkeypatch):
    """Control."""
    scanned(acme, "a1")
    everything = PatternSighting.objects.none()
    manager = type("Blind", (), {"filter": lambda self, **kwargs: everything})()
    create = PatternSighting.objects.bulk_create
    manager.bulk_create = create
    blind = type(
        "PatternSighting", (), {"objects": manager, "__new__": lambda cls, **kw: PatternSighting(**kw)}
    )
    monkeypatch.setattr(scanning, "PatternSighting", blind)
    with pytest.raises(IntegrityError):
        scanned(acme, "a1")
    assert PatternSighting.objects.count() == 4

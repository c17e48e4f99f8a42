"""Outcomes at once: each counts once, the ledger adds up, and a source has one warning."""

import pytest
from django.utils import timezone

from evolution.knowledge.models import CausalScore, Knowledge, Outcome
from evolution.knowledge.rules.outcomes import checked_report
from evolution.knowledge.selectors.causal import causal_scores
from evolution.knowledge.services.outcomes import Told, record_outcomes
from tests.factories import SYSTEM, make_agent, make_company
from tests.knowledge.items import make_knowledge, of_ledger
from tests.races.threads import RACE, in_threads

pytestmark = RACE
THREADS = 8


@pytest.fixture
def items():
    """One for all agents, one of an agent: they belong to different parents and share numbers and index."""
    company = make_company("acme")
    owners = (None, make_agent(company))
    return [make_knowledge(company, f"title {at}", agent=agent) for at, agent in enumerate(owners)]


def told(item, number, key=None):
    report = checked_report({"knowledge": item.code, "result": "failure", "task": f"task {number}"})
    return Told(report, SYSTEM, timezone.now(), key=key)


def test_outcomes_at_once_are_all_counted_and_warned_of_once(items):
    def report(number):
        item = items[number % 2]
        return record_outcomes(company=item.company, items=[item], told=told(item, number)).warnings

    warnings = [warning for made in in_threads(2 * THREADS, report) for warning in made]
    assert sorted(warning.anti_of_id for warning in warnings) == [item.pk for item in items]
    assert Knowledge.objects.exclude(anti_of=None).count() == 2
    kept = {row.knowledge_id: (row.samples, row.score) for row in CausalScore.objects.all()}
    scores = causal_scores(items[0].company_id, [item.pk for item in items])
    assert kept == {pk: (THREADS, score) for pk, score in scores.items()}
    for item in items:
        item.refresh_from_db()
        assert item.confidence == of_ledger(item)


def test_one_report_sent_by_many_at_once_is_one_outcome(items):
    item = items[0]

    def report(_number):
        return record_outcomes(company=item.company, items=[item], told=told(item, 1, key="once"))

    recorded = in_threads(THREADS, report)
    assert {one.outcomes[0].pk for one in recorded} == {Outcome.objects.get().pk}

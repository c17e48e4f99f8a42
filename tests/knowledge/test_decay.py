"""Confidence that nobody uses fades in whole steps, once, however often the job runs; what is out of date goes."""

import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from common.search.models import SearchDocument
from evolution.knowledge.models import ConfidenceEvent, Knowledge, Outcome
from evolution.knowledge.services import deciding
from evolution.knowledge.tasks import decay_knowledge as decay_task
from evolution.parameters.models import Parameter
from tests.knowledge.items import decision, key_actor, make_knowledge, of_ledger

pytestmark = pytest.mark.django_db
CREATED = datetime(2026, 1, 1, tzinfo=UTC)
MARCH = "2026-03-05T00:00:00+00:00"


def run(command="decay_knowledge", as_of=MARCH, *arguments):
    out = io.StringIO()
    call_command(command, "--as-of", as_of, *arguments, stdout=out)
    return out.getvalue().splitlines()


def stored():
    return Knowledge.objects.get()


def outcomes(item, results, minutes=60, bugs=0):
    for number, result in enumerate(results):
        Outcome.objects.create(
            company=item.company,
            knowledge=item,
            code=item.code,
            task=f"task {number}",
            result=result,
            time_saved_minutes=minutes,
            bugs_introduced=bugs,
            created_by="test",
            at=CREATED,
        )


def test_golden_two_steps_then_nothing_more(acme):
    make_knowledge(acme, now=CREATED, active=True)
    assert run() == ["k-001 0.7 → 0.5 steps 2", "decayed 1 deprecated 0"]
    assert (stored().confidence, stored().status) == (Decimal("0.5"), "active")
    assert stored().last_decay_at == CREATED + timedelta(days=60)
    assert run() == ["decayed 0 deprecated 0"]
    assert stored().confidence == Decimal("0.5")
    assert of_ledger(stored()) == stored().confidence


def test_golden_used_in_between_no_decay(acme):
    item = make_knowledge(acme, now=CREATED, active=True)
    used = decision(now=datetime(2026, 2, 20, tzinfo=UTC))
    deciding.reference(knowledge_id=item.pk, decision=used)
    assert run() == ["decayed 0 deprecated 0"]
    assert stored().confidence == Decimal("0.75")


def test_golden_the_task_three_times_a_day_and_once_as_retry(acme):
    make_knowledge(acme, now=timezone.now() - timedelta(days=31), confidence="0.9", active=True)
    before = Receipt.objects.count()
    done = [decay_task.apply().get() for _run in range(3)] + [decay_task.apply(retries=1).get()]
    assert done == [1, 0, 0, 0]
    assert stored().confidence == Decimal("0.8")
    assert Receipt.objects.count() == before + 1
    assert verify_chain(acme).intact


def test_a_decayed_item_decays_again_from_where_the_last_step_ended(acme):
    make_knowledge(acme, now=CREATED, active=True)
    for as_of, left in [
        ("2026-02-10T00:00Z", "0.6"),
        ("2026-03-01T00:00Z", "0.6"),
        ("2026-03-02T00:00Z", "0.5"),
    ]:
        run("decay_knowledge", as_of)
        assert stored().confidence == Decimal(left), as_of


def test_a_trial_run_tells_the_same_and_keeps_nothing(acme):
    make_knowledge(acme, now=CREATED, active=True)
    before = Receipt.objects.count()
    assert run("decay_knowledge", MARCH, "--dry-run") == [
        "k-001 0.7 → 0.5 steps 2",
        "would have: decayed 1 deprecated 0",
    ]
    assert stored().confidence == Decimal("0.7")
    assert (ConfidenceEvent.objects.filter(kind="decay").exists(), Receipt.objects.count()) == (False, before)


@pytest.mark.parametrize(
    ("results", "minutes", "bugs", "left"),
    [
        (["success"] * 5, 60, 0, "0.6"),
        (["failure"] * 5, 0, 3, "0.4"),
        (["success"] * 5, 0, 0, "0.5"),
        (["success"] * 4, 60, 0, "0.5"),
    ],
)
def test_the_causal_score_says_how_fast(acme, results, minutes, bugs, left):
    outcomes(make_knowledge(acme, now=CREATED, active=True), results, minutes, bugs)
    run()
    assert stored().confidence == Decimal(left)


def test_below_the_threshold_it_is_deprecated_and_no_longer_fades(acme):
    make_knowledge(acme, now=CREATED, confidence="0.6", active=True)
    assert run() == ["k-001 0.6 → 0.4 steps 2 deprecated", "decayed 1 deprecated 1"]
    assert run("decay_knowledge", "2026-09-01T00:00Z") == ["decayed 0 deprecated 0"]


@pytest.mark.parametrize(
    "fields",
    [
        {"category": "anti-pattern"},
        {"status": "draft"},
        {"status": "archived"},
        {"quarantined_at": CREATED},
    ],
)
def test_what_is_not_handed_out_and_warnings_do_not_fade(acme, fields):
    make_knowledge(acme, now=CREATED, active=True)
    Knowledge.objects.update(**fields)
    assert run() == ["decayed 0 deprecated 0"]


def test_a_company_and_a_limit_narrow_the_run(acme, rival):
    for company in (acme, rival):
        make_knowledge(company, "a", now=CREATED, active=True)
        make_knowledge(company, "b", now=CREATED, active=True)
    assert run("decay_knowledge", MARCH, "--company", "acme", "--limit", "1")[-1] == "decayed 1 deprecated 0"
    assert run("decay_knowledge", MARCH, "--company", "acme")[-1] == "decayed 1 deprecated 0"
    assert run()[-1] == "decayed 2 deprecated 0"
    with pytest.raises(CommandError):
        run("decay_knowledge", MARCH, "--company", "nobody")


def test_the_rate_of_the_company_counts(acme):
    Parameter.objects.create(company=acme, name="decay_rate", value=-0.05)
    make_knowledge(acme, now=CREATED, active=True)
    run()
    assert stored().confidence == Decimal("0.6")


def fallen(company, title="fallen"):
    """An item that decay deprecated on 2026-03-05."""
    item = make_knowledge(company, title, now=CREATED, confidence="0.6", active=True)
    run()
    return item


def test_a_week_after_it_was_deprecated_it_is_archived_and_can_be_restored(acme):
    item = fallen(acme)
    assert run("archive_knowledge", "2026-03-12T00:00:00Z") == ["archived 0 drafts 0 purged 0"]
    assert run("archive_knowledge", "2026-03-12T00:00:01Z") == [
        "k-001 deprecated",
        "archived 1 drafts 0 purged 0",
    ]
    assert run("archive_knowledge", "2026-03-13T00:00Z") == ["archived 0 drafts 0 purged 0"]
    assert deciding.restore(knowledge_id=item.pk, decision=decision()).status == "active"


def test_nothing_is_deleted_without_being_asked(acme):
    fallen(acme)
    run("archive_knowledge", "2027-03-12T00:00Z")
    assert stored().status == "archived"


def test_a_purge_leaves_events_outcomes_and_orders_whole(acme):
    item = fallen(acme)
    outcomes(item, ["failure"])
    kept = make_knowledge(acme, "kept", related=["k-001"], active=True)
    trial = run("archive_knowledge", "2026-04-01T00:00Z", "--purge", "--dry-run")
    assert trial[-1] == "would have: archived 1 drafts 0 purged 1"
    assert Knowledge.objects.count() == 2
    events = ConfidenceEvent.objects.filter(code="k-001").count()
    assert run("archive_knowledge", "2026-04-01T00:00Z", "--purge") == [
        "k-001 deprecated",
        "k-001 purged",
        "archived 1 drafts 0 purged 1",
    ]
    left = stored()
    assert (left.pk, left.order, list(left.related.all())) == (kept.pk, 0, [])
    assert ConfidenceEvent.objects.filter(code="k-001").count() == events
    assert Outcome.objects.get().code == "k-001"
    assert SearchDocument.objects.filter(kind="knowledge", removed=False).count() == 1
    assert verify_chain(acme).intact
    assert make_knowledge(acme, "new").code == "k-003"


def test_a_draft_that_nobody_confirmed_in_two_weeks_leaves_the_queue_and_can_come_back(acme):
    """reliability.md H11."""
    item = make_knowledge(acme, now=CREATED)
    assert run("archive_knowledge", "2026-01-15T00:00:00Z")[-1] == "archived 0 drafts 0 purged 0"
    assert run("archive_knowledge", "2026-01-15T00:00:01Z", "--purge") == [
        "k-001 draft",
        "archived 1 drafts 1 purged 0",
    ]
    assert not Knowledge.objects.drafts().exists()
    restored = decision(now=datetime(2026, 2, 1, tzinfo=UTC))
    assert deciding.restore(knowledge_id=item.pk, decision=restored).status == "draft"
    assert run("archive_knowledge", "2026-02-10T00:00Z")[-1] == "archived 0 drafts 0 purged 0"


def test_what_is_in_quarantine_is_neither_archived_nor_deleted(acme):
    make_knowledge(acme, now=CREATED)
    Knowledge.objects.update(quarantined_at=CREATED)
    assert run("archive_knowledge", MARCH, "--purge") == ["archived 0 drafts 0 purged 0"]


@pytest.mark.parametrize("as_of", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00", "1969-12-31"])
@pytest.mark.parametrize("command", ["decay_knowledge", "archive_knowledge", "archive_injections"])
def test_a_time_at_the_end_of_the_calendar_is_refused(command, as_of):
    with pytest.raises(CommandError, match="is not within|is no ISO"):
        call_command(command, "--as-of", as_of)


def test_a_changed_threshold_takes_effect_with_the_next_run_and_back(acme):
    make_knowledge(acme, now=CREATED, active=True)
    soon = "2026-01-02T00:00Z"
    threshold = Parameter.objects.create(company=acme, name="deprecation_threshold", value=0.8)
    before = Receipt.objects.count()
    told = run("decay_knowledge", soon)
    assert told == ["k-001 deprecated: the threshold was changed", "decayed 0 deprecated 0 settled 1"]
    assert run("decay_knowledge", soon) == ["decayed 0 deprecated 0"]
    threshold.delete()
    assert run("decay_knowledge", soon, "--dry-run")[0] == "k-001 active: the threshold was changed"
    assert stored().status == "deprecated"
    run("decay_knowledge", soon)
    assert (stored().status, stored().deprecated_at) == ("active", None)
    assert Receipt.objects.count() == before + 2


def test_what_a_person_deprecated_stays_so_under_any_threshold(acme):
    item = make_knowledge(acme, now=CREATED, active=True)
    deciding.deprecate(knowledge_id=item.pk, decision=decision(now=CREATED, reason="outdated"))
    assert run("decay_knowledge", "2026-01-02T00:00Z") == ["decayed 0 deprecated 0"]
    assert stored().status == "deprecated"


def test_successes_of_one_key_beyond_what_it_can_raise_keep_nothing_from_fading(acme):
    item = make_knowledge(acme, now=CREATED, active=True)
    actor = key_actor(acme)
    for day in range(1, 6):
        deciding.reference(knowledge_id=item.pk, decision=decision(actor, CREATED + timedelta(days=day)))
    assert (stored().confidence, stored().referenced_at) == (Decimal("0.8"), CREATED + timedelta(days=2))

"""What waits for a decision longer than thirty days is closed, by the command and by the daily job."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from common.receipts.models import Receipt
from evolution.proposals.models import Proposal
from evolution.proposals.services import expiring
from evolution.proposals.tasks import expire_proposals
from tests.factories import make_agent
from tests.proposals.samples import NOTE, note

pytestmark = pytest.mark.django_db
MONTH = timedelta(days=30)


@pytest.fixture
def agent(acme):
    return make_agent(acme, name="运维")


def run(*arguments):
    out = StringIO()
    call_command("expire_proposals", *map(str, arguments), stdout=out)
    return out.getvalue().strip()


def as_of(moment):
    return "--as-of", moment.isoformat()


def waiting(runtime, agent, count=1):
    for number in range(count):
        runtime.draft(agent, note(f"punkt {number}"))
    return Proposal.objects.order_by("-pending_at").first().pending_at


def states():
    return list(Proposal.objects.order_by("number").values_list("status", flat=True))


def test_exactly_thirty_days_stay_and_a_second_more_goes(runtime, agent):
    since = waiting(runtime, agent)
    assert run(*as_of(since + MONTH)) == "expired 0"
    assert run(*as_of(since + MONTH + timedelta(seconds=1))) == "expired 1"
    assert states() == ["expired"]


def test_an_expired_proposal_counts_as_skipped_with_a_receipt_and_is_decided_no_more(
    runtime, reviewer, agent
):
    since = waiting(runtime, agent)
    run(*as_of(since + 2 * MONTH))
    receipt = Receipt.objects.get(trigger="proposal_expired")
    assert (receipt.totals["skipped"], receipt.totals["total"]) == (1, 1)
    assert receipt.actor_name == "command:expire_proposals"
    assert reviewer.post("proposals/EP-001/approve").status_code == 409
    assert runtime.post("proposals", {"agent": agent.pk, "items": [note("punkt 0")]}).status_code == 201


@pytest.mark.parametrize(("late", "status"), [(timedelta(0), 200), (timedelta(seconds=1), 409)])
def test_what_is_overdue_is_not_approved_although_the_job_has_not_closed_it(
    runtime, reviewer, agent, time_machine_at, late, status
):
    since = waiting(runtime, agent)
    with time_machine_at(since + MONTH + late):
        reviewer.client.force_login(reviewer.person)
        answer = reviewer.post("proposals/EP-001/approve")
        assert answer.status_code == status, answer.content.decode()
        if status == 409:
            ends = timezone.localtime(since + MONTH).isoformat(sep=" ", timespec="seconds")
            assert (answer.json()["code"], ends in answer.json()["detail"]) == ("STATE_CONFLICT", True)
            # What the message advises works: skipped, the same may be proposed anew.
            assert reviewer.post("proposals/EP-001/skip").json()["status"] == "skipped"
            again = {"agent": agent.pk, "items": [note("punkt 0")]}
            assert reviewer.post("proposals", again).status_code == 201
    assert states() == (["applied"] if status == 200 else ["skipped", "pending"])


def test_what_is_overdue_is_not_edited_either_and_stays_as_it_was(runtime, proposer, agent, time_machine_at):
    """An edit would not make it approvable, and nobody may lengthen its life by one."""
    since = waiting(runtime, agent)
    before = runtime.get("proposals/EP-001").json()
    with time_machine_at(since + MONTH + timedelta(seconds=1)):
        proposer.client.force_login(proposer.person)
        for change in ({"content": "anders"}, {}):
            answer = proposer.patch("proposals/EP-001/items/1", change)
            assert (answer.status_code, answer.json()["code"]) == (409, "STATE_CONFLICT")
            assert "EP-001" in answer.json()["detail"]
    assert runtime.get("proposals/EP-001").json() == before


def test_an_edit_of_an_approved_one_starts_the_month_anew(runtime, approver_only, proposer, agent):
    waiting(runtime, agent)
    approver_only.post("proposals/EP-001/approve")
    later = timezone.now() + MONTH * 2
    assert run(*as_of(later)) == "expired 0", "what is approved waits for its apply"
    edited = proposer.patch("proposals/EP-001/items/1", {"content": "anders"}).json()
    assert edited["expires_at"] > edited["pending_at"]
    assert run(*as_of(later)) == "expired 1"


def test_what_was_approved_in_part_is_closed_too(runtime, approver_only, agent):
    runtime.draft(agent, NOTE, note("b", target="memory/b.md"))
    approver_only.post("proposals/EP-001/approve", {"items": [1]})
    run(*as_of(timezone.now() + MONTH * 2))
    assert [item.status for item in Proposal.objects.get().items.all()] == ["skipped", "skipped"]


def test_a_trial_run_counts_the_same_and_changes_nothing(runtime, agent):
    since = waiting(runtime, agent, 3)
    late = as_of(since + 2 * MONTH)
    assert run("--dry-run", *late) == "would have: expired 3"
    assert states() == ["pending"] * 3
    assert run(*late) == "expired 3"


def test_a_limit_takes_the_oldest_first_and_a_second_run_the_rest(runtime, agent):
    since = waiting(runtime, agent, 3)
    late = as_of(since + 2 * MONTH)
    assert run("--limit", "2", *late) == "expired 2"
    assert states() == ["expired", "expired", "pending"]
    assert run(*late) == "expired 1"
    assert run(*late) == "expired 0"


def test_the_daily_job_does_the_same_for_all_companies(runtime, rival_writer, rival, agent):
    waiting(runtime, agent)
    other = make_agent(rival, name="b")
    rival_writer.post("proposals", {"agent": other.pk, "items": [NOTE]})
    Proposal.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert expire_proposals() == 2
    assert expire_proposals() == 0
    assert set(Receipt.objects.filter(trigger="proposal_expired").values_list("company_slug", flat=True)) == {
        "acme", "rival",
    }  # fmt: skip


def test_one_that_is_decided_at_the_same_moment_is_left_alone(runtime, reviewer, agent, monkeypatch):
    waiting(runtime, agent)
    Proposal.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    locked = expiring.locked

    def decided_first(pk):
        Proposal.objects.filter(pk=pk).update(status="rejected")
        return locked(pk)

    monkeypatch.setattr(expiring, "locked", decided_first)
    assert expire_proposals() == 0 and states() == ["rejected"]

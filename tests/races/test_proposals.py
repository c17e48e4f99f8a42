"""Many people decide at once: one decision, one apply, one receipt; everybody else is told."""

import itertools
import threading
from collections import Counter

import pytest
from django.db import connection
from django.utils import timezone

from agents.models import DocumentVersion
from common.actors import Actor, Channel
from common.errors import ApplicationError
from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from evolution.proposals.models import Proposal
from evolution.proposals.services import applying, deciding, locking
from evolution.proposals.services.applying import apply_proposal, approve_and_apply
from evolution.proposals.services.deciding import Decision, approve, reject, skip
from evolution.proposals.services.drafting import Draft, ItemDraft, draft_proposal
from evolution.proposals.services.editing import edit_item
from evolution.proposals.services.expiring import expire_overdue
from evolution.proposals.services.rolling_back import roll_back
from tests.factories import SYSTEM, make_agent, make_company, make_person
from tests.races.threads import RACE, in_threads
from tests.sizes import sized

pytestmark = RACE
PROPOSALS = sized(12, 50)
APPROVERS = 8
_words = itertools.count(1)


@pytest.fixture
def acme():
    return make_company("acme")


@pytest.fixture
def people(acme):
    """Eight who may approve, apply and roll back."""
    persons = [make_person(f"p{number}", superuser=True) for number in range(APPROVERS)]
    return [Actor(person.username, Channel.API, user_id=person.pk) for person in persons]


@pytest.fixture
def agent(acme):
    return make_agent(acme, name="a")


def drafted(agent, target=None, content=None):
    item = ItemDraft(
        "knowledge", content or f"wort {next(_words)}", target or f"memory/{next(_words)}.md", "update"
    )
    draft = Draft(kind="learning", trigger="manual", items=[item])
    return draft_proposal(company=agent.company, agent=agent, draft=draft, actor=SYSTEM, now=timezone.now())


def told(work):
    """`ok`, or the code of the refusal."""
    try:
        work()
    except ApplicationError as error:
        return error.code
    return "ok"


def learnt():
    return DocumentVersion.objects.filter(source="proposal").count()


def receipts():
    return Receipt.objects.exclude(proposal_code="")


def test_eight_approvers_of_each_proposal_make_one_decision_one_change_and_one_receipt(agent, people, acme):
    codes = [drafted(agent).proposal.pk for _ in range(PROPOSALS)]

    def work(number):
        return [
            told(
                lambda pk=pk: approve_and_apply(
                    proposal_id=pk, decision=Decision(people[number], timezone.now()), applies=True
                )
            )
            for pk in codes
        ]

    answers = Counter(itertools.chain.from_iterable(in_threads(APPROVERS, work)))
    assert answers == {"ok": PROPOSALS, "STATE_CONFLICT": PROPOSALS * (APPROVERS - 1)}
    assert set(Proposal.objects.values_list("status", flat=True)) == {"applied"}
    assert (learnt(), receipts().count()) == (PROPOSALS, PROPOSALS)
    assert verify_chain(acme).intact


VERBS = {"approve": approve, "reject": reject, "skip": skip}


@pytest.mark.parametrize("pair", [("approve", "reject"), ("approve", "skip"), ("reject", "skip")])
def test_two_different_decisions_at_once_leave_one(agent, people, pair):
    codes = [drafted(agent).proposal.pk for _ in range(PROPOSALS)]

    def work(number):
        decide = VERBS[pair[number]]
        return [
            told(
                lambda pk=pk: decide(
                    proposal_id=pk, decision=Decision(people[number], timezone.now(), reason="r")
                )
            )
            for pk in codes
        ]

    one, other = in_threads(2, work)
    assert all({a, b} == {"ok", "STATE_CONFLICT"} for a, b in zip(one, other, strict=True))
    states = Counter(Proposal.objects.values_list("status", flat=True))
    assert states.total() == PROPOSALS and set(states) <= {"approved", "rejected", "skipped"}
    assert receipts().count() == PROPOSALS - states["approved"]


def test_two_applies_at_once_are_one(agent, people):
    codes = [drafted(agent).proposal.pk for _ in range(PROPOSALS)]
    for pk in codes:
        approve(proposal_id=pk, decision=Decision(people[0], timezone.now()))

    def work(number):
        return [
            told(lambda pk=pk: apply_proposal(proposal_id=pk, actor=people[number], now=timezone.now()))
            for pk in codes
        ]

    one, other = in_threads(2, work)
    assert all({a, b} == {"ok", "STATE_CONFLICT"} for a, b in zip(one, other, strict=True))
    assert (learnt(), receipts().count()) == (PROPOSALS, PROPOSALS)


def test_an_apply_and_an_edit_at_once_never_apply_what_nobody_approved(agent, people):
    codes = {drafted(agent).proposal.pk for _ in range(PROPOSALS)}
    approved = {}
    for pk in codes:
        approved[pk] = approve(proposal_id=pk, decision=Decision(people[0], timezone.now())).approved_hash

    def work(number):
        now = timezone.now()
        if number:
            return [
                told(lambda pk=pk: apply_proposal(proposal_id=pk, actor=people[1], now=now)) for pk in codes
            ]
        return [
            told(
                lambda pk=pk: edit_item(
                    proposal_id=pk, number=1, changes={"content": f"neu {pk}"}, actor=people[2], now=now
                )
            )
            for pk in codes
        ]

    in_threads(2, work)
    for proposal in Proposal.objects.all():
        item = proposal.items.get()
        assert (proposal.status == "applied") != item.content.startswith("neu")
        if proposal.status == "applied":
            assert proposal.approved_hash == approved[proposal.pk]


def test_two_rollbacks_at_once_are_one(agent, people):
    codes = [drafted(agent).proposal.pk for _ in range(PROPOSALS)]
    for pk in codes:
        decision = Decision(people[0], timezone.now())
        approve_and_apply(proposal_id=pk, decision=decision, applies=True)

    def work(number):
        now = timezone.now()
        return [
            told(lambda pk=pk: roll_back(proposal_id=pk, reason="r", actor=people[number], now=now))
            for pk in codes
        ]

    one, other = in_threads(2, work)
    assert all({a, b} == {"ok", "STATE_CONFLICT"} for a, b in zip(one, other, strict=True))
    assert receipts().filter(type="rollback").count() == PROPOSALS


def test_changes_of_one_document_by_many_proposals_lose_none_and_claim_none(agent, people, acme):
    """All approved on the same base: one is applied, each other one is a conflict that has changed nothing."""
    codes = [drafted(agent, target="memory/x.md").proposal.pk for _ in range(APPROVERS)]
    for pk in codes:
        approve(proposal_id=pk, decision=Decision(people[0], timezone.now()))
    done = in_threads(
        APPROVERS,
        lambda number: (
            apply_proposal(proposal_id=codes[number], actor=people[number], now=timezone.now()).status
        ),
    )
    assert Counter(done) == {"applied": 1, "conflict": APPROVERS - 1}
    text = DocumentVersion.objects.get(source="proposal").text
    assert text == Proposal.objects.get(status="applied").items.get().new_text
    assert receipts().count() == APPROVERS and verify_chain(acme).intact


def test_equal_drafts_at_once_are_one_proposal_seen_by_all(agent):
    outcomes = in_threads(
        APPROVERS, lambda number: drafted(agent, "memory/x.md", "immer dasselbe").proposal is not None
    )
    assert outcomes.count(True) == 1
    assert Proposal.objects.get().seen_count == APPROVERS


def test_drafts_decisions_and_rollbacks_together_end_without_a_deadlock(agent, people, acme):
    """Each thread does the whole way of its own proposals, on documents that the others change as well."""

    def whole_way(actor, number, turn):
        now = timezone.now()
        made = drafted(agent, f"memory/{(number + turn) % 3}.md", f"wort {number} {turn}").proposal
        yield told(
            lambda: approve_and_apply(proposal_id=made.pk, decision=Decision(actor, now), applies=True)
        )
        if turn % 2:
            yield told(lambda: roll_back(proposal_id=made.pk, reason="r", actor=actor, now=now))

    def work(number):
        turns = (whole_way(people[number], number, turn) for turn in range(PROPOSALS))
        return list(itertools.chain.from_iterable(turns))

    codes = Counter(itertools.chain.from_iterable(in_threads(4, work)))
    assert set(codes) <= {"ok", "STATE_CONFLICT", "ROLLBACK_CONFLICT"}
    assert codes["ok"] > 0 and verify_chain(acme).intact
    assert (
        receipts().filter(trigger="proposal_applied").count()
        == Proposal.objects.filter(status__in=["applied", "rolled_back"]).count()
    )


def test_expiring_and_approving_at_once_leave_one_outcome(agent, people):
    codes = [drafted(agent).proposal.pk for _ in range(PROPOSALS)]
    Proposal.objects.update(expires_at=timezone.now())

    def work(number):
        now = timezone.now()
        if number < 2:
            return expire_overdue(actor=SYSTEM, now=now)
        return [
            told(lambda pk=pk: approve(proposal_id=pk, decision=Decision(people[0], now))) for pk in codes
        ]

    first, second, approvals = in_threads(3, work)
    states = Counter(Proposal.objects.values_list("status", flat=True))
    assert states["expired"] == first + second == receipts().count()
    assert states["approved"] == approvals.count("ok") == PROPOSALS - states["expired"]


def test_without_the_lock_and_the_comparison_one_proposal_is_applied_more_than_once(
    agent, people, monkeypatch
):
    """The control: reading without a lock and writing the state without comparing loses the promise."""
    codes = [drafted(agent).proposal.pk for _ in range(4)]
    for pk in codes:
        approve(proposal_id=pk, decision=Decision(people[0], timezone.now()))

    def unlocked(proposal_id, expected=None):
        proposal = Proposal.objects.select_related("company", "agent", "agent__company").get(pk=proposal_id)
        barrier.wait(timeout=20)
        return proposal

    def uncompared(proposal, status, verb, *, now, **fields):
        Proposal.objects.filter(pk=proposal.pk).update(status=status, **fields)
        proposal.refresh_from_db()

    if connection.vendor == "sqlite":
        pytest.skip("on SQLite a transaction is itself the lock")
    barrier = threading.Barrier(2)
    monkeypatch.setattr(applying, "locked", unlocked)
    monkeypatch.setattr(applying, "move", uncompared)
    monkeypatch.setattr("evolution.proposals.services.applying._check_item", lambda *arguments: None)

    def work(number):
        now = timezone.now()
        return [
            told(lambda pk=pk: apply_proposal(proposal_id=pk, actor=people[number], now=now)) for pk in codes
        ]

    answers = list(itertools.chain.from_iterable(in_threads(2, work)))
    assert answers.count("ok") > len(codes)
    assert deciding.move is locking.move

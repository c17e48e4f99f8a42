"""Random sequences of steps by all kinds of principals, compared with the small model in `reference`."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run

from agents.models import Document
from agents.services.documents import put_document
from agents.services.protection_rules import create_protection_rule, delete_protection_rule
from common.companies.models import ApiKey
from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from evolution.proposals.models import Proposal
from evolution.proposals.services import deciding
from evolution.proposals.services.expiring import expire_overdue
from tests.factories import SYSTEM, an_edit, make_agent
from tests.proposals.reference import HIGH, LOW, RIGHTS, Item, Model
from tests.proposals.samples import PREFERENCE, RULE
from tests.sizes import sized

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(3600)]
WHO = st.sampled_from(sorted(RIGHTS))
NUMBER = st.sampled_from([1, 2])
SIZE = settings(
    max_examples=sized(200, 5000),
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def world(acme, staff, runtime):
    """The principals, each with just the rights of the model."""
    principals = {name: staff(name, "view", *rights) for name, rights in RIGHTS.items() if name != "relay"}
    principals["relay"] = runtime
    principals["proposer"].person.groups.get().permissions.add(
        Permission.objects.get(codename="add_proposal")
    )
    agent = make_agent(acme, name="a", owner_id=principals["owner"].person.pk)
    return agent, principals


class Sequences(RuleBasedStateMachine):
    """One proposal of two items; every answer and state is compared with the model."""

    world = None

    def __init__(self):
        super().__init__()
        self.agent, self.principals = self.world
        self.rules = {}
        self.words = 0
        self.atomic = transaction.atomic()
        self.atomic.__enter__()

    def teardown(self):
        assert verify_chain(self.agent.company).intact
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)

    @initialize(
        author=st.sampled_from(["proposer", "relay"]), risks=st.sampled_from([(LOW, LOW), (LOW, HIGH)])
    )
    def draft(self, author, risks):
        low = {**PREFERENCE, "target": f"users/u1/agents/{self.agent.pk}/memory/x.md"}
        items = [PREFERENCE, low if risks[1] == LOW else RULE]
        self.targets = {number: item["target"] for number, item in enumerate(items, 1)}
        answer = self.call(author, "POST", "", {"agent": self.agent.pk, "items": items})
        assert answer.status_code == 201, answer.content.decode()
        self.code = answer.json()["code"]
        self.model = Model(author, {n: Item(risk, author) for n, risk in enumerate(risks, 1)})

    def call(self, who, method, path, body):
        return self.principals[who].request(method, f"proposals{path}", body)

    def step(self, allowed, who, method, path, **body):
        """The answer is good exactly when the model allows the step; a refusal changes no document."""
        if who == "relay":
            body["decided_by"] = "u1"
        before = Receipt.objects.count()
        answer = self.call(who, method, f"/{self.code}{path}", body)
        failed = self.model.state in ("conflict", "failed") and allowed
        told = f"{who} {path} {body}: {answer.content.decode()[:500]}"
        assert answer.status_code < 500, told
        assert (answer.status_code < 300) == (allowed and not failed), told
        if not allowed:
            assert Receipt.objects.count() == before, "a refusal leaves no receipt"

    def verb(self, allowed, who, name, **body):
        self.step(allowed, who, "POST", f"/{name}", reason="r", confirmation="a", **body)

    @rule(who=WHO, number=NUMBER, name=st.sampled_from(["approve", "approve", "approve", "reject", "skip"]))
    def decide(self, who, number, name):
        self.verb(self.model.decide(who, name, number), who, name, items=[number])

    @precondition(lambda self: self.model.state == "pending" and not self.model.open())
    @rule(who=WHO)
    def finish(self, who):
        self.verb(self.model.finish(who), who, "approve")

    @rule(who=WHO, number=NUMBER)
    def edit(self, who, number):
        self.words += 1
        allowed = self.model.edit(who, number)
        self.step(allowed, who, "PATCH", f"/items/{number}", content=f"anders {self.words}")

    @rule(who=WHO)
    def apply(self, who):
        self.verb(self.model.apply(who), who, "apply")

    @rule(who=WHO)
    def rollback(self, who):
        self.verb(self.model.rollback(who), who, "rollback")

    @rule(who=WHO)
    def repropose(self, who):
        self.verb(self.model.repropose(who), who, "repropose")

    @rule(who=WHO)
    def submit(self, who):
        self.verb(self.model.submit(who), who, "submit")

    @precondition(lambda self: self.model.state == "draft")
    @rule(who=WHO)
    def discard(self, who):
        self.verb(self.model.discard(who), who, "reject")

    @rule()
    def expire(self):
        self.model.expire()
        expire_overdue(actor=SYSTEM, now=timezone.now() + timedelta(days=400))

    @rule(number=NUMBER)
    def staff_change_the_target(self, number):
        self.words += 1
        put_document(
            agent=self.agent,
            company=self.agent.company,
            path=self.targets[number],
            text=f"von Hand {self.words}\n",
            edit=an_edit(),
            request="by hand",
            by_hand=True,
        )
        if self.model.items[number].state in ("pending", "approved", "applied", "blocked"):
            self.model.items[number].is_stale = True

    @rule(number=NUMBER)
    def protect_the_target(self, number):
        if number not in self.rules:
            fields = {"pattern": self.targets[number], "level": "block"}
            self.rules[number] = create_protection_rule(fields=fields, actor=SYSTEM, now=timezone.now())
            self.model.items[number].is_protected = True

    @rule(number=NUMBER)
    def unprotect_the_target(self, number):
        if number in self.rules:
            delete_protection_rule(rule_id=self.rules.pop(number).pk, actor=SYSTEM, now=timezone.now())
            self.model.items[number].is_protected = False

    @rule(who=st.sampled_from(["approver", "owner", "relay"]))
    def demote(self, who):
        self.model.demoted.add(who)
        if who == "relay":
            ApiKey.objects.update(revoked_at=timezone.now())
        else:
            group = self.principals[who].person.groups.get()
            group.permissions.remove(Permission.objects.get(codename="approve_proposal"))

    @invariant()
    def states_agree(self):
        if not hasattr(self, "model"):
            return
        proposal = Proposal.objects.get()
        states = {item.number: item.status for item in proposal.items.all()}
        assert proposal.status == self.model.state
        assert states == {number: item.state for number, item in self.model.items.items()}
        learnt = Document.objects.filter(versions__source="proposal").exists()
        assert learnt == (self.model.state in ("applied", "rolled_back"))


def test_every_sequence_of_steps_goes_as_the_model_says(world):
    Sequences.world = world
    run(Sequences, settings=SIZE)


CONTROLS = {
    "check_risk": ("proposer", lambda proposal, decision, chosen: None),
    "check_relay": ("relay", lambda proposal, decision, chosen, owned: None),
}


@pytest.mark.parametrize("guard", CONTROLS)
def test_the_comparison_sees_a_guard_that_is_switched_off(world, monkeypatch, guard):
    """The control: who proposed a high-risk change approves it; a key approves what is not low."""
    who, nothing = CONTROLS[guard]
    monkeypatch.setattr(deciding, guard, nothing)
    Sequences.world = world
    sequence = Sequences()
    sequence.draft("proposer", (LOW, HIGH))
    with pytest.raises(AssertionError):
        sequence.decide(who, 2, "approve")
    sequence.teardown()

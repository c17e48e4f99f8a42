"""Several people decide about a parameter at once: one change, in the order that the approvals allow."""

from collections import Counter

import pytest
from django.utils import timezone

from common.actors import Actor, Channel
from common.errors import ApplicationError
from common.receipts.selectors import verify_chain
from evolution.parameters.models import Parameter, ParameterChange
from evolution.parameters.selectors import parameters_of
from evolution.parameters.services import Approval, set_parameter
from evolution.proposals.models import Proposal
from evolution.proposals.services.applying import approve_and_apply
from evolution.proposals.services.deciding import Decision
from evolution.proposals.sources.parameters import propose_parameter
from tests.factories import SYSTEM, make_company, make_person
from tests.races.threads import RACE, in_threads

pytestmark = RACE
MANY = 6


@pytest.fixture
def acme():
    return make_company("acme")


@pytest.fixture
def people():
    persons = [make_person(f"p{number}", superuser=True) for number in range(MANY)]
    return [Actor(person.username, Channel.API, user_id=person.pk) for person in persons]


def told(work):
    """`ok`, or the code of the refusal."""
    try:
        work()
    except ApplicationError as error:
        return error.code
    return "ok"


def proposed(company, value, name="injection_top_k"):
    return propose_parameter(
        company=company, name=name, value=value, reason="r", actor=SYSTEM, now=timezone.now()
    )


def test_the_same_change_proposed_by_many_at_once_is_one_proposal(acme):
    drafted = in_threads(MANY, lambda number: proposed(acme, 8))
    assert sum(one.proposal is not None for one in drafted) == 1
    assert Proposal.objects.get().seen_count == MANY


def test_two_approvals_at_once_make_one_change(acme, people):
    pk = proposed(acme, 8).proposal.pk

    def approve(number):
        decision = Decision(people[number], timezone.now())
        return told(lambda: approve_and_apply(proposal_id=pk, decision=decision, applies=True))

    assert Counter(in_threads(MANY, approve)) == {"ok": 1, "STATE_CONFLICT": MANY - 1}
    assert ParameterChange.objects.count() == 1 and parameters_of(acme.pk).injection_top_k == 8
    assert verify_chain(acme).intact


def test_different_values_approved_at_once_are_one_change_and_conflicts(acme, people):
    pks = [proposed(acme, 8 + number).proposal.pk for number in range(MANY)]

    def approve(number):
        decision = Decision(people[number], timezone.now())
        return told(lambda: approve_and_apply(proposal_id=pks[number], decision=decision, applies=True))

    in_threads(MANY, approve)
    states = Counter(Proposal.objects.values_list("status", flat=True))
    assert states["applied"] == 1 == ParameterChange.objects.count()
    assert parameters_of(acme.pk).injection_top_k == ParameterChange.objects.get().new


def set_by(company, number, expected=5):
    return set_parameter(
        company_id=company.pk,
        name="injection_top_k",
        value=8 + number,
        expected=expected,
        approval=Approval(f"EP-{number}", "x"),
        now=timezone.now(),
    )


def test_only_one_of_many_writers_finds_the_value_that_it_expects(acme):
    answers = in_threads(MANY, lambda number: told(lambda: set_by(acme, number)))
    assert Counter(answers) == {"ok": 1, "STATE_CONFLICT": MANY - 1}
    assert ParameterChange.objects.count() == 1 == Parameter.objects.count()


def test_the_order_of_the_rates_holds_when_both_ends_move_at_once(acme, people):
    """Alone each is in order, together they are not: the second must see the first."""
    pks = [
        proposed(acme, -0.14, "decay_rate").proposal.pk,
        proposed(acme, -0.12, "fast_decay_rate").proposal.pk,
    ]

    def approve(number):
        decision = Decision(people[number], timezone.now())
        return told(lambda: approve_and_apply(proposal_id=pks[number], decision=decision, applies=True))

    in_threads(2, approve)
    values = parameters_of(acme.pk)
    assert values.fast_decay_rate <= values.decay_rate <= values.slow_decay_rate
    assert ParameterChange.objects.count() == 1


def test_control_without_the_comparison_a_second_writer_overwrites_the_first(acme):
    class Anything:
        def __ne__(self, other):
            return False

    set_by(acme, 0)
    assert told(lambda: set_by(acme, 1)) == "STATE_CONFLICT"
    assert told(lambda: set_by(acme, 1, expected=Anything())) == "ok"
    assert ParameterChange.objects.count() == 2

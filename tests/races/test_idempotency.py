"""Clients that send one request several times at once: one effect, one answer, no error."""

import pytest

from agents.models import Agent
from common.idempotency.models import IdempotentRequest
from common.receipts.models import Receipt
from common.receipts.selectors import verify_chain
from experiences.models import Experience
from tests.factories import ApiClient, make_agent, make_company, make_key
from tests.races.threads import RACE, in_threads
from tests.sizes import sized

pytestmark = RACE

KEYS = sized(5, 25)


@pytest.fixture
def acme():
    return make_company("acme")


@pytest.fixture
def key(acme):
    return make_key(acme, scopes=["agents:write"])


def test_sixteen_clients_with_the_same_keys_have_one_effect_a_key(acme, key):
    agent = make_agent(acme)
    path = f"agents/{agent.pk}/experiences"

    def send(number):
        client = ApiClient(key)
        order = [(number + turn) % KEYS for turn in range(KEYS)]
        return {
            turn: client.post(path, {"content": f"row {turn}"}, **{"idempotency-key": f"key {turn}"})
            for turn in order
        }

    results = in_threads(16, send)
    for turn in range(KEYS):
        answers = [result[turn] for result in results]
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.content for answer in answers}) == 1
        assert len({answer["ETag"] for answer in answers}) == 1
    assert Experience.objects.filter(agent=agent).count() == KEYS
    assert IdempotentRequest.objects.count() == KEYS
    assert Receipt.objects.filter(agent_id=agent.pk, trigger="agent_changed").count() == KEYS
    assert verify_chain(acme).intact


def test_two_bodies_under_one_key_at_once_one_is_kept_the_others_are_told(key):
    def send(number):
        body = {"name": f"agent {number % 2}", "system_prompt": "x"}
        return ApiClient(key).post("agents", body, **{"idempotency-key": "one"})

    answers = in_threads(8, send)
    assert sorted({answer.status_code for answer in answers}) == [201, 409]
    made = [answer for answer in answers if answer.status_code == 201]
    assert len(made) == 4
    assert len({answer.content for answer in made}) == 1
    assert Agent.objects.count() == 1


def test_without_the_stored_answer_every_retry_would_add_a_row(acme, key, monkeypatch):
    """Control."""
    monkeypatch.setattr("common.api.views.run_once", lambda *, effect, **rest: effect())
    agent = make_agent(acme)

    def send(number):
        return ApiClient(key).post(
            f"agents/{agent.pk}/experiences", {"content": "x"}, **{"idempotency-key": "one"}
        )

    in_threads(4, send)
    assert Experience.objects.filter(agent=agent).count() == 4

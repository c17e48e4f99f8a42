"""A POST sent twice with one Idempotency-Key has one effect and one answer."""

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.models import Agent
from common.idempotency.models import IdempotentRequest
from common.idempotency.services import KEPT_FOR, forget_old
from common.receipts.models import Receipt
from experiences.models import Experience
from tests.factories import ApiClient, make_agent, make_key

pytestmark = pytest.mark.django_db

AGENT = {"name": "运维", "system_prompt": "x", "experiences": [{"content": "一"}, {"content": "二"}]}
KEY = {"idempotency-key": "order-66"}


def test_the_first_answer_comes_again_byte_for_byte_and_nothing_is_added(writer):
    first, second = writer.post("agents", AGENT, **KEY), writer.post("agents", AGENT, **KEY)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    assert first["ETag"] == second["ETag"] == '"1"'
    assert Agent.objects.count() == 1
    assert Receipt.objects.filter(trigger="agent_created").count() == 1


def test_the_key_may_stand_in_the_body_in_either_spelling(writer):
    answers = [
        writer.post("agents", {**AGENT, "idempotency_key": "k"}),
        writer.post("agents", {**AGENT, "idempotencyKey": "k"}),
        writer.post("agents", AGENT, **{"idempotency-key": "k"}),
    ]
    assert len({answer.content for answer in answers}) == 1
    assert Agent.objects.count() == 1


def test_equal_bodies_in_another_order_spelling_or_encoding_are_the_same_request(writer):
    first = writer.post("agents", '{"name":"运维","systemPrompt":"x"}'.encode(), **KEY)
    second = writer.post("agents", b'{ "system_prompt": "x", "name": "\\u8fd0\\u7ef4" }', **KEY)
    assert (first.status_code, second.content) == (201, first.content)


@pytest.mark.parametrize(
    "other", [{"name": "b"}, {"system_prompt": "y"}, {"experiences": []}, {"tags": None}]
)
def test_another_body_under_the_same_key_is_refused(writer, other):
    writer.post("agents", AGENT, **KEY)
    answer = writer.post("agents", {**AGENT, **other}, **KEY)
    assert (answer.status_code, answer.json()["code"]) == (409, "IDEMPOTENCY_KEY_REUSED")
    assert Agent.objects.count() == 1


def test_an_error_is_not_kept_and_the_retry_may_succeed(writer):
    assert writer.post("agents", {**AGENT, "name": ""}, **KEY).status_code == 400
    assert not IdempotentRequest.objects.exists()
    assert writer.post("agents", AGENT, **KEY).status_code == 201


def test_a_crash_in_the_middle_keeps_nothing_and_the_retry_has_one_effect(writer, monkeypatch):
    def crash(*args, **kwargs):
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr("agents.services.editing.write_receipt", crash)
        assert writer.post("agents", AGENT, **KEY).status_code == 500
    assert not Agent.objects.exists()
    assert not IdempotentRequest.objects.exists()
    assert [writer.post("agents", AGENT, **KEY).status_code for _ in range(2)] == [201, 201]
    assert Agent.objects.count() == 1


def test_rows_and_copies_are_added_once(writer, acme):
    agent = make_agent(acme, name="a")
    for path, body in [
        (f"agents/{agent.pk}/experiences", {"content": "x"}),
        (f"agents/{agent.pk}/copy", None),
    ]:
        first, second = writer.post(path, body, **KEY), writer.post(path, body, **KEY)
        assert (first.status_code, second.content) == (201, first.content)
    assert Experience.objects.filter(agent=agent).count() == 1
    assert Agent.objects.count() == 2


def test_a_key_is_good_for_each_company_and_each_kind_of_request(writer, rival_writer, acme):
    agents = [make_agent(acme), make_agent(acme)]
    assert writer.post("agents", AGENT, **KEY).status_code == 201
    assert rival_writer.post("agents", AGENT, **KEY).status_code == 201
    for agent in agents:
        assert writer.post(f"agents/{agent.pk}/experiences", {"content": "x"}, **KEY).status_code == 201
    assert rival_writer.get("agents").json()["count"] == 1


def test_two_keys_of_one_company_share_its_idempotency_keys(acme):
    one, two = (ApiClient(make_key(acme, scopes=["agents:write"])) for _ in range(2))
    assert one.post("agents", AGENT, **KEY).content == two.post("agents", AGENT, **KEY).content


def test_without_a_key_each_request_counts(writer, acme):
    agent = make_agent(acme)
    for _ in range(2):
        assert writer.post(f"agents/{agent.pk}/experiences", {"content": "same"}).status_code == 201
    assert agent.experiences.count() == 2


@pytest.mark.parametrize("key", ["", "k" * 129, "tab\there", 7, ["k"], {}])
def test_a_key_is_1_to_128_printable_characters(writer, key):
    answer = writer.post("agents", {**AGENT, "idempotency_key": key})
    assert answer.status_code == 400, answer.content.decode()
    assert answer.json()["errors"][0]["pointer"] == "/idempotency_key"
    assert not Agent.objects.exists()


@pytest.mark.parametrize("key", ["k", "k" * 128, "订单-1", "a b"])
def test_keys_of_any_printable_sort_are_taken(writer, key):
    assert writer.post("agents", {**AGENT, "idempotency_key": key}).status_code == 201


def test_two_different_keys_in_one_request_are_refused(writer):
    answer = writer.post("agents", {**AGENT, "idempotency_key": "a"}, **{"idempotency-key": "b"})
    assert answer.status_code == 400


def test_answers_are_forgotten_after_their_time_and_not_before(writer):
    writer.post("agents", AGENT, **KEY)
    made = IdempotentRequest.objects.get().created_at
    assert forget_old(now=made + KEPT_FOR) == 0
    assert forget_old(now=made + KEPT_FOR + timedelta(microseconds=1)) == 1
    assert writer.post("agents", AGENT, **KEY).json()["code"] == "AGENT_NAME_TAKEN"
    assert timezone.is_aware(made)

"""Secrets and personal data are taken out of everything a runtime sends, before the first write."""

import json

import pytest
from django.apps import apps
from django.core import serializers

from common.receipts.models import Receipt
from evolution.proposals.models import Proposal
from tests.common.secrets_corpus import CONTEXTS, secrets
from tests.factories import make_agent
from tests.proposals.samples import NOTE, note, whole

pytestmark = pytest.mark.django_db
SECRETS = {name: value for name, value in secrets(seed=5).items() if name != "database url"}


@pytest.fixture
def agent(acme):
    return make_agent(acme, name="运维")


def everything_stored() -> str:
    """All rows of all tables as one text."""
    rows = [row for model in apps.get_models() for row in model._base_manager.order_by("pk")]
    return json.dumps(serializers.serialize("python", rows), default=str, ensure_ascii=False)


def said(name, number=0):
    return CONTEXTS[number % len(CONTEXTS)].format(SECRETS[name])


@pytest.mark.parametrize("name", SECRETS)
def test_no_field_of_a_draft_keeps_a_secret(runtime, agent, name):
    body = {
        "agent": agent.pk,
        "title": said(name, 0)[:200],
        "rationale": said(name, 1),
        "conversation_id": said(name, 2)[:200],
        "items": [note(said(name, number)) for number in range(8)]
        + [whole("memory/whole.md", said(name, 3))]
        + [{**NOTE, "operation": "create", "target": f"memory/{SECRETS[name]}.md"}],
        "idempotency_key": "k",
    }
    answer = runtime.post("proposals", body)
    assert answer.status_code == 201, answer.content.decode()
    stored = everything_stored()
    kept = SECRETS[name] in stored
    # An e-mail address may be the id of an end user, so it stays where a path names one.
    assert kept == (name == "e-mail"), name
    if kept:
        assert stored.replace(f"memory/{SECRETS[name]}.md", "").count(SECRETS[name]) == 0
    assert sum(Proposal.objects.get().redactions.values()) >= 8


@pytest.mark.parametrize("name", SECRETS)
def test_no_field_of_a_teaching_keeps_a_secret(runtime, agent, name):
    for number, text in enumerate((f"记住，{said(name)}", f"不对，应该是 {said(name, 2)}", "记住这个")):
        answer = runtime.post(
            "teachings",
            {
                "agent": agent.pk,
                "user_id": "u1",
                "text": text,
                "conversation_id": f"c {SECRETS[name]}"[:200],
                "context": [{"role": "user", "text": said(name, 1)}],
                "idempotency_key": f"k{number}",
            },
        )
        assert answer.status_code in (200, 201), answer.content.decode()
        assert SECRETS[name] not in answer.content.decode()
    assert SECRETS[name] not in everything_stored()


def test_the_counts_stand_on_the_proposal_and_its_receipt(runtime, reviewer, agent):
    runtime.draft(agent, note("password=hunter2-Secret!9"), title="token ghp_" + "a1B2" * 9)
    proposal = runtime.get("proposals/EP-001").json()
    assert proposal["redactions"] == {"api_token": 1, "password": 1}
    reviewer.post("proposals/EP-001/approve")
    assert Receipt.objects.get(proposal_code="EP-001").detail["redactions"] == proposal["redactions"]


@pytest.mark.parametrize(
    "user", ["li@example.cn", "13800138000", "11010519491231002X", "6222021234567890128"]
)
def test_a_user_whose_id_is_an_address_or_a_number_keeps_it(runtime, agent, user):
    target = f"users/{user}/profile.md"
    item = {"type": "user_preference", "operation": "update", "target": target, "content": "用表格"}
    assert runtime.draft(agent, item, user_id=user)["items"][0]["target"] == target
    body = {"agent": agent.pk, "user_id": user, "text": "记住，我喜欢短句"}
    taught = runtime.post("teachings", body).json()
    assert taught["items"][0]["target"] == target
    relayed = runtime.post(f"proposals/{taught['code']}/approve", {"decided_by": user})
    assert relayed.json()["status"] == "applied", relayed.content.decode()


def test_what_stands_below_the_folder_of_a_user_is_redacted(runtime, agent):
    target = f"users/13800138000/agents/{agent.pk}/memory/ghp_{'a1B2' * 9}.md"
    drafted = runtime.draft(agent, {**NOTE, "target": target})
    assert "a1B2a1B2" not in json.dumps(drafted) and drafted["redactions"] == {"api_token": 1}


def test_a_secret_is_no_user_id(runtime, agent):
    body = {"agent": agent.pk, "user_id": f"ghp_{'a1B2' * 9}", "text": "记住，我喜欢短句"}
    answer = runtime.post("teachings", body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/user_id")
    assert not Proposal.objects.exists()


def test_what_a_person_writes_is_kept_as_typed(reviewer, agent):
    body = {"agent": agent.pk, "items": [note("Support: hilfe@example.test")]}
    assert reviewer.post("proposals", body).json()["items"][0]["content"] == "Support: hilfe@example.test"

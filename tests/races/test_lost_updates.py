"""An acknowledged write is never lost: many writers read, append and put back the whole list of one agent."""

import time

import pytest

from agents.models import Agent, AgentVersion, Document
from agents.services.agents import update_agent
from common.companies.models import Company
from common.errors import ApplicationError
from common.receipts.selectors import verify_chain
from experiences.models import Experience
from tests.factories import ApiClient, an_edit, make_agent, make_company, make_key
from tests.races.threads import RACE, in_threads
from tests.sizes import sized

pytestmark = RACE

WRITERS = 8
ROUNDS = sized(3, 50)


@pytest.fixture
def acme():
    return make_company("acme")


@pytest.fixture
def agent(acme):
    return make_agent(acme, name="shared", rows=["first"])


@pytest.fixture
def key(acme):
    return make_key(acme, scopes=["read", "agents:write"])


def append_by_put(client, agent, text, pause=0.0):
    """Read, append, put back under If-Match, again until it is acknowledged; returns how often it was refused."""
    refused = 0
    while True:
        read = client.get(f"agents/{agent.pk}")
        body = read.json()
        rows = [{"id": row["id"], "content": row["content"]} for row in body["experiences"]]
        time.sleep(pause)
        answer = client.put(
            f"agents/{agent.pk}",
            {
                "name": body["name"],
                "system_prompt": body["system_prompt"],
                "experiences": [*rows, {"content": text}],
            },
            **{"if-match": read["ETag"]},
        )
        if answer.status_code == 200:
            return refused
        assert answer.status_code in (412, 400), answer.content.decode()
        refused += 1


def contents(agent):
    return list(Experience.objects.of_agent(agent.pk).values_list("content", flat=True))


def orders(agent):
    return list(Experience.objects.of_agent(agent.pk).values_list("order", flat=True))


def test_no_acknowledged_row_is_lost_by_full_lists(acme, agent, key):
    def write(number):
        client = ApiClient(key)
        return sum(append_by_put(client, agent, f"{number}-{turn}") for turn in range(ROUNDS))

    in_threads(WRITERS, write)
    wanted = {"first", *(f"{number}-{turn}" for number in range(WRITERS) for turn in range(ROUNDS))}
    assert sorted(contents(agent)) == sorted(wanted)
    assert orders(agent) == list(range(len(wanted)))
    agent.refresh_from_db()
    assert agent.version == AgentVersion.objects.filter(agent=agent).count() == 1 + WRITERS * ROUNDS
    assert verify_chain(acme).intact


def test_full_lists_beside_single_rows_lose_none_and_bring_none_back(agent, key):
    def write(number):
        client = ApiClient(key)
        if number < 4:
            return [append_by_put(client, agent, f"put {number}-{turn}") for turn in range(ROUNDS)]
        kept = []
        for turn in range(ROUNDS):
            texts = f"kept {number}-{turn}", f"gone {number}-{turn}"
            made = [client.post(f"agents/{agent.pk}/experiences", {"content": text}) for text in texts]
            assert [answer.status_code for answer in made] == [201, 201]
            gone = client.delete(f"agents/{agent.pk}/experiences/{made[1].json()['id']}")
            assert gone.status_code == 204
            kept.append(texts[0])
        return kept

    in_threads(WRITERS, write)
    wanted = {f"put {number}-{turn}" for number in range(4) for turn in range(ROUNDS)}
    wanted |= {f"kept {number}-{turn}" for number in range(4, WRITERS) for turn in range(ROUNDS)}
    assert sorted(contents(agent)) == sorted({"first", *wanted})
    assert orders(agent) == list(range(len(wanted) + 1))


def test_without_the_version_check_acknowledged_rows_are_lost(agent, key, monkeypatch):
    """Control: the check switched off, and a pause between reading and writing."""
    monkeypatch.setattr("agents.services.editing.check_version", lambda *args: None)

    def write(number):
        client = ApiClient(key)
        for turn in range(2):
            append_by_put(client, agent, f"{number}-{turn}", pause=0.05)

    in_threads(WRITERS, write)
    lost = {f"{number}-{turn}" for number in range(WRITERS) for turn in range(2)} - set(contents(agent))
    assert lost


def test_of_two_edits_of_one_version_one_is_kept_and_one_is_told_who_was_first(agent):
    def edit(number):
        try:
            update_agent(
                agent_id=agent.pk,
                fields={"description": f"{version} by {number}"},
                edit=an_edit(expected={version}),
            )
            return number
        except ApplicationError as error:
            assert error.code == "VERSION_MISMATCH"
            assert error.extra["current_version"] == version + 1
            assert error.extra["changed_by"] == "test"
            return None

    for _ in range(sized(8, 50)):
        version = Agent.objects.get(pk=agent.pk).version
        winners = [number for number in in_threads(2, edit) if number is not None]
        assert len(winners) == 1
        agent.refresh_from_db()
        assert (agent.version, agent.description) == (version + 1, f"{version} by {winners[0]}")


def test_names_default_flags_and_copies_at_once_end_in_no_error_of_ours(acme, key):
    """Lock order: company, agents, chain of receipts. A foreign key that waits for a full lock would deadlock."""
    agents = [make_agent(acme, name=f"a{number}") for number in range(4)]

    def write(number):
        client, mine = ApiClient(key), agents[number % 4]
        statuses = []
        for turn in range(ROUNDS):
            calls = [
                client.patch(f"agents/{mine.pk}", {"is_default": True}),
                client.patch(f"agents/{mine.pk}", {"name": f"n{number}-{turn}"}),
                client.post(
                    f"agents/{mine.pk}/experiences",
                    {"content": "x"},
                    **{"idempotency-key": f"{number}-{turn}"},
                ),
                client.post("agents", {"name": f"same {turn}", "system_prompt": "x"}),
                client.post(f"agents/{mine.pk}/copy"),
            ]
            statuses += [answer.status_code for answer in calls]
        return statuses

    statuses = [status for result in in_threads(WRITERS, write) for status in result]
    assert set(statuses) <= {200, 201, 400}
    assert Agent.objects.live().filter(company=acme, is_default=True).count() == 1
    live = Agent.objects.live().filter(company=acme)
    assert live.filter(name__startswith="same ").count() == ROUNDS
    assert len(set(live.values_list("name_key", flat=True))) == live.count()
    assert verify_chain(acme).intact


def test_of_eight_first_writes_of_one_document_one_makes_it(agent, key):
    def write(number):
        body = {"path": "memory/notes.md", "text": f"by {number}", "base_version": 0}
        return ApiClient(key).put(f"agents/{agent.pk}/documents", body)

    answers = in_threads(8, write)
    assert sorted(answer.status_code for answer in answers) == [201, *[412] * 7]
    document = Document.objects.get(agent=agent)
    made = next(answer for answer in answers if answer.status_code == 201)
    assert (document.current_version, document.versions.get().text) == (1, made.json()["text"])


def test_two_companies_write_their_own_document_of_a_shared_agent_at_once(acme, global_company):
    shared = make_agent(global_company)
    keys = [make_key(company, scopes=["agents:write"]) for company in (acme, make_company("rival"))]

    def write(number):
        texts = [f"{number} {turn}" for turn in range(ROUNDS)]
        body = {"path": "users/u1/profile.md"}
        path = f"agents/{shared.pk}/documents"
        return [ApiClient(keys[number % 2]).put(path, {**body, "text": text}).status_code for text in texts]

    assert {status for result in in_threads(6, write) for status in result} <= {200, 201}
    assert Document.objects.filter(agent=shared).count() == 2
    assert Agent.objects.get(pk=shared.pk).version == 1
    assert all(verify_chain(company).intact for company in Company.objects.all())

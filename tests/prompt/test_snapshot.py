"""D11: a prompt shows exactly one committed version of the agent, however often it is changed meanwhile."""

import threading
from unittest import mock

import pytest
from django.db import connections
from django.utils import timezone

from agents.models import AgentVersion
from agents.services.agents import delete_agent, update_agent
from common.errors import ApplicationError
from experiences.rules import RowInput
from prompt import services
from prompt.rules.values import PromptRequest
from prompt.selectors import BodyState
from prompt.services import Source, serve_prompt
from tests.factories import ApiClient, an_edit, make_agent
from tests.sizes import sized

WRITES = sized(40, 1000)
READERS = 4


def change(agent, number):
    """Role and rows of one version all carry its number."""
    rows = [RowInput(content=f"row {index} of {number}") for index in range(8)]
    update_agent(agent_id=agent.pk, fields={"system_prompt": f"role {number}"}, rows=rows, edit=an_edit())


def expected(agent_id, version):
    """The beginning of the prompt of a committed version."""
    snapshot = AgentVersion.objects.get(agent_id=agent_id, number=version).snapshot
    rows = "\n".join(f"- {row['content']}" for row in snapshot["rows"] if row["enabled"])
    return f"{snapshot['role']}\n\n## 最佳实践经验\n\n{rows}\n\n## 工作环境\n"


class ChangingSource:
    """Loads the documents, but for the first `times` somebody changes the agent in between."""

    def __init__(self, agent, times, act=change):
        self.agent, self.times, self.act, self.calls = agent, times, act, 0

    def load(self, loading):
        self.calls += 1
        if self.calls <= self.times:
            self.act(self.agent, self.calls)
        return ()

    def patched(self):
        return mock.patch.dict(services.SOURCES, {"documents": Source(self.load)})


def serve(agent):
    return serve_prompt(agent_id=agent.pk, company=agent.company, request=PromptRequest(), now=timezone.now())


@pytest.mark.django_db
@pytest.mark.parametrize("times", [0, 1, services.UNLOCKED_READS - 1, services.UNLOCKED_READS])
def test_a_change_between_two_reads_is_noticed_and_all_is_read_again(acme, times):
    agent = make_agent(acme, rows=["row of 0"])
    source = ChangingSource(agent, times)
    with source.patched():
        prompt = serve(agent)
    assert prompt.agent.version == times + 1
    assert prompt.rendered.text.startswith(expected(agent.pk, times + 1))
    assert source.calls == times + 1


@pytest.mark.django_db
def test_without_the_second_look_at_the_version_half_a_change_is_served(acme):
    agent = make_agent(acme, rows=["row of 0"])
    blind = mock.patch.object(services, "body_state", lambda agent_id: BodyState(1, "x"))
    with ChangingSource(agent, 1).patched(), blind:
        text = serve(agent).rendered.text
    assert "你是运维助手。" in text and "row 0 of 1" in text


@pytest.mark.django_db
def test_an_agent_deleted_between_two_reads_is_not_found(acme):
    agent = make_agent(acme)
    gone = ChangingSource(agent, 1, lambda found, _number: delete_agent(agent_id=found.pk, edit=an_edit()))
    with gone.patched(), pytest.raises(ApplicationError, match="AGENT_NOT_FOUND"):
        serve(agent)


@pytest.mark.race
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_readers_get_committed_versions_only_while_a_writer_syncs_rows(acme, read_key):
    agent = make_agent(acme, rows=["row of 0"])
    done, seen, errors = threading.Event(), [], []

    def reading():
        client = ApiClient(read_key)
        try:
            while True:
                finished = done.is_set()
                answer = client.get(f"agents/{agent.pk}/prompt")
                body = answer.json()
                seen.append((answer.status_code, body.get("version"), body.get("text", "")))
                if finished:
                    return
        except Exception as error:
            errors.append(error)
        finally:
            connections.close_all()

    readers = [threading.Thread(target=reading) for _reader in range(READERS)]
    for reader in readers:
        reader.start()
    try:
        for number in range(1, WRITES + 1):
            change(agent, number)
    finally:
        done.set()
        for reader in readers:
            reader.join(sized(60, 600))
    assert errors == []
    assert {status for status, _version, _text in seen} == {200}
    for version, text in {(version, text) for _status, version, text in seen}:
        assert text.startswith(expected(agent.pk, version)), version
    assert WRITES + 1 in {version for _status, version, _text in seen}

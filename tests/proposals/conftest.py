"""A runtime that drafts and relays, people who approve, apply, or both."""

from __future__ import annotations

import pytest
import time_machine
from django.contrib.auth.models import Group, Permission

from agents.models import Document
from agents.selectors import current_documents
from tests.factories import ApiClient, make_key, make_person


class Staff(ApiClient):
    """A person with a session on the API, acting for acme."""

    def __init__(self, person) -> None:
        super().__init__()
        self.person = person
        self.client.force_login(person)

    def request(self, method, path, body=None, **headers):
        separator = "&" if "?" in path else "?"
        return super().request(method, f"{path}{separator}company=acme", body, **headers)


class Runtime(ApiClient):
    """A key that may read, report and relay."""

    def code(self, agent, *items, **fields) -> str:
        """Draft a proposal; its code."""
        return self.draft(agent, *items, **fields)["code"]

    def draft(self, agent, *items, **fields):
        """Draft a proposal; returns it as answered."""
        answer = self.post("proposals", {"agent": agent.pk, "items": list(items), **fields})
        assert answer.status_code == 201, answer.content.decode()
        return answer.json()

    def prompt(self, agent) -> str:
        """The prompt as the runtime gets it."""
        return self.get(f"agents/{agent.pk}/prompt", accept="text/plain").content.decode()


@pytest.fixture
def runtime(acme) -> Runtime:
    return Runtime(make_key(acme, scopes=["read", "report", "proposals:decide"]))


@pytest.fixture
def reviewer(db) -> Staff:
    """Approves and applies."""
    return Staff(make_person("reviewer", superuser=True))


@pytest.fixture
def approver_only(acme) -> Staff:
    """Approves, but may not apply: a group of one's own with fewer permissions than Approver."""
    group = Group.objects.create(name="Approves only")
    wanted = ("approve_proposal", "change_proposal", "view_proposal")
    group.permissions.set(Permission.objects.filter(codename__in=wanted))
    person = make_person("approver-only", companies=[acme])
    person.groups.add(group)
    return Staff(person)


@pytest.fixture
def staff(acme):
    """`staff("name", "approve", "apply")` -> a member of acme with just these rights on proposals."""

    def make(name, *verbs, companies=(acme,)) -> Staff:
        group = Group.objects.create(name=f"group of {name}")
        codenames = [f"{verb}_proposal" for verb in verbs]
        group.permissions.set(Permission.objects.filter(codename__in=codenames))
        person = make_person(name, companies=companies)
        person.groups.add(group)
        return Staff(person)

    return make


@pytest.fixture
def proposer(staff) -> Staff:
    """Drafts and edits, decides nothing."""
    return staff("proposer", "view", "add", "change")


@pytest.fixture
def applier(staff) -> Staff:
    """Applies and rolls back what others approved."""
    return staff("applier", "view", "apply", "rollback")


@pytest.fixture
def documents():
    """`documents(agent)` -> path: current text of each document that exists, of every company."""

    def read(agent) -> dict[str, str]:
        rows = current_documents(Document.objects.filter(agent=agent))
        return {row.path: row.text for row in rows}

    return read


@pytest.fixture
def time_machine_at():
    """`with time_machine_at(moment):` the clock stands still at `moment`."""

    def stand(moment):
        return time_machine.travel(moment, tick=False)

    return stand

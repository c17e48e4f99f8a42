"""A runtime that drafts and relays, people who approve, apply, or both."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, Permission

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

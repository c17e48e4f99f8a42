"""Plain factories: rows made through the services where there is one."""

from __future__ import annotations

import itertools
import json
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from agents.choices import Source
from agents.models import Agent
from agents.services.agents import create_agent
from agents.services.editing import Edit
from common.actors import Actor, Channel
from common.companies.models import Company
from common.companies.services import issue_api_key
from experiences.rules import RowInput

SYSTEM = Actor(name="test", channel=Channel.COMMAND)
_numbers = itertools.count(1)


def an_edit(**changes: Any) -> Edit:
    """An edit by the test itself, now."""
    return Edit(**{"actor": SYSTEM, "now": timezone.now(), "source": Source.API, **changes})


def make_company(slug: str, **fields: Any) -> Company:
    return Company.objects.create(slug=slug, name=fields.pop("name", slug.title()), **fields)


def make_person(username: str, role: str | None = None, companies: Any = (), superuser: bool = False):
    """A staff account in a built-in role, member of `companies`; the password is the user name."""
    model = get_user_model()
    if superuser:
        return model.objects.create_superuser(username, f"{username}@example.test", username)
    person = model.objects.create_user(username, f"{username}@example.test", username, is_staff=True)
    if role:
        person.groups.add(Group.objects.get(name=role))
    for company in companies:
        company.members.add(person)
    return person


def make_key(company: Company, scopes: list[str], **fields: Any) -> str:
    """A key's text."""
    _key, text = issue_api_key(
        company=company,
        name=fields.pop("name", f"key {next(_numbers)}"),
        scopes=scopes,
        actor=SYSTEM,
        now=timezone.now(),
        **fields,
    )
    return text


def make_agent(company: Company, name: str | None = None, rows: Any = (), **fields: Any) -> Agent:
    """An agent; `rows` are contents, or (content, enabled) pairs."""
    documents = fields.pop("documents", ())
    inputs = [
        RowInput(content=row) if isinstance(row, str) else RowInput(content=row[0], enabled=row[1])
        for row in rows
    ]
    return create_agent(
        company=company,
        fields={
            "name": name or f"agent {next(_numbers)}",
            "system_prompt": "你是运维助手。",
            **fields,
        },
        rows=inputs,
        documents=documents,
        edit=an_edit(),
    )


class ApiClient:
    """A runtime: sends JSON with a Bearer key; `path` is relative to /api/v1."""

    def __init__(self, key: str | None = None, **headers: str) -> None:
        self.key = key
        self.headers = headers
        self.client = Client(raise_request_exception=False)

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> HttpResponse:
        sent = {**self.headers, **headers}
        if self.key:
            sent.setdefault("authorization", f"Bearer {self.key}")
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        content_type = sent.pop("content_type", "application/json")
        url = path if path.startswith("/") else f"/api/v1/{path}"
        return self.client.generic(method, url, data, content_type=content_type, headers=sent)

    def get(self, path: str, **headers: str) -> HttpResponse:
        return self.request("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.request("POST", path, body, **headers)

    def put(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.request("PUT", path, body, **headers)

    def patch(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.request("PATCH", path, body, **headers)

    def delete(self, path: str, **headers: str) -> HttpResponse:
        return self.request("DELETE", path, **headers)

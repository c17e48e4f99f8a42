"""Who works with lessons in the tests: a person with a session on the API, and what a complete lesson says."""

from __future__ import annotations

from typing import Any

from evolution.lessons.models import Lesson
from evolution.lessons.services.storing import create_lesson
from tests.factories import SYSTEM, ApiClient

#: Complete in both languages of the house.
COMPLETE: dict[str, Any] = {
    "title": "handoff schema 与 wrapper 不匹配",
    "what": "Consumers guessed the shape.",
    "when": "首次端到端运行。",
    "how": "One adapter.",
    "takeaway": "第一个版本就定义 schema。",
    "checklist": [{"text": "schema?", "done": False}, {"text": "适配层？", "done": True}, {"text": "e2e?"}],
    "tags": ["Schema", "artifact-bus"],
    "related_files": ["src/a.py", "docs/"],
}


class Staff(ApiClient):
    """A person with a session on the API, acting for a company."""

    def __init__(self, person, company: str = "acme") -> None:
        super().__init__()
        self.company = company
        self.client.force_login(person)

    def request(self, method, path, body=None, **headers):
        separator = "&" if "?" in path else "?"
        return super().request(method, f"{path}{separator}company={self.company}", body, **headers)


def make_lesson(company, now, status: str = "active", **values: Any) -> Lesson:
    """A lesson made through the service; complete unless `values` say otherwise."""
    agent = values.pop("agent", None)
    return create_lesson(
        company=company, values={**COMPLETE, **values}, actor=SYSTEM, now=now, status=status, agent=agent
    )


def problem(answer) -> tuple[int, str, list[str]]:
    """(status, code, pointers) of a refusal."""
    body = answer.json()
    return answer.status_code, body["code"], [fault["pointer"] for fault in body["errors"]]

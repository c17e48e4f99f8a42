"""What the tests of all REST routes need to know of each: its rights, and rows of a company to try it on.

A new route gets a row in `ROUTES`, and what its path names a line in `build`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from agents.models import Agent
from agents.services.agents import update_agent
from common.companies.models import Company
from evolution.lessons.models import Repository
from evolution.lessons.rules.check_request import checked_check
from evolution.lessons.rules.recall_request import checked_request
from evolution.lessons.services.checking import check_and_store
from evolution.lessons.services.recalling import recall_and_log
from evolution.lessons.services.storing import create_lesson
from evolution.parameters.services import Approval, set_parameter
from tests.factories import SYSTEM, ApiClient, an_edit, make_agent, make_key

READ, WRITE, REPORT, DECIDE, ANY, STAFF = "read", "agents:write", "report", "proposals:decide", "any", "staff"
#: What a full key of another company gets: nothing of that sort is there, or its own (empty) part.
ABSENT, OWN = "absent", "own"


@dataclass(frozen=True)
class Rights:
    """`scope` that a key needs (ANY: every live key; STAFF: no key may); `stranger`: see above."""

    scope: str
    stranger: str


def _rights(scope: str, stranger: str = ABSENT) -> Rights:
    return Rights(scope, stranger)


AGENT = "agents/<id:pk>"
DOCUMENT = f"{AGENT}/documents/<id:document_id>"
PROPOSAL = "proposals/<code:code>"
LESSON = "lessons/<code:lesson>"
PATTERN = "patterns/<code:pattern>"
KNOWLEDGE = "knowledge/<code:knowledge>"

ROUTES: dict[str, dict[str, Rights]] = {
    "me": {"GET": _rights(ANY, OWN)},
    "schema": {"GET": _rights(ANY, OWN)},
    "docs": {"GET": _rights(ANY, OWN)},
    "agents": {"GET": _rights(READ, OWN), "POST": _rights(WRITE, OWN)},
    AGENT: {
        "GET": _rights(READ),
        "PUT": _rights(WRITE),
        "PATCH": _rights(WRITE),
        "DELETE": _rights(WRITE),
    },
    f"{AGENT}/copy": {"POST": _rights(WRITE)},
    f"{AGENT}/export": {"GET": _rights(READ)},
    f"{AGENT}/experiences": {"GET": _rights(READ), "POST": _rights(WRITE)},
    f"{AGENT}/experiences/<id:row_id>": {
        "GET": _rights(READ),
        "PUT": _rights(WRITE),
        "PATCH": _rights(WRITE),
        "DELETE": _rights(WRITE),
    },
    f"{AGENT}/prompt": {"GET": _rights(READ), "POST": _rights(READ)},
    f"{AGENT}/versions": {"GET": _rights(READ)},
    f"{AGENT}/versions/<id:number>": {"GET": _rights(READ)},
    f"{AGENT}/versions/diff": {"GET": _rights(READ)},
    f"{AGENT}/versions/<id:number>/restore": {"POST": _rights(STAFF)},
    f"{AGENT}/documents": {"GET": _rights(READ), "PUT": _rights(WRITE)},
    DOCUMENT: {"GET": _rights(READ)},
    f"{DOCUMENT}/versions": {"GET": _rights(READ)},
    f"{DOCUMENT}/versions/<id:number>": {"GET": _rights(READ)},
    f"{DOCUMENT}/diff": {"GET": _rights(READ)},
    f"{AGENT}/receipts": {"GET": _rights(READ)},
    "receipts": {"GET": _rights(READ, OWN)},
    "receipts/verify": {"GET": _rights(READ, OWN)},
    "receipts/<id:receipt_id>": {"GET": _rights(READ)},
    "teachings": {"POST": _rights(REPORT)},
    "proposals": {"GET": _rights(READ, OWN), "POST": _rights(REPORT)},
    "proposals/health": {"GET": _rights(READ, OWN)},
    "audit": {"GET": _rights(READ, OWN)},
    PROPOSAL: {"GET": _rights(READ), "PATCH": _rights(STAFF)},
    f"{PROPOSAL}/text": {"GET": _rights(READ)},
    f"{PROPOSAL}/items/<id:number>": {"PATCH": _rights(STAFF)},
    f"{PROPOSAL}/approve": {"POST": _rights(DECIDE)},
    f"{PROPOSAL}/reject": {"POST": _rights(DECIDE)},
    f"{PROPOSAL}/skip": {"POST": _rights(DECIDE)},
    f"{PROPOSAL}/submit": {"POST": _rights(REPORT)},
    f"{PROPOSAL}/repropose": {"POST": _rights(STAFF)},
    f"{PROPOSAL}/apply": {"POST": _rights(STAFF)},
    f"{PROPOSAL}/rollback": {"POST": _rights(STAFF)},
    "parameters": {"GET": _rights(READ, OWN)},
    "parameters/<slug:name>/changes": {"GET": _rights(READ, OWN)},
    "parameters/<slug:name>/propose": {"POST": _rights(REPORT, OWN)},
    "parameter-changes/<id:change_id>/revert": {"POST": _rights(REPORT)},
    "lessons": {"GET": _rights(READ, OWN), "POST": _rights(REPORT)},
    "lessons/index": {"GET": _rights(READ, OWN)},
    "lessons/template": {"GET": _rights(READ, OWN)},
    "lessons/recall": {"GET": _rights(READ, OWN), "POST": _rights(READ, OWN)},
    "lessons/check": {"POST": _rights(REPORT, OWN)},
    "lessons/capture": {"POST": _rights(REPORT)},
    "lessons/metrics": {"GET": _rights(READ, OWN)},
    "recalls/<uuid:recall_id>/outcome": {"POST": _rights(REPORT)},
    LESSON: {"GET": _rights(READ), "PATCH": _rights(REPORT), "DELETE": _rights(STAFF)},
    f"{LESSON}/markdown": {"GET": _rights(READ)},
    f"{LESSON}/confirm": {"POST": _rights(STAFF)},
    f"{LESSON}/reject": {"POST": _rights(STAFF)},
    f"{LESSON}/supersede": {"POST": _rights(STAFF)},
    f"{LESSON}/archive": {"POST": _rights(STAFF)},
    f"{LESSON}/restore": {"POST": _rights(STAFF)},
    f"{LESSON}/promote": {"POST": _rights(STAFF)},
    "knowledge": {"GET": _rights(READ, OWN), "POST": _rights(REPORT)},
    "knowledge/known-issues": {"GET": _rights(READ, OWN)},
    KNOWLEDGE: {"GET": _rights(READ), "PATCH": _rights(REPORT)},
    f"{KNOWLEDGE}/activate": {"POST": _rights(STAFF)},
    f"{KNOWLEDGE}/verify": {"POST": _rights(REPORT)},
    f"{KNOWLEDGE}/reference": {"POST": _rights(REPORT)},
    f"{KNOWLEDGE}/mislead": {"POST": _rights(REPORT)},
    f"{KNOWLEDGE}/deprecate": {"POST": _rights(STAFF)},
    f"{KNOWLEDGE}/restore": {"POST": _rights(STAFF)},
    f"{KNOWLEDGE}/outcomes": {"GET": _rights(READ)},
    "outcomes": {"POST": _rights(REPORT)},
    "injections": {"GET": _rights(READ, OWN), "POST": _rights(READ)},
    "injections/<uuid:injection_id>": {"GET": _rights(READ)},
    "patterns": {"GET": _rights(READ, OWN), "POST": _rights(REPORT)},
    "patterns/scan": {"POST": _rights(REPORT)},
    "patterns/suggest": {"POST": _rights(READ)},
    PATTERN: {"GET": _rights(READ), "PATCH": _rights(STAFF)},
    f"{PATTERN}/scaffold": {"POST": _rights(READ)},
    f"{PATTERN}/verify": {"POST": _rights(STAFF)},
    f"{PATTERN}/promote": {"POST": _rights(STAFF)},
    f"{PATTERN}/deprecate": {"POST": _rights(STAFF)},
    "learning-items": {"GET": _rights(READ, OWN), "POST": _rights(REPORT)},
    "learning-items/process": {"POST": _rights(REPORT, OWN)},
}

#: Query strings without which a route answers 400.
QUERIES = {
    "lessons/recall": "task=lesson",
    f"{AGENT}/versions/diff": "from=1&to=2",
    f"{DOCUMENT}/diff": "from=1&to=1",
}

ITEM = {
    "type": "user_preference",
    "operation": "update",
    "target": "users/u1/profile.md",
    "content": "new",
}

#: A body with which the write works on rows of `build`; of a function, its value for the parts of the path.
BODIES: dict[tuple[str, str], Any] = {
    ("POST", "agents"): {"name": "new", "system_prompt": "x"},
    ("PUT", AGENT): {"name": "new", "system_prompt": "x", "experiences": []},
    ("PATCH", AGENT): {"description": "new"},
    ("POST", f"{AGENT}/experiences"): {"content": "new"},
    ("PUT", f"{AGENT}/experiences/<id:row_id>"): {"content": "new"},
    ("PATCH", f"{AGENT}/experiences/<id:row_id>"): {"enabled": False},
    ("PUT", f"{AGENT}/documents"): {"path": "memory/new.md", "text": "new"},
    ("POST", "proposals"): lambda parts: {"agent": parts["pk"], "items": [ITEM]},
    ("POST", "parameters/<slug:name>/propose"): {"value": 9, "reason": "new"},
    ("POST", "teachings"): lambda parts: {"agent": parts["pk"], "user_id": "u1", "text": "以后都用表格"},
    ("PATCH", PROPOSAL): {"cited_lessons": []},
    ("POST", f"{PROPOSAL}/reject"): {"reason": "not needed", "decided_by": "u1"},
    ("POST", f"{PROPOSAL}/approve"): {"decided_by": "u1"},
    ("POST", f"{PROPOSAL}/skip"): {"decided_by": "u1"},
    ("POST", f"{PROPOSAL}/rollback"): {"reason": "not needed"},
    ("POST", "lessons/recall"): {"task": "lesson"},
    ("POST", "lessons/check"): {"reference": "PR-1", "modified_files": ["src/a.py"]},
    ("POST", "lessons/capture"): lambda parts: {
        "repository": parts["repository"],
        "commits": [{"sha": "a" * 40, "subject": "fix: new", "files": ["src/a.py"]}],
    },
    ("POST", "recalls/<uuid:recall_id>/outcome"): lambda parts: {"lesson": parts["older"], "helped": True},
    ("POST", "knowledge"): lambda parts: {"title": "new", "category": "pattern", "agent": parts["pk"]},
    ("PATCH", KNOWLEDGE): {"summary": "new"},
    ("POST", "outcomes"): lambda parts: {"knowledge": parts["knowledge"], "result": "success"},
    ("POST", "injections"): lambda parts: {"agent": parts["pk"], "task": "new"},
    ("POST", "patterns"): lambda parts: {"agent": parts["pk"], "name": "new"},
    ("POST", "patterns/scan"): lambda parts: {
        "agent": parts["pk"],
        "repository": "app",
        "commit": "a1",
        "diff": "+++ b/new.py\n@@ -0,0 +1,2 @@\n+first\n+second\n",
    },
    ("POST", "patterns/suggest"): lambda parts: {"agent": parts["pk"], "description": "pattern"},
    ("PATCH", PATTERN): {"description": "new"},
    ("POST", "learning-items"): lambda parts: {
        "agent": parts["pk"],
        "source_type": "error_fix",
        "source_id": "new",
    },
    ("POST", "lessons"): lambda parts: {"title": "new", "agent": parts["pk"]},
    ("PATCH", LESSON): {"severity": "high"},
    ("POST", f"{LESSON}/reject"): {"reason": "not needed"},
    ("POST", f"{LESSON}/supersede"): lambda parts: {"supersedes": parts["older"]},
}


def body_for(verb: str, path: str, parts: dict[str, Any]) -> Any:
    """The body to send; None for a verb without one."""
    if verb not in ("POST", "PUT", "PATCH"):
        return None
    body = BODIES.get((verb, path), {})
    return body(parts) if callable(body) else body


def build(company: Company, canary: str, drafts: int = 1) -> dict[str, Any]:
    """Rows of a company that all carry `canary`; returns the values of the parts of the paths."""
    agent: Agent = make_agent(
        company,
        name=f"{canary} name",
        system_prompt=f"{canary} role",
        description=f"{canary} description",
        tags=[f"{canary} tag"[:30]],
        rows=[f"{canary} row"],
        documents=[("principles.md", f"{canary} principles"), ("users/u1/profile.md", f"{canary} profile")],
    )
    update_agent(agent_id=agent.pk, fields={"description": f"{canary} changed"}, edit=an_edit(message=canary))
    runtime = ApiClient(make_key(company, scopes=[READ, REPORT], name=f"{canary} key"))
    for number in range(drafts):
        item = {**ITEM, "content": f"{canary} proposal {number}"}
        drafted = runtime.post("proposals", {"agent": agent.pk, "items": [item], "title": canary})
        assert drafted.status_code == 201, drafted.content.decode()
    item = {
        "source_type": "error_fix",
        "source_id": canary,
        "agent": agent.pk,
        "metadata": {"solution": canary},
    }
    reported = runtime.post("learning-items", item)
    assert reported.status_code == 201, reported.content.decode()
    for number in range(drafts):
        words = {"keywords": ["first", "second", canary]}
        pattern = {"name": f"{canary} pattern {number}", "agent": agent.pk, **words}
        proposed = runtime.post("patterns", pattern)
        assert proposed.status_code == 201, proposed.content.decode()
    for number in range(drafts):
        title = f"{canary} title {number}"
        known = {"title": title, "category": "debugging", "summary": canary, "agent": agent.pk}
        knowledge = runtime.post("knowledge", known)
        assert knowledge.status_code == 201, knowledge.content.decode()
    outcome = {"knowledge": knowledge.json()["id"], "result": "partial", "task": canary, "notes": canary}
    assert runtime.post("outcomes", outcome).status_code == 201
    injected = runtime.post("injections", {"agent": agent.pk, "task": canary, "workflow": canary})
    assert injected.status_code == 200, injected.content.decode()
    return {
        "pk": agent.pk,
        "row_id": agent.experiences.get().pk,
        "number": 1,
        "document_id": agent.documents.get(path="principles.md").pk,
        "receipt_id": agent.receipts.order_by("pk").first().pk,
        "code": drafted.json()["code"],
        "pattern": proposed.json()["id"],
        "knowledge": knowledge.json()["id"],
        "injection_id": injected.json()["injection_id"],
        "name": "injection_top_k",
        "change_id": _parameter_change(company, canary),
        **_lessons(company, agent, runtime, canary, drafts),
    }


def _parameter_change(company: Company, canary: str) -> int:
    approval = Approval("EP-000", f"{canary} approver", f"{canary} reason")
    change = set_parameter(
        company_id=company.pk,
        name="injection_top_k",
        value=8,
        expected=5,
        approval=approval,
        now=timezone.now(),
    )
    assert change is not None
    return change.pk


def _lessons(company: Company, agent: Agent, runtime: ApiClient, canary: str, drafts: int) -> dict[str, Any]:
    """An active lesson `older` and complete drafts of the agent, the last of which is `lesson`."""
    values = {
        **dict.fromkeys(("title", "what", "when", "how", "takeaway"), f"{canary} lesson"),
        "checklist": [f"{canary} one", f"{canary} two", f"{canary} three"],
        "tags": [f"{canary} tag"],
        "related_files": [f"src/{canary}.py"],
    }
    now = timezone.now()
    older = create_lesson(company=company, values=values, actor=SYSTEM, now=now, agent=agent, status="active")
    for _draft in range(drafts):
        reported = runtime.post("lessons", {**values, "agent": agent.pk})
        assert reported.status_code == 201, reported.content.decode()
    request = checked_request({"files": f"src/{canary}.py", "task": f"{canary} task", "reference": canary})
    recalled = recall_and_log(company=company, request=request, actor=SYSTEM, now=now, agent=agent)
    checked = {"reference": canary, "modified_files": [f"src/{canary}.py"], "subject": f"fix: {canary}"}
    check_and_store(company=company, request=checked_check(checked), actor=SYSTEM, now=now)
    name = f"{canary} repository"
    repository = Repository.objects.create(company=company, name=name, agent=agent)
    parts = {"repository": repository.name}
    return parts | {"older": older.code, "lesson": reported.json()["code"], "recall_id": recalled.recall_id}

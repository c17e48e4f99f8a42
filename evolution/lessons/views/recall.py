"""GET|POST /lessons/recall and POST /recalls/{recall_id}/outcome."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.models import Agent
from agents.selectors import get_agent
from common.api.naming import snake_keys
from common.api.views import FieldbookView, fields_of
from common.companies.selectors import may_write
from common.idempotency.services import Answer
from evolution.lessons.rules.kinds import lesson_code
from evolution.lessons.rules.recall_request import PURPOSES, RecallRequest, checked_request
from evolution.lessons.selectors.recall import recall_lessons
from evolution.lessons.serializers.recall import (
    OutcomeRequestSerializer,
    OutcomeSerializer,
    RecallAnswerSerializer,
    RecallRequestSerializer,
    recall_answer,
)
from evolution.lessons.services.recalling import checked_outcome, recall_and_log, record_outcome

QUERY = [
    OpenApiParameter("task", str, description="At most 4,000 characters"),
    OpenApiParameter("tags", str, description="With commas between them"),
    OpenApiParameter("files", str, description="With commas between them"),
    OpenApiParameter("modified_files", str, description="The same as files"),
    OpenApiParameter("agent", int),
    OpenApiParameter("purpose", str, enum=PURPOSES),
    OpenApiParameter("top_k", int, description="From 1 to 50; 5 without it"),
    OpenApiParameter("min_relevance", float, description="From 0 to 1; 0.3 without it"),
    OpenApiParameter("include_archived", bool),
    OpenApiParameter("include_superseded", bool),
    OpenApiParameter("reference", str),
    OpenApiParameter("why_not", str, description="A lesson's code: why is it not in the answer?"),
]
LISTS = ("tags", "files", "modified_files")


class RecallView(FieldbookView):
    """The few lessons that matter for a task. GET is a try-out that leaves no trace."""

    scopes = {"GET": "read", "POST": "read"}
    staff_permissions = {"GET": "lessons.view_lesson", "POST": "lessons.view_lesson"}
    reads = frozenset({"POST"})

    @extend_schema(parameters=QUERY, responses=RecallAnswerSerializer)
    def get(self, request: Request) -> Response:
        asked = checked_request(query_values(request))
        return Response(self._unlogged(asked))

    @extend_schema(request=RecallRequestSerializer, responses=RecallAnswerSerializer)
    def post(self, request: Request) -> Response:
        return self.idempotently(request, "recalls", lambda: self._recall(fields_of(request)))

    def _recall(self, fields: dict[str, Any]) -> Answer:
        asked, caller = checked_request(fields), self.caller
        if caller.key is None and not may_write(caller.user, caller.company):
            return Answer(200, self._unlogged(asked))
        logged = recall_and_log(
            company=caller.company,
            request=asked,
            actor=caller.actor,
            now=timezone.now(),
            agent=self._agent(asked),
            bound_to=caller.agent_id,
        )
        return Answer(200, recall_answer(logged.recalled, logged.recall_id))

    def _unlogged(self, asked: RecallRequest) -> dict[str, Any]:
        recalled = recall_lessons(
            company=self.caller.company,
            request=asked,
            now=timezone.now(),
            agent=self._agent(asked),
            bound_to=self.caller.agent_id,
        )
        return recall_answer(recalled)

    def _agent(self, asked: RecallRequest) -> Agent | None:
        """The agent asked for, else the one the key is bound to. Errors: AGENT_NOT_FOUND."""
        bound = self.caller.agent_id
        wanted = asked.agent_id if asked.agent_id is not None else bound
        return None if wanted is None else get_agent(self.caller.company, wanted, bound)


class OutcomeView(FieldbookView):
    """Whether a recalled lesson helped: once for each recall and lesson; a repeat replaces it."""

    scopes = {"POST": "report"}
    staff_permissions = {"POST": "lessons.change_lesson"}

    @extend_schema(request=OutcomeRequestSerializer, responses=OutcomeSerializer)
    def post(self, request: Request, recall_id: UUID) -> Response:
        return self.idempotently(request, "outcomes", lambda: self._record(request, recall_id))

    def _record(self, request: Request, recall_id: UUID) -> Answer:
        outcome = checked_outcome(fields_of(request))
        replaced = record_outcome(
            company=self.caller.company,
            recall_id=recall_id,
            outcome=outcome,
            actor=self.caller.actor,
            now=timezone.now(),
            bound_to=self.caller.agent_id,
        )
        answer = {
            "recall_id": str(recall_id),
            "lesson": lesson_code(outcome.lesson),
            "helped": outcome.helped,
            "note": outcome.note,
            "replaced": replaced,
        }
        return Answer(200, answer)


def query_values(request: Request) -> dict[str, Any]:
    """The query string as fields; a list may come as one text with commas or as several parameters."""
    query = snake_keys({name: request.query_params.getlist(name) for name in request.query_params})
    return {
        name: values if name in LISTS and len(values) > 1 else values[-1] for name, values in query.items()
    }

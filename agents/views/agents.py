"""GET|POST /agents, GET|PUT|PATCH|DELETE /agents/{id}, copy, export."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.models import Agent
from agents.models.agent import AgentQuerySet
from agents.selectors import agent_not_found, agents_readable_from, with_rows
from agents.serializers import (
    AgentAnswer,
    AgentAnswers,
    AgentInputSerializer,
    AgentReplaceSerializer,
    AgentSerializer,
    AgentSummarySerializer,
    ReasonSerializer,
)
from agents.services.agents import copy_agent, create_agent, delete_agent, update_agent
from agents.services.exporting import export_agent
from agents.views.base import WRITE, AgentsView
from common.api.versions import etag
from common.api.views import FieldbookListView, fields_of, validated
from common.idempotency.services import Answer
from common.text import name_key
from experiences.rules import RowInput

FIELDS = OpenApiParameter("fields", str, enum=["summary"], description="`summary` leaves the rows out")


class AgentListView(AgentsView, FieldbookListView):
    """All agents the caller may see; make a new one."""

    scopes = {"POST": WRITE}
    staff_permissions = {"GET": "agents.view_agent", "POST": "agents.add_agent"}

    @extend_schema(
        parameters=[OpenApiParameter("name", str, description="Only the agent of this name"), FIELDS],
        responses=AgentAnswers,
    )
    def get(self, request: Request) -> Response:
        agents = agents_readable_from(self.caller.company, self.caller.agent_id)
        name = request.query_params.get("name")
        if name is not None:
            agents = agents.filter(name_key=name_key(name))
        return self.page_of(shaped(agents, request).order_by("id"), serializer_for(request))

    @extend_schema(request=AgentReplaceSerializer, responses={201: AgentSerializer})
    def post(self, request: Request) -> Response:
        self.caller.check_unbound()

        def effect() -> Answer:
            fields, rows, message = agent_input(AgentReplaceSerializer, request)
            edit = self.edit(message, names_version=False)
            agent = create_agent(company=self.caller.company, fields=fields, rows=rows, edit=edit)
            return answer_of(agent, 201)

        return self.idempotently(request, "agents", effect)


class AgentDetailView(AgentsView):
    """One agent with its rows."""

    scopes = {"PUT": WRITE, "PATCH": WRITE, "DELETE": WRITE}
    staff_permissions = {
        "GET": "agents.view_agent",
        "PUT": "agents.change_agent",
        "PATCH": "agents.change_agent",
        "DELETE": "agents.delete_agent",
    }

    @extend_schema(responses=AgentAnswer, parameters=[FIELDS])
    def get(self, request: Request, pk: int) -> Response:
        readable = agents_readable_from(self.caller.company, self.caller.agent_id)
        agent = shaped(readable, request).filter(pk=pk).first()
        if agent is None:
            raise agent_not_found()
        return Response(serializer_for(request)(agent).data, headers={"ETag": etag(agent.version)})

    @extend_schema(request=AgentReplaceSerializer, responses=AgentSerializer)
    def put(self, request: Request, pk: int) -> Response:
        return self._write(request, pk, AgentReplaceSerializer)

    @extend_schema(request=AgentInputSerializer, responses=AgentSerializer)
    def patch(self, request: Request, pk: int) -> Response:
        return self._write(request, pk, AgentInputSerializer)

    def _write(self, request: Request, pk: int, serializer: type[AgentInputSerializer]) -> Response:
        self.agent_for_write(pk)
        fields, rows, message = agent_input(serializer, request)
        agent = update_agent(agent_id=pk, fields=fields, rows=rows, edit=self.edit(message))
        answer = answer_of(agent, 200)
        return Response(answer.body, headers=dict(answer.headers))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        self.agent_for_write(pk)
        delete_agent(agent_id=pk, edit=self.edit())
        return Response(status=204)


class AgentCopyView(AgentsView):
    """POST /agents/{id}/copy: a new agent in the caller's company."""

    scopes = {"POST": WRITE}
    staff_permissions = {"POST": "agents.copy_agent"}

    @extend_schema(request=ReasonSerializer, responses={201: AgentSerializer})
    def post(self, request: Request, pk: int) -> Response:
        self.caller.check_unbound()
        source = self.agent(pk)

        def effect() -> Answer:
            edit = self.edit(fields_of(request).get("message"), names_version=False)
            return answer_of(copy_agent(source=source, company=self.caller.company, edit=edit), 201)

        return self.idempotently(request, f"agents/{pk}/copy", effect)


class AgentExportView(AgentsView):
    """GET /agents/{id}/export: agent, rows and documents as one JSON object that `import_agents` reads."""

    staff_permissions = {"GET": "agents.view_agent"}

    @extend_schema(responses={200: dict})
    def get(self, request: Request, pk: int) -> Response:
        return Response(export_agent(self.agent(pk)))


def _is_summary(request: Request) -> bool:
    return request.query_params.get("fields") == "summary"


def shaped(queryset: AgentQuerySet, request: Request) -> QuerySet[Agent]:
    """The agents with what the answer shows of their rows: all of them, or their number."""
    return queryset.with_counts() if _is_summary(request) else with_rows(queryset)


def serializer_for(request: Request) -> type[AgentSerializer]:
    """The shape asked for by `?fields=`."""
    return AgentSummarySerializer if _is_summary(request) else AgentSerializer


def agent_input(
    serializer: type[AgentInputSerializer], request: Request
) -> tuple[dict[str, Any], list[RowInput] | None, str | None]:
    """The body of a write: fields of the agent, wanted rows (None = untouched), message."""
    fields = validated(serializer, request.data)
    return fields, fields.pop("experiences", None), fields.pop("message", None)


def answer_of(agent: Agent, status: int) -> Answer:
    """The agent as answered after a write, with its ETag."""
    fresh = with_rows(Agent.objects.select_related("company", "owner")).get(pk=agent.pk)
    return Answer(status, AgentSerializer(fresh).data, {"ETag": etag(fresh.version)})

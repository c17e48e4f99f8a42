"""GET|POST /agents, GET|PUT|PATCH|DELETE /agents/{id}, copy, export."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.models import Agent
from agents.selectors import agents_readable_from, with_rows
from agents.serializers import (
    AgentInputSerializer,
    AgentReplaceSerializer,
    AgentSerializer,
    AgentSummarySerializer,
)
from agents.services.agents import copy_agent, create_agent, delete_agent, update_agent
from agents.services.exporting import export_agent
from agents.views.base import WRITE, AgentsView, checked_message
from common.api.versions import etag
from common.api.views import FieldbookListView
from common.errors import ApplicationError
from common.idempotency.services import Answer
from common.text import name_key

_FIELDS = OpenApiParameter("fields", str, enum=["summary"], description="`summary` leaves the rows out")
_COMPANY = OpenApiParameter("company", str, description="Staff only: the company to act for")


class AgentListView(AgentsView, FieldbookListView):
    """All agents the caller may see; make a new one."""

    scopes = {"POST": WRITE}
    staff_permissions = {"GET": "agents.view_agent", "POST": "agents.add_agent"}
    serializer_class = AgentSerializer

    def get_queryset(self) -> QuerySet[Agent]:
        queryset = agents_readable_from(self.caller.company, self.caller.agent_id).with_counts()
        name = self.request.query_params.get("name")
        if name is not None:
            queryset = queryset.filter(name_key=name_key(name))
        queryset = queryset.order_by("name", "id")
        return queryset if self._summary() else with_rows(queryset)

    def _summary(self) -> bool:
        return self.request.query_params.get("fields") == "summary"

    @extend_schema(
        parameters=[
            OpenApiParameter("name", str, description="Only the agent of this name"),
            _FIELDS,
            _COMPANY,
        ],
        responses=AgentSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        page = self.paginate_queryset(self.get_queryset())
        serializer = AgentSummarySerializer if self._summary() else AgentSerializer
        return self.get_paginated_response(serializer(page, many=True).data)

    @extend_schema(request=AgentReplaceSerializer, responses={201: AgentSerializer})
    def post(self, request: Request) -> Response:
        if self.caller.agent_id is not None:
            raise ApplicationError("SCOPE_MISSING", "This key works for one agent only.")

        def effect() -> Answer:
            fields = validated(AgentReplaceSerializer, request.data)
            rows = fields.pop("experiences", None)
            agent = create_agent(
                company=self.caller.company,
                fields=fields,
                rows=rows,
                edit=self.edit(checked_message(request.data.get("message"))),
            )
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

    @extend_schema(responses=AgentSerializer, parameters=[_FIELDS, _COMPANY])
    def get(self, request: Request, pk: int) -> Response:
        agent = self.agent(pk)
        summary = request.query_params.get("fields") == "summary"
        serializer = AgentSummarySerializer if summary else AgentSerializer
        return Response(serializer(agent).data, headers={"ETag": etag(agent.version)})

    @extend_schema(request=AgentReplaceSerializer, responses=AgentSerializer)
    def put(self, request: Request, pk: int) -> Response:
        return self._write(request, pk, AgentReplaceSerializer)

    @extend_schema(request=AgentInputSerializer, responses=AgentSerializer)
    def patch(self, request: Request, pk: int) -> Response:
        return self._write(request, pk, AgentInputSerializer)

    def _write(self, request: Request, pk: int, serializer: type[AgentInputSerializer]) -> Response:
        self.agent_for_write(pk)
        fields = validated(serializer, request.data)
        rows = fields.pop("experiences", None)
        edit = self.edit(checked_message(request.data.get("message")))
        answer = answer_of(update_agent(agent_id=pk, fields=fields, rows=rows, edit=edit), 200)
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

    @extend_schema(request=None, responses={201: AgentSerializer})
    def post(self, request: Request, pk: int) -> Response:
        source = self.agent(pk)

        def effect() -> Answer:
            return answer_of(copy_agent(source=source, company=self.caller.company, edit=self.edit()), 201)

        return self.idempotently(request, f"agents/{pk}/copy", effect)


class AgentExportView(AgentsView):
    """GET /agents/{id}/export: agent, rows and documents as one JSON object that `import_agents` reads."""

    staff_permissions = {"GET": "agents.view_agent"}

    @extend_schema(responses={200: dict})
    def get(self, request: Request, pk: int) -> Response:
        return Response(export_agent(self.agent(pk)))


def validated(serializer: type, data: Any) -> dict[str, Any]:
    """The validated fields; raises DRF's ValidationError, which leaves as a problem document."""
    checked = serializer(data=data)
    checked.is_valid(raise_exception=True)
    return dict(checked.validated_data)


def answer_of(agent: Agent, status: int) -> Answer:
    """The agent as answered after a write, with its ETag."""
    fresh = with_rows(Agent.objects.select_related("company", "owner")).get(pk=agent.pk)
    return Answer(status, AgentSerializer(fresh).data, {"ETag": etag(fresh.version)})

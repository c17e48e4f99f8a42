"""GET /agents/{id}/versions, /{n}, /diff; POST .../{n}/restore."""

from __future__ import annotations

from dataclasses import asdict

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.models import AgentVersion
from agents.rules.snapshots import diff
from agents.selectors import get_version
from agents.serializers import AgentSerializer, VersionDetailSerializer, VersionSerializer
from agents.services.versions import restore_version
from agents.views.agents import answer_of
from agents.views.base import AgentsView, checked_message
from common.api.views import FieldbookListView
from common.errors import invalid


def number_param(request: Request, name: str) -> int:
    """A version number from the query; VALIDATION_ERROR when it is missing or no number."""
    raw = request.query_params.get(name, "")
    if not (raw.isascii() and raw.isdigit() and len(raw) < 10):
        raise invalid(f"/{name}", _("“%(name)s” must be a version number.") % {"name": name})
    return int(raw)


DIFF_PARAMETERS = [
    OpenApiParameter("from", int, required=True, description="The older version"),
    OpenApiParameter("to", int, required=True, description="The newer version"),
]


class VersionListView(AgentsView, FieldbookListView):
    """The versions of an agent, newest first, without snapshots."""

    staff_permissions = {"GET": "agents.view_agentversion"}
    serializer_class = VersionSerializer

    @extend_schema(responses=VersionSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        versions = AgentVersion.objects.filter(agent=self.agent(pk)).order_by("-number").defer("snapshot")
        page = self.paginate_queryset(versions)
        return self.get_paginated_response(VersionSerializer(page, many=True).data)


class VersionDetailView(AgentsView):
    """One version with its snapshot."""

    staff_permissions = {"GET": "agents.view_agentversion"}

    @extend_schema(responses=VersionDetailSerializer)
    def get(self, request: Request, pk: int, number: int) -> Response:
        return Response(VersionDetailSerializer(get_version(self.agent(pk), number)).data)


class VersionDiffView(AgentsView):
    """What changed between two versions: role as unified diff, settings, rows matched by id (moves as moves)."""

    staff_permissions = {"GET": "agents.view_agentversion"}

    @extend_schema(parameters=DIFF_PARAMETERS, responses={200: dict})
    def get(self, request: Request, pk: int) -> Response:
        agent = self.agent(pk)
        old, new = number_param(request, "from"), number_param(request, "to")
        changes = diff(
            get_version(agent, old).snapshot, get_version(agent, new).snapshot, f"v{old}", f"v{new}"
        )
        settings = {name: {"old": was, "new": now} for name, (was, now) in changes.settings.items()}
        documents = {path: {"old": was, "new": now} for path, (was, now) in changes.documents.items()}
        return Response(
            {
                "from": old,
                "to": new,
                "role": changes.role,
                "settings": settings,
                "rows": [asdict(row) for row in changes.rows],
                "documents": documents,
            }
        )


class VersionRestoreView(AgentsView):
    """POST: make role, settings and rows those of version n again (staff; a new version)."""

    staff_permissions = {"POST": "agents.restore_agent"}

    @extend_schema(request=None, responses=AgentSerializer)
    def post(self, request: Request, pk: int, number: int) -> Response:
        self.agent_for_write(pk)
        message = checked_message(request.data.get("message") if isinstance(request.data, dict) else None)
        agent = restore_version(agent_id=pk, number=number, edit=self.edit(message))
        answer = answer_of(agent, 200)
        return Response(answer.body, headers=dict(answer.headers))

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
from agents.serializers import (
    AgentSerializer,
    ReasonSerializer,
    VersionDetailSerializer,
    VersionDiffSerializer,
    VersionSerializer,
)
from agents.services.versions import restore_version
from agents.views.agents import answer_of
from agents.views.base import AgentsView
from common.api.pagination import whole_number
from common.api.views import FieldbookListView, fields_of
from common.errors import invalid
from common.idempotency.services import Answer


def number_param(request: Request, name: str) -> int:
    """A version number from the query; VALIDATION_ERROR when it is missing or no number."""
    number = whole_number(request.query_params.get(name, ""))
    if number is None:
        raise invalid(f"/{name}", _("“%(name)s” must be a version number.") % {"name": name})
    return number


DIFF_PARAMETERS = [
    OpenApiParameter("from", int, required=True, description="The older version"),
    OpenApiParameter("to", int, required=True, description="The newer version"),
]


class VersionListView(AgentsView, FieldbookListView):
    """The versions of an agent, newest first, without snapshots."""

    staff_permissions = {"GET": "agents.view_agentversion"}

    @extend_schema(responses=VersionSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        versions = (
            AgentVersion.objects.filter(agent=self.agent(pk)).order_by("-number", "-id").defer("snapshot")
        )
        return self.page_of(versions, VersionSerializer)


class VersionDetailView(AgentsView):
    """One version with its snapshot."""

    staff_permissions = {"GET": "agents.view_agentversion"}

    @extend_schema(responses=VersionDetailSerializer)
    def get(self, request: Request, pk: int, number: int) -> Response:
        return Response(VersionDetailSerializer(get_version(self.agent(pk), number)).data)


class VersionDiffView(AgentsView):
    """What changed between two versions: role as unified diff, settings, rows matched by id (moves as moves)."""

    staff_permissions = {"GET": "agents.view_agentversion"}

    @extend_schema(parameters=DIFF_PARAMETERS, responses=VersionDiffSerializer)
    def get(self, request: Request, pk: int) -> Response:
        agent = self.agent(pk)
        old, new = number_param(request, "from"), number_param(request, "to")
        changes = diff(
            get_version(agent, old).snapshot, get_version(agent, new).snapshot, f"v{old}", f"v{new}"
        )
        return Response(
            {
                "from": old,
                "to": new,
                "role": changes.role,
                "settings": [
                    {"name": name, "old": was, "new": now} for name, (was, now) in changes.settings.items()
                ],
                "rows": [asdict(row) for row in changes.rows],
                "documents": [
                    {"path": path, "old": was, "new": now} for path, (was, now) in changes.documents.items()
                ],
            }
        )


class VersionRestoreView(AgentsView):
    """POST: make role, settings and rows those of version n again (staff; a new version)."""

    staff_permissions = {"POST": "agents.restore_agent"}

    @extend_schema(request=ReasonSerializer, responses=AgentSerializer)
    def post(self, request: Request, pk: int, number: int) -> Response:
        self.agent_for_write(pk)

        def effect() -> Answer:
            edit = self.edit(fields_of(request).get("message"))
            return answer_of(restore_version(agent_id=pk, number=number, edit=edit), 200)

        return self.idempotently(request, f"agents/{pk}/versions/{number}/restore", effect)

"""GET|POST /agents/{id}/experiences, GET|PUT|PATCH|DELETE /agents/{id}/experiences/{eid}."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.models import Agent
from agents.serializers import ExperienceInputSerializer, ExperienceSerializer
from agents.services.rows import add_row, change_row, delete_row, row_not_found
from agents.views.base import WRITE, AgentsView
from common.api.versions import etag
from common.api.views import FieldbookListView, validated
from common.idempotency.services import Answer
from experiences.models import Experience
from experiences.selectors import rows_of


def _version_header(agent_id: int) -> dict[str, str]:
    return {"ETag": etag(Agent.objects.values_list("version", flat=True).get(pk=agent_id))}


class RowListView(AgentsView, FieldbookListView):
    """All rows of an agent in order, disabled ones too; add one."""

    scopes = {"POST": WRITE}
    staff_permissions = {"GET": "experiences.view_experience", "POST": "experiences.add_experience"}

    @extend_schema(responses=ExperienceSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        agent = self.agent(pk)
        response = self.page_of(rows_of(agent.pk), ExperienceSerializer)
        response["ETag"] = etag(agent.version)
        return response

    @extend_schema(request=ExperienceInputSerializer, responses={201: ExperienceSerializer})
    def post(self, request: Request, pk: int) -> Response:
        self.agent_for_write(pk)

        def effect() -> Answer:
            fields = validated(ExperienceInputSerializer, request.data)
            row = add_row(
                agent_id=pk,
                content=fields.get("content"),
                enabled=fields.get("enabled") is not False,
                position=fields.get("sort_order"),
                edit=self.edit(),
            )
            return Answer(201, ExperienceSerializer(row).data, _version_header(pk))

        return self.idempotently(request, f"agents/{pk}/experiences", effect)


class RowDetailView(AgentsView):
    """One row."""

    scopes = {"PUT": WRITE, "PATCH": WRITE, "DELETE": WRITE}
    staff_permissions = {
        "GET": "experiences.view_experience",
        "PUT": "experiences.change_experience",
        "PATCH": "experiences.change_experience",
        "DELETE": "experiences.delete_experience",
    }

    @extend_schema(responses=ExperienceSerializer)
    def get(self, request: Request, pk: int, row_id: int) -> Response:
        agent = self.agent(pk)
        row = Experience.objects.of_agent(agent.pk).filter(pk=row_id).first()
        if row is None:
            raise row_not_found()
        return Response(ExperienceSerializer(row).data, headers={"ETag": etag(agent.version)})

    @extend_schema(request=ExperienceInputSerializer, responses=ExperienceSerializer)
    def put(self, request: Request, pk: int, row_id: int) -> Response:
        return self._write(request, pk, row_id)

    @extend_schema(request=ExperienceInputSerializer, responses=ExperienceSerializer)
    def patch(self, request: Request, pk: int, row_id: int) -> Response:
        return self._write(request, pk, row_id)

    def _write(self, request: Request, pk: int, row_id: int) -> Response:
        self.agent_for_write(pk)
        changes = validated(ExperienceInputSerializer, request.data)
        row = change_row(agent_id=pk, row_id=row_id, changes=changes, edit=self.edit())
        return Response(ExperienceSerializer(row).data, headers=_version_header(pk))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int, row_id: int) -> Response:
        self.agent_for_write(pk)
        delete_row(agent_id=pk, row_id=row_id, edit=self.edit())
        return Response(status=204, headers=_version_header(pk))

"""GET /parameters and GET /parameters/{name}/changes. Changes are proposed: evolution/proposals/views/parameters.py."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from common.api.views import FieldbookListView
from evolution.parameters.selectors import changes_of, shown_parameters
from evolution.parameters.serializers import ParameterChangeSerializer, ParameterSerializer


class ParameterListView(FieldbookListView):
    """All parameters of the company, in the order of the specification."""

    staff_permissions = {"GET": "parameters.view_parameter"}
    serializer_class = ParameterSerializer

    @extend_schema(responses=ParameterSerializer(many=True))
    def get(self, request: Request) -> Response:
        return self.page_of(shown_parameters(self.caller.company.pk), ParameterSerializer)


class ParameterChangeListView(FieldbookListView):
    """The history of one parameter, newest first."""

    staff_permissions = {"GET": "parameters.view_parameterchange"}
    serializer_class = ParameterChangeSerializer

    @extend_schema(responses=ParameterChangeSerializer(many=True))
    def get(self, request: Request, name: str) -> Response:
        self.caller.check_unbound()  # reasons and names of the whole company
        return self.page_of(changes_of(self.caller.company, name), ParameterChangeSerializer)

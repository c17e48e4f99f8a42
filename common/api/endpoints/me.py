"""GET /me: the key or person that calls, its company and its rights."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from common.api.views import FieldbookView


class MeSerializer(serializers.Serializer):
    """Who calls. `agent` is the id a key is bound to; `scopes` is empty for a person."""

    kind = serializers.ChoiceField(choices=["key", "person"])
    name = serializers.CharField()
    company = serializers.CharField()
    company_name = serializers.CharField()
    agent = serializers.IntegerField(allow_null=True)
    scopes = serializers.ListField(child=serializers.CharField())
    expires_at = serializers.DateTimeField(allow_null=True)


class MeView(FieldbookView):
    """Any live key may ask who it is, whatever its scopes."""

    any_scope = True

    @extend_schema(responses=MeSerializer)
    def get(self, request: Request) -> Response:
        caller = self.caller
        key = caller.key
        values = {
            "kind": "key" if key else "person",
            "name": key.name if key else caller.actor.name,
            "company": caller.company.slug,
            "company_name": caller.company.name,
            "agent": caller.agent_id,
            "scopes": list(key.scopes) if key else [],
            "expires_at": key.expires_at if key else None,
        }
        return Response(MeSerializer(values).data)

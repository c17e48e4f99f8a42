"""How endpoints appear in the OpenAPI document: every operation also documents its problem answers."""

from __future__ import annotations

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers


class FaultSerializer(serializers.Serializer):
    """One faulty place in the input."""

    pointer = serializers.CharField(allow_blank=True)
    code = serializers.CharField()
    detail = serializers.CharField()


class ProblemSerializer(serializers.Serializer):
    """RFC 9457 problem document."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(allow_blank=True)
    instance = serializers.CharField()
    code = serializers.CharField()
    errors = FaultSerializer(many=True)


_ALWAYS = {400: "Invalid request", 401: "Not authenticated", 403: "Not allowed", 404: "Not found"}
_MORE = {405: "Method not allowed", 406: "Not acceptable", 429: "Too many requests", 503: "Try again shortly"}
_WRITES = {
    409: "Conflict",
    412: "Changed in the meantime",
    413: "Too large",
    415: "Unsupported media type",
    428: "If-Match is required",
}


class ProblemAutoSchema(AutoSchema):
    """Adds the problem answers to what spectacular finds."""

    def _get_response_bodies(self, direction: str = "response") -> dict[str, Any]:
        bodies = super()._get_response_bodies(direction)
        problems = _ALWAYS | _MORE | ({} if self.method == "GET" else _WRITES)
        extra = getattr(self.view, "problems", {})
        for status, title in (problems | extra).items():
            response = OpenApiResponse(ProblemSerializer, description=title)
            body = self._get_response_for_code(response, str(status), ["application/problem+json"])
            bodies.setdefault(str(status), body)
        return bodies

"""How endpoints appear in the OpenAPI document: every operation also documents its problem answers."""

from __future__ import annotations

from typing import Any, Literal

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.serializers import PolymorphicProxySerializerExtension
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from common.api.renderers import RESULT


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
    errors = FaultSerializer(many=True)  # type: ignore[assignment]


class ResultErrorSerializer(serializers.Serializer):
    """An error in the result+json profile."""

    code = serializers.IntegerField(
        help_text="3023 or 3024 for a bad or unknown experience, else the HTTP status"
    )
    message = serializers.CharField()
    data = serializers.JSONField(allow_null=True)  # type: ignore[assignment]


PROBLEM_MEDIA = "application/problem+json"
_READS = {
    400: "Invalid request",
    401: "Not authenticated",
    403: "Not allowed",
    404: "Not found",
    406: "Not acceptable",
    429: "Too many requests",
    503: "Try again shortly",
}
_WRITES = {
    409: "Conflict",
    412: "Changed in the meantime",
    413: "Too large",
    415: "Unsupported media type",
    428: "If-Match is required",
}
_COMPANY = OpenApiParameter("company", str, description="Staff only: slug of the company to act for")
_IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="ETag of the version that was read; else 412"
)
_IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="1 to 128 printable characters: the same key and body get the first answer again",
)


#: The result+json profile: `data` is the JSON answer in camelCase.
_ENVELOPE = {
    "type": "object",
    "required": ["code", "message", "data"],
    "properties": {
        "code": {"type": "integer", "enum": [0]},
        "message": {"type": "string"},
        "data": {},
    },
}


class AnyOfExtension(PolymorphicProxySerializerExtension):
    """Alternatives without a discriminator may overlap (a short form fits the long one's shape): anyOf, not oneOf."""

    target_class = "drf_spectacular.utils.PolymorphicProxySerializer"
    priority = 1

    def map_serializer(self, auto_schema: Any, direction: Literal["request", "response"]) -> dict[str, Any]:
        schema = super().map_serializer(auto_schema, direction)
        return schema if "discriminator" in schema else {"anyOf": schema["oneOf"]}


class ProblemAutoSchema(AutoSchema):
    """Adds to what spectacular finds: problem answers, the headers of writes, the result+json envelope."""

    def get_override_parameters(self) -> list[Any]:
        parameters = [*super().get_override_parameters(), _COMPANY]
        if self.method == "POST":
            parameters.append(_IDEMPOTENCY_KEY)
        if self.method != "GET":
            parameters.append(_IF_MATCH)
        return parameters

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, Any]:
        bodies = super()._get_response_bodies(direction)
        for body in bodies.values():
            if RESULT in body.get("content", {}):
                body["content"][RESULT] = {"schema": _ENVELOPE}
        problems = _READS | ({} if self.method == "GET" else _WRITES)
        media = self.map_renderers("media_type")
        for status, title in (problems | getattr(self.view, "problems", {})).items():
            body = self._error(ProblemSerializer, status, title, PROBLEM_MEDIA)
            if RESULT in media:
                body["content"] |= self._error(ResultErrorSerializer, status, title, RESULT)["content"]
            bodies.setdefault(str(status), body)
        return bodies

    def _error(self, serializer: type, status: int, title: str, media_type: str) -> dict[str, Any]:
        response = OpenApiResponse(serializer, description=title)
        return self._get_response_for_code(response, str(status), [media_type])

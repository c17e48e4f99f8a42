"""JSON out: raw UTF-8; and the result+json profile of `/agents`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.renderers import JSONRenderer

from common.api.naming import camel_keys

#: Numeric codes of the result+json profile that are not the HTTP status, with their fixed messages.
RESULT_CODES = {
    "AGENT_EXPERIENCE_CONTENT_INVALID": (3023, "最佳实践经验内容无效（需 1～300 字）"),
    "AGENT_EXPERIENCE_NOT_FOUND": (3024, "最佳实践经验不存在"),
}


RESULT = "application/vnd.result+json"


def result_error(status: int, problem: Mapping[str, Any]) -> dict[str, Any]:
    """A problem document as the result+json profile answers it; the HTTP status stays."""
    code, message = RESULT_CODES.get(
        problem.get("code", ""), (status, problem.get("detail") or problem.get("title"))
    )
    return {"code": code, "message": message, "data": None}


class RawJSONRenderer(JSONRenderer):
    """Compact JSON in raw UTF-8; errors leave as `application/problem+json`."""

    charset = "utf-8"


class ResultJSONRenderer(JSONRenderer):
    """`{"code": 0, "message": "ok", "data": ...}` in camelCase, for clients of that envelope."""

    media_type = RESULT
    format = "result"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping | None = None
    ) -> bytes:
        response = (renderer_context or {}).get("response")
        if response is not None and response.status_code == 204:
            return b""
        if response is not None and response.status_code >= 400:
            envelope = result_error(response.status_code, data)
        else:
            envelope = {"code": 0, "message": "ok", "data": camel_keys(data)}
        return super().render(envelope, accepted_media_type, renderer_context)

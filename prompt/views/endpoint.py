"""GET|POST /agents/{id}/prompt."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django.utils.http import parse_etags
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from agents.views.base import AgentsView
from common.actors import Actor
from common.api.naming import snake_keys
from common.api.renderers import RawJSONRenderer, ResultJSONRenderer
from common.api.views import fields_of
from common.companies.selectors import may_write
from prompt.cache import KEY, AnswerKey
from prompt.rules.requests import checked_request
from prompt.rules.values import Precision, PromptRequest
from prompt.serializers import PromptRequestSerializer, PromptSerializer, answer_of
from prompt.services import Prompt, serve_prompt

#: The language of the text, which the agent decides, whatever the caller's browser prefers.
_CONTENT_LANGUAGE = {"zh": "zh-hans", "en": "en"}
_QUERY = [
    OpenApiParameter("user_id", str, description="Adds this user's preferences and memory"),
    OpenApiParameter("time_precision", str, enum=[precision.value for precision in Precision]),
    OpenApiParameter("company", str, description="Staff only: the company to act for"),
]
_ANSWERS = {
    (200, "application/json"): PromptSerializer,
    (200, "text/plain"): OpenApiTypes.STR,
    304: None,
}


class PlainTextRenderer(BaseRenderer):
    """The text alone."""

    media_type = "text/plain"
    format = "txt"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping | None = None
    ) -> str:
        return data["text"]


class PromptView(AgentsView):
    """The system prompt of an agent, ready to use. Both methods only read (POST also logs deliveries)."""

    renderer_classes = [RawJSONRenderer, ResultJSONRenderer, PlainTextRenderer]
    scopes = {"POST": "read"}
    staff_permissions = {"GET": "agents.view_agent", "POST": "agents.view_agent"}
    reads = frozenset({"POST"})
    problems = {410: "The agent is disabled"}

    @extend_schema(parameters=_QUERY, responses=_ANSWERS)
    def get(self, request: Request, pk: int) -> HttpResponse:
        query = snake_keys(request.query_params.dict())
        known = {name: query[name] for name in ("user_id", "time_precision") if name in query}
        return self._answer(request, pk, checked_request(known), records_for=None)

    @extend_schema(request=PromptRequestSerializer, responses=_ANSWERS)
    def post(self, request: Request, pk: int) -> HttpResponse:
        return self._answer(request, pk, checked_request(fields_of(request)), records_for=self._recorded())

    def _answer(
        self, request: Request, pk: int, wanted: PromptRequest, records_for: Actor | None
    ) -> HttpResponse:
        now = timezone.now()
        prompt = serve_prompt(
            agent_id=pk,
            company=self.caller.company,
            request=wanted,
            now=now,
            bound_to=self.caller.agent_id,
            records_for=records_for,
        )
        tag = f'"{sha256(prompt.rendered.text.encode()).hexdigest()}"'
        if request.method == "GET" and self.caller.key is not None and wanted == PromptRequest():
            self._offer_to_cache(request, prompt, tag, now)
        response: HttpResponse
        if is_known(request.headers.get("If-None-Match"), tag):
            response = HttpResponse(status=304)
            del response["Content-Type"]
        else:
            response = Response(answer_of(prompt))
        response["ETag"] = tag
        response["Vary"] = "Accept, Authorization"
        response["Cache-Control"] = "private, no-cache"
        response["Content-Language"] = _CONTENT_LANGUAGE[prompt.agent.language]
        return response

    def _recorded(self) -> Actor | None:
        """Who is named in the log; None for staff who may only look at this company."""
        caller = self.caller
        is_reader = caller.key is None and not may_write(caller.user, caller.company)
        return None if is_reader else caller.actor

    def _offer_to_cache(self, request: Request, prompt: Prompt, tag: str, now: datetime) -> None:
        """Leave a key for `prompt.fastpath`, which stands outside and sees the finished answer."""
        if prompt.rendered.warnings or prompt.body_sha256 is None:
            return
        key = AnswerKey(
            agent_id=prompt.agent.pk,
            version=prompt.agent.version,
            body_sha256=prompt.body_sha256,
            company_id=prompt.company.pk,
            company_slug=prompt.company.slug,
            day=timezone.localdate(now).isoformat(),
            time_zone=settings.TIME_ZONE,
            media_type=request.accepted_media_type or "",
        )
        request.META[KEY] = (key, tag)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Errors are problem documents, to those who asked for plain text too."""
        renderer = getattr(request, "accepted_renderer", None)
        if isinstance(renderer, PlainTextRenderer) and getattr(response, "status_code", 200) >= 400:
            request.accepted_renderer = RawJSONRenderer()
            request.accepted_media_type = RawJSONRenderer.media_type
        return super().finalize_response(request, response, *args, **kwargs)


def is_known(if_none_match: str | None, tag: str) -> bool:
    """Whether the caller has the text already; weak tags count, as RFC 9110 has it for `If-None-Match`."""
    if not if_none_match:
        return False
    tags = parse_etags(if_none_match)
    return tags == ["*"] or any(known.removeprefix("W/") == tag for known in tags)

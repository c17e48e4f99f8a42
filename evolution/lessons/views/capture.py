"""POST /lessons/capture: commits sent by a hook that the server cannot reach the repository of."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.selectors import get_agent
from common.api.views import FieldbookView, fields_of
from common.idempotency.services import Answer
from evolution.lessons.rules.capture_request import checked_capture
from evolution.lessons.serializers.capture import (
    CaptureAnswerSerializer,
    CaptureRequestSerializer,
    capture_answer,
)
from evolution.lessons.services.scanning import capture_pushed


class CaptureView(FieldbookView):
    """Drafts of the commits, by the rules of the scan; sent twice they give nothing more."""

    scopes = {"POST": "report"}
    staff_permissions = {"POST": "lessons.add_lesson"}

    @extend_schema(request=CaptureRequestSerializer, responses=CaptureAnswerSerializer)
    def post(self, request: Request) -> Response:
        return self.idempotently(request, "lessons/capture", lambda: self._capture(fields_of(request)))

    def _capture(self, fields: dict[str, Any]) -> Answer:
        company, pk = self.caller.company, self.caller.agent_id
        report = capture_pushed(
            company=company,
            request=checked_capture(fields),
            actor=self.caller.actor,
            now=timezone.now(),
            bound_to=get_agent(company, pk, pk) if pk else None,
        )
        return Answer(200, capture_answer(report))

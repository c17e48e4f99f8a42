"""POST /lessons/check: what the lessons say of a change before it is merged."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from common.api.views import FieldbookView, fields_of
from common.idempotency.services import Answer
from evolution.lessons.rules.check_request import checked_check
from evolution.lessons.serializers.checks import CheckAnswerSerializer, CheckRequestSerializer
from evolution.lessons.services.checking import check_and_store


class CheckView(FieldbookView):
    """`pass` or `attention`; the same reference again updates the answers. It blocks nothing."""

    scopes = {"POST": "report"}
    staff_permissions = {"POST": "lessons.change_lesson"}

    @extend_schema(request=CheckRequestSerializer, responses=CheckAnswerSerializer)
    def post(self, request: Request) -> Response:
        return self.idempotently(request, "checks", lambda: self._check(fields_of(request)))

    def _check(self, fields: dict[str, Any]) -> Answer:
        answer = check_and_store(
            company=self.caller.company,
            request=checked_check(fields),
            actor=self.caller.actor,
            now=timezone.now(),
            agent_id=self.caller.agent_id,
        )
        return Answer(200, answer)

"""GET|POST /injections and GET /injections/{injection_id}."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.models import Agent
from agents.selectors import get_agent
from common.api.views import FieldbookListView, FieldbookView, fields_of
from common.companies.selectors import may_write
from common.errors import invalid
from common.idempotency.services import Answer
from evolution.knowledge.rules.injection_request import InjectionRequest, checked_request
from evolution.knowledge.selectors.injection import select_items
from evolution.knowledge.selectors.use import get_injection, injections_of
from evolution.knowledge.serializers.injections import (
    InjectionAnswerSerializer,
    InjectionRequestSerializer,
    InjectionSerializer,
    injection_answer,
)
from evolution.knowledge.services.injecting import Asked, inject


class InjectionsView(FieldbookListView):
    """The few items worth having before a phase; what was handed out earlier."""

    scopes = {"GET": "read", "POST": "read"}
    staff_permissions = {"GET": "knowledge.view_injection", "POST": "knowledge.view_knowledge"}
    reads = frozenset({"POST"})

    @extend_schema(responses=InjectionSerializer(many=True))
    def get(self, request: Request) -> Response:
        return self.page_of(injections_of(self.caller.company, self.caller.agent_id), InjectionSerializer)

    @extend_schema(request=InjectionRequestSerializer, responses=InjectionAnswerSerializer)
    def post(self, request: Request) -> Response:
        return self.idempotently(request, "injections", lambda: self._inject(fields_of(request)))

    def _inject(self, fields: dict[str, Any]) -> Answer:
        wanted, caller = checked_request(fields), self.caller
        agent = self._agent(wanted)
        if caller.key is None and not may_write(caller.user, caller.company):
            selected = select_items(company=caller.company, agent=agent, request=wanted)
            return Answer(200, injection_answer(selected, None))
        asked = Asked(caller.company, agent, caller.actor, timezone.now())
        selected, injection = inject(asked=asked, request=wanted)
        return Answer(200, injection_answer(selected, injection.injection_id))

    def _agent(self, wanted: InjectionRequest) -> Agent:
        """The agent asked for, else the one the key is bound to. Errors: VALIDATION_ERROR, AGENT_NOT_FOUND."""
        bound = self.caller.agent_id
        agent_id = wanted.agent_id if wanted.agent_id is not None else bound
        if agent_id is None:
            raise invalid("/agent", _("Name the agent."))
        return get_agent(self.caller.company, agent_id, bound)


class InjectionView(FieldbookView):
    """What was handed out once, also when it is archived."""

    scopes = {"GET": "read"}
    staff_permissions = {"GET": "knowledge.view_injection"}

    @extend_schema(responses=InjectionSerializer)
    def get(self, request: Request, injection_id: UUID) -> Response:
        injection = get_injection(self.caller.company, injection_id, self.caller.agent_id)
        return Response(InjectionSerializer(injection).data)

"""GET|POST /learning-items and POST /learning-items/process."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.selectors import get_agent
from common.api.views import FieldbookListView, FieldbookView, fields_of, validated
from common.idempotency.services import Answer
from evolution.cycles.selectors import BATCH, items_of
from evolution.cycles.serializers import (
    LearningItemSerializer,
    ProcessAnswerSerializer,
    ProcessSerializer,
    ReportSerializer,
    processed,
)
from evolution.cycles.services.dispatching import Asked, count_waiting, process_item, process_queue
from evolution.knowledge.choices import LearningStatus, Priority, SourceType
from evolution.knowledge.models import LearningItem
from evolution.knowledge.models.queue import LearningItemQuerySet
from evolution.knowledge.rules.queue import checked_report, up_to
from evolution.knowledge.services.queue import report

FILTERS = [
    OpenApiParameter("status", str, enum=LearningStatus.values),
    OpenApiParameter("source_type", str, enum=SourceType.values),
    OpenApiParameter("priority", str, enum=Priority.values),
    OpenApiParameter("agent", int),
]


class LearningItemListView(FieldbookListView):
    """The company's reports in the order of their turn; report one. The same source again: 200 and the same item."""

    scopes = {"POST": "report"}
    staff_permissions = {"GET": "knowledge.view_learningitem", "POST": "knowledge.add_learningitem"}
    serializer_class = LearningItemSerializer

    def get_queryset(self) -> LearningItemQuerySet:
        query = self.request.query_params
        rows = items_of(self.caller.company, query.dict(), self.caller.agent_id)
        if self.caller.key is not None:
            rows = rows.filter(quarantined_at=None)
        agent = query.get("agent")
        if agent is None:
            return rows
        known = get_agent(self.caller.company, _number(agent), self.caller.agent_id)
        return rows.filter(agent=known)

    @extend_schema(parameters=FILTERS, responses=LearningItemSerializer(many=True))
    def get(self, request: Request) -> Response:
        return self.page_of(self.get_queryset(), LearningItemSerializer)

    @extend_schema(
        request=ReportSerializer, responses={201: LearningItemSerializer, 200: LearningItemSerializer}
    )
    def post(self, request: Request) -> Response:
        return self.idempotently(request, "learning-items", lambda: self._report(request))

    def _report(self, request: Request) -> Answer:
        fields = validated(ReportSerializer, fields_of(request))
        caller = self.caller
        pk = fields.get("agent") or caller.agent_id
        reported = report(
            company=caller.company,
            report=checked_report(fields),
            actor=caller.actor,
            agent=get_agent(caller.company, pk, caller.agent_id) if pk else None,
            bound_to=caller.agent_id,
        )
        item = reported.item
        if reported.created and item.priority == Priority.P0:
            process_item(item.pk, actor=caller.actor, now=timezone.now())
        fresh = LearningItem.objects.get(pk=item.pk)
        return Answer(201 if reported.created else 200, LearningItemSerializer(fresh).data)


class ProcessView(FieldbookView):
    """Work off a batch of what waits; a key bound to an agent only what is about it."""

    scopes = {"POST": "report"}
    staff_permissions = {"POST": "knowledge.change_learningitem"}

    @extend_schema(request=ProcessSerializer, responses=ProcessAnswerSerializer)
    def post(self, request: Request) -> Response:
        return self.idempotently(request, "learning-items/process", lambda: self._process(request))

    def _process(self, request: Request) -> Answer:
        fields = validated(ProcessSerializer, fields_of(request))
        asked = Asked(
            actor=self.caller.actor,
            clock=timezone.now,
            priorities=up_to(fields.get("priority")),
            company=self.caller.company,
            agent_id=self.caller.agent_id,
            limit=fields.get("limit") or BATCH,
        )
        done = process_queue(asked)
        body: dict[str, Any] = {
            **done.counts(),
            "waiting": count_waiting(replace(asked, limit=None)),
            "items": [processed(item) for item in done.items],
        }
        return Answer(200, body)


def _number(raw: str) -> int:
    """The number of an agent from the query; 0, which is none, for anything else."""
    return int(raw) if raw.isascii() and raw.isdigit() and len(raw) <= 18 else 0

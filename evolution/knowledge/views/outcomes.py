"""POST /outcomes and GET /knowledge/{id}/outcomes."""

from __future__ import annotations

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from common.api.views import FieldbookListView, FieldbookView, fields_of, idempotency_key
from common.idempotency.services import Answer
from evolution.knowledge.rules.outcomes import checked_report
from evolution.knowledge.selectors.causal import causal_scores
from evolution.knowledge.selectors.knowledge import get_knowledge
from evolution.knowledge.selectors.use import get_injection, outcomes_of, used_items
from evolution.knowledge.serializers.outcomes import (
    RecordedSerializer,
    UseOutcomeSerializer,
    UseRequestSerializer,
    recorded_answer,
)
from evolution.knowledge.services.outcomes import Told, record_outcomes


class OutcomesView(FieldbookView):
    """What applying an item, or what an injection gave, really brought."""

    scopes = {"POST": "report"}
    staff_permissions = {"POST": "knowledge.change_knowledge"}

    @extend_schema(request=UseRequestSerializer, responses={201: RecordedSerializer})
    def post(self, request: Request) -> Response:
        return self.idempotently(request, "knowledge-outcomes", lambda: self._record(request))

    def _record(self, request: Request) -> Answer:
        report, caller = checked_report(fields_of(request)), self.caller
        injection = None
        if report.knowledge:
            items = [get_knowledge(caller.company, report.knowledge, caller.agent_id)]
        else:
            injection = get_injection(caller.company, report.injection_id, caller.agent_id)
            items = used_items(injection)
        told = Told(report, caller.actor, timezone.now(), injection, idempotency_key(request))
        recorded = record_outcomes(company=caller.company, items=items, told=told)
        scores = causal_scores(caller.company.pk, [item.pk for item in recorded.items])
        return Answer(201, recorded_answer(recorded, scores))


class KnowledgeOutcomesView(FieldbookListView):
    """The outcomes of one item, newest first."""

    scopes = {"GET": "read"}
    staff_permissions = {"GET": "knowledge.view_knowledge"}

    @extend_schema(responses=UseOutcomeSerializer(many=True))
    def get(self, request: Request, knowledge: str) -> Response:
        caller = self.caller
        rows = outcomes_of(
            get_knowledge(caller.company, knowledge, caller.agent_id, with_held=caller.key is None)
        )
        return self.page_of(rows, UseOutcomeSerializer)

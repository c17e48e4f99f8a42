"""GET|POST /knowledge, GET|PATCH /knowledge/{code}, the verbs, and the list of known issues."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.selectors import get_agent
from common.api.versions import etag, expected_versions
from common.api.views import FieldbookListView, FieldbookView, fields_of, validated
from common.errors import invalid
from common.idempotency.services import Answer
from evolution.knowledge.choices import Category, KnowledgeSource, SourceType, Status
from evolution.knowledge.models import Knowledge
from evolution.knowledge.rules.harvesting import ANTI, OTHER, REFERENCE
from evolution.knowledge.selectors.knowledge import filtered, get_knowledge, knowledge_of
from evolution.knowledge.selectors.searching import in_order, known_issues, search_knowledge, states_of
from evolution.knowledge.serializers.knowledge import (
    ActivateSerializer,
    KnowledgeChangeSerializer,
    KnowledgeInputSerializer,
    KnowledgeReasonSerializer,
    KnowledgeSerializer,
    KnownIssueSerializer,
)
from evolution.knowledge.services import deciding
from evolution.knowledge.services.deciding import Decision
from evolution.knowledge.services.editing import change_knowledge
from evolution.knowledge.services.storing import add_knowledge

FILTERS = [
    OpenApiParameter("q", str, description="Words; the best first. Without “status” what may be handed out"),
    OpenApiParameter("status", str, enum=Status.values),
    OpenApiParameter("category", str, enum=Category.values),
    OpenApiParameter("agent", int, description="Its items and those of all agents"),
]
_CONFIDENCE = {Category.ANTI_PATTERN: ANTI, Category.REFERENCE_PROJECT: REFERENCE}


def answer_for(item: Knowledge, status: int = 200) -> Answer:
    """An item as answered, with its ETag."""
    fresh = knowledge_of(item.company, with_held=True).get(pk=item.pk)
    return Answer(status, KnowledgeSerializer(fresh).data, {"ETag": etag(fresh.version)})


class KnowledgeListView(FieldbookListView):
    """The company's knowledge, highest number first, or by words the best first; report a draft."""

    scopes = {"POST": "report"}
    staff_permissions = {"GET": "knowledge.view_knowledge", "POST": "knowledge.add_knowledge"}
    serializer_class = KnowledgeSerializer

    @extend_schema(parameters=FILTERS, responses=KnowledgeSerializer(many=True))
    def get(self, request: Request) -> Response:
        query = request.query_params
        agent_id = self.caller.agent_id
        if query.get("agent") is not None:
            agent_id = get_agent(self.caller.company, _number(query["agent"]), agent_id).pk
        filters = {name: query.get(name) for name in ("status", "category")}
        with_held = self.caller.key is None
        rows = filtered(knowledge_of(self.caller.company, agent_id, with_held=with_held), filters)
        if query.get("q") is None:
            return self.page_of(rows.order_by("-number", "-id"), KnowledgeSerializer)
        found = search_knowledge(
            company=self.caller.company,
            query=query["q"],
            agent_id=agent_id,
            states=states_of(filters["status"]),
        )
        allowed = set(rows.filter(pk__in=[hit.pk for hit in found]).values_list("pk", flat=True))
        page = self.paginate_queryset([hit for hit in found if hit.pk in allowed])
        items = in_order(self.caller.company, page)
        coverage = {hit.pk: hit.coverage for hit in page}
        shown = KnowledgeSerializer(items, many=True, context={"coverage": coverage})
        return self.get_paginated_response(shown.data)

    @extend_schema(
        request=KnowledgeInputSerializer, responses={200: KnowledgeSerializer, 201: KnowledgeSerializer}
    )
    def post(self, request: Request) -> Response:
        return self.idempotently(request, "knowledge", lambda: self._create(fields_of(request)))

    def _create(self, body: Mapping[str, Any]) -> Answer:
        fields = validated(KnowledgeInputSerializer, body)
        pk = fields.pop("agent", None) or self.caller.agent_id
        item, created = add_knowledge(
            company=self.caller.company,
            agent=get_agent(self.caller.company, pk, self.caller.agent_id) if pk else None,
            source_type=self._source(fields.pop("source_type", None)),
            fields=fields,
            confidence=_CONFIDENCE.get(fields["category"], OTHER) if _is_text(fields["category"]) else OTHER,
            actor=self.caller.actor,
            now=timezone.now(),
        )
        return answer_for(item, 201 if created else 200)

    def _source(self, given: Any) -> str:
        """What a key says where it comes from; staff write by hand. No caller can claim an import or outcomes."""
        if self.caller.key is None and given in (None, KnowledgeSource.MANUAL):
            return KnowledgeSource.MANUAL
        if given is None:
            return KnowledgeSource.CONVERSATION
        if given not in SourceType.values:
            known = ", ".join(SourceType.values)
            raise invalid("/source_type", _("Unknown value; there are: %(known)s.") % {"known": known})
        return str(given)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _number(raw: str) -> int:
    """A row number from the query. Errors: VALIDATION_ERROR."""
    if not (raw.isascii() and raw.isdigit() and len(raw) <= 18):
        raise invalid("/agent", _("“%(name)s” must be a number.") % {"name": "agent"})
    return int(raw)


class KnownIssueListView(FieldbookListView):
    """Errors that were solved, the newest first."""

    staff_permissions = {"GET": "knowledge.view_knowledge"}
    serializer_class = KnownIssueSerializer

    @extend_schema(responses=KnownIssueSerializer(many=True))
    def get(self, request: Request) -> Response:
        return self.page_of(known_issues(self.caller.company, self.caller.agent_id), KnownIssueSerializer)


class KnowledgeView(FieldbookView):
    """Base of the endpoints of one item."""

    def item(self, code: str) -> Knowledge:
        caller = self.caller
        return get_knowledge(caller.company, code, caller.agent_id, with_held=caller.key is None)

    def answered(self, item: Knowledge) -> Response:
        answer = answer_for(item)
        return Response(answer.body, headers=dict(answer.headers))


class KnowledgeDetailView(KnowledgeView):
    """One item. A key with `report` may change the text of drafts that a key reported; staff what is not archived."""

    scopes = {"PATCH": "report"}
    staff_permissions = {"GET": "knowledge.view_knowledge", "PATCH": "knowledge.change_knowledge"}

    @extend_schema(responses=KnowledgeSerializer)
    def get(self, request: Request, knowledge: str) -> Response:
        return self.answered(self.item(knowledge))

    @extend_schema(request=KnowledgeChangeSerializer, responses=KnowledgeSerializer)
    def patch(self, request: Request, knowledge: str) -> Response:
        changed = change_knowledge(
            knowledge_id=self.item(knowledge).pk,
            changes=validated(KnowledgeChangeSerializer, fields_of(request)),
            actor=self.caller.actor,
            now=timezone.now(),
            expected=expected_versions(request),
        )
        return self.answered(changed)


class KnowledgeVerbView(KnowledgeView):
    """POST /knowledge/{code}/{verb}."""

    verb: str
    act: Callable[..., Knowledge]
    #: Whether the verb is a vote, which counts anew each time unless it is sent with an Idempotency-Key.
    needs_version = True

    @extend_schema(request=KnowledgeReasonSerializer, responses=KnowledgeSerializer)
    def post(self, request: Request, knowledge: str) -> Response:
        kind = f"knowledge/{knowledge.casefold()}/{self.verb}"
        return self.idempotently(request, kind, lambda: self._answer(request, knowledge))

    def _answer(self, request: Request, knowledge: str) -> Answer:
        item = self.item(knowledge)
        fields = validated(KnowledgeReasonSerializer, fields_of(request))
        return answer_for(type(self).act(knowledge_id=item.pk, decision=self.decision(fields)))

    def decision(self, fields: Mapping[str, Any]) -> Decision:
        return Decision(
            actor=self.caller.actor,
            now=timezone.now(),
            reason=fields.get("reason") or "",
            expected=expected_versions(self.request, required=self.needs_version),
        )


class VoteView(KnowledgeVerbView):
    """A vote by a runtime or a person."""

    scopes = {"POST": "report"}
    staff_permissions = {"POST": "knowledge.change_knowledge"}
    needs_version = False


class VerifyView(VoteView):
    """It proved right: +0.1. A key cannot verify what it reported itself."""

    verb, act = "verify", staticmethod(deciding.verify)


class ReferenceView(VoteView):
    """It was used: +0.05. A key cannot speak for what it reported itself."""

    verb, act = "reference", staticmethod(deciding.reference)


class MisleadView(VoteView):
    """It led into an error: -0.2."""

    verb, act = "mislead", staticmethod(deciding.mislead)


class StaffVerbView(KnowledgeVerbView):
    """What only staff decide."""

    staff_permissions = {"POST": "knowledge.confirm_knowledge"}


class ActivateView(StaffVerbView):
    """Confirm a draft for exactly the text it has."""

    verb = "activate"

    @extend_schema(request=ActivateSerializer, responses=KnowledgeSerializer)
    def post(self, request: Request, knowledge: str) -> Response:
        return super().post(request, knowledge)

    def _answer(self, request: Request, knowledge: str) -> Answer:
        item = self.item(knowledge)
        fields = validated(ActivateSerializer, fields_of(request))
        shown = fields.get("shown_hash")
        return answer_for(
            deciding.activate(knowledge_id=item.pk, decision=self.decision(fields), shown_hash=shown)
        )


class DeprecateView(StaffVerbView):
    """Stop handing it out; only a person brings it back."""

    verb, act = "deprecate", staticmethod(deciding.deprecate)


class RestoreView(StaffVerbView):
    """Bring a deprecated or archived item back: active when a person had confirmed its text, else a draft."""

    verb, act = "restore", staticmethod(deciding.restore)


VERBS = {
    view.verb: view
    for view in (ActivateView, VerifyView, ReferenceView, MisleadView, DeprecateView, RestoreView)
}

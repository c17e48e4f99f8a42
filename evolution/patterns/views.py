"""GET|POST /patterns, GET|PATCH /patterns/{code}, the verbs, scan, suggest and scaffold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.models import Agent
from agents.selectors import get_agent
from common.api.versions import etag, expected_versions
from common.api.views import FieldbookListView, FieldbookView, fields_of, validated
from common.idempotency.services import Answer
from evolution.patterns.choices import PatternCategory, PatternStatus
from evolution.patterns.models import Pattern
from evolution.patterns.rules.scaffold import scaffold
from evolution.patterns.selectors import get_pattern, hint, patterns_of, ranked, suggest
from evolution.patterns.serializers import (
    PatternInputSerializer,
    PatternSerializer,
    ScaffoldAnswerSerializer,
    ScaffoldRequestSerializer,
    ScanAnswerSerializer,
    ScanRequestSerializer,
    SuggestAnswerSerializer,
    SuggestRequestSerializer,
)
from evolution.patterns.services import storing
from evolution.patterns.services.scanning import checked_commit, scan

FILTERS = [
    OpenApiParameter("q", str, description="Similar to this text; active ones first, then the most similar"),
    OpenApiParameter("status", str, enum=PatternStatus.values),
    OpenApiParameter("category", str, enum=PatternCategory.values),
]


class PatternRoomView(FieldbookView):
    """Base of the endpoints of patterns."""

    def agent_of(self, fields: dict[str, Any]) -> Agent | None:
        """The agent that is named, else that of the key. Errors: AGENT_NOT_FOUND."""
        pk = fields.get("agent") or self.caller.agent_id
        return get_agent(self.caller.company, pk, self.caller.agent_id) if pk else None

    def pattern(self, code: str) -> Pattern:
        return get_pattern(self.caller.company, code, self.caller.agent_id)

    def answer_for(self, pattern: Pattern, status: int = 200) -> Answer:
        """A pattern as answered, with its ETag."""
        fresh = patterns_of(pattern.company).get(pk=pattern.pk)
        return Answer(status, PatternSerializer(fresh).data, {"ETag": etag(fresh.version)})

    def answered(self, pattern: Pattern) -> Response:
        answer = self.answer_for(pattern)
        return Response(answer.body, headers=dict(answer.headers))


class PatternListView(PatternRoomView, FieldbookListView):
    """The company's patterns, highest number first; propose one, which is pending."""

    scopes = {"POST": "report"}
    staff_permissions = {"GET": "patterns.view_pattern", "POST": "patterns.add_pattern"}
    serializer_class = PatternSerializer

    @extend_schema(parameters=FILTERS, responses=PatternSerializer(many=True))
    def get(self, request: Request) -> Response:
        query = request.query_params
        rows = patterns_of(self.caller.company, self.caller.agent_id, query.dict())
        if query.get("q"):
            return self.page_of([item.pattern for item in ranked(query["q"], rows)], PatternSerializer)
        return self.page_of(rows, PatternSerializer)

    @extend_schema(request=PatternInputSerializer, responses={201: PatternSerializer})
    def post(self, request: Request) -> Response:
        return self.idempotently(request, "patterns", lambda: self._create(request))

    def _create(self, request: Request) -> Answer:
        fields = validated(PatternInputSerializer, fields_of(request))
        agent = self.agent_of(fields)
        fields.pop("agent", None)
        pattern = storing.create_pattern(
            company=self.caller.company,
            values=fields,
            actor=self.caller.actor,
            now=timezone.now(),
            agent=agent,
        )
        return self.answer_for(pattern, 201)


class PatternDetailView(PatternRoomView):
    """One pattern. Staff change it and stand for it by that."""

    staff_permissions = {"GET": "patterns.view_pattern", "PATCH": "patterns.change_pattern"}

    @extend_schema(responses=PatternSerializer)
    def get(self, request: Request, pattern: str) -> Response:
        return self.answered(self.pattern(pattern))

    @extend_schema(request=PatternInputSerializer, responses=PatternSerializer)
    def patch(self, request: Request, pattern: str) -> Response:
        found = self.pattern(pattern)
        changes = validated(PatternInputSerializer, fields_of(request))
        if "agent" in changes:
            pk = changes["agent"]
            changes["agent"] = get_agent(self.caller.company, pk) if pk else None
        changed = storing.change_pattern(
            pattern_id=found.pk,
            changes=changes,
            actor=self.caller.actor,
            now=timezone.now(),
            expected=expected_versions(request),
        )
        return self.answered(changed)


class PatternVerbView(PatternRoomView):
    """POST /patterns/{code}/{verb}: staff only."""

    staff_permissions = {"POST": "patterns.decide_pattern"}
    act: Callable[..., Pattern]

    @extend_schema(request=None, responses=PatternSerializer)
    def post(self, request: Request, pattern: str) -> Response:
        return self.idempotently(
            request, f"patterns/{pattern}/{self.verb}", lambda: self._decide(request, pattern)
        )

    verb = ""

    def _decide(self, request: Request, pattern: str) -> Answer:
        found = self.pattern(pattern)
        decided = type(self).act(
            pattern_id=found.pk,
            actor=self.caller.actor,
            now=timezone.now(),
            expected=expected_versions(request),
        )
        return self.answer_for(decided)


class VerifyView(PatternVerbView):
    """It was found right: +0.1."""

    verb = "verify"
    act = staticmethod(storing.verify_pattern)


class PromoteView(PatternVerbView):
    """Make it active; 409 says what it lacks."""

    verb = "promote"
    act = staticmethod(storing.promote_pattern)


class DeprecateView(PatternVerbView):
    """Suggest it no more."""

    verb = "deprecate"
    act = staticmethod(storing.deprecate_pattern)


class ScanView(PatternRoomView):
    """Search a commit; the same one again adds nothing."""

    scopes = {"POST": "report"}
    staff_permissions = {"POST": "patterns.add_pattern"}

    @extend_schema(request=ScanRequestSerializer, responses=ScanAnswerSerializer)
    def post(self, request: Request) -> Response:
        return self.idempotently(request, "patterns/scan", lambda: self._scan(request))

    def _scan(self, request: Request) -> Answer:
        fields = validated(ScanRequestSerializer, fields_of(request))
        report = scan(
            company=self.caller.company,
            commit=checked_commit(fields),
            actor=self.caller.actor,
            now=timezone.now(),
            agent=self.agent_of(fields),
        )
        return Answer(200, ScanAnswerSerializer(report).data)


class SuggestView(PatternRoomView):
    """The patterns that fit what is about to be written."""

    scopes = {"POST": "read"}
    staff_permissions = {"POST": "patterns.view_pattern"}
    reads = frozenset({"POST"})

    @extend_schema(request=SuggestRequestSerializer, responses=SuggestAnswerSerializer)
    def post(self, request: Request) -> Response:
        fields = validated(SuggestRequestSerializer, fields_of(request))
        agent = self.agent_of(fields)
        found = suggest(self.caller.company, fields["description"], agent.pk if agent else None)
        return Response(SuggestAnswerSerializer({"patterns": found, "text": hint(found)}).data)


class ScaffoldView(PatternRoomView):
    """The template with values in it."""

    scopes = {"POST": "read"}
    staff_permissions = {"POST": "patterns.view_pattern"}
    reads = frozenset({"POST"})

    @extend_schema(request=ScaffoldRequestSerializer, responses=ScaffoldAnswerSerializer)
    def post(self, request: Request, pattern: str) -> Response:
        found = self.pattern(pattern)
        fields = validated(ScaffoldRequestSerializer, fields_of(request))
        made = scaffold(found.template, fields.get("params") or {})
        body = {
            "text": made.text,
            "missing": made.missing,
            "status": found.status,
            "reported_by": found.created_by,
            "vouched_by": found.vouched_by,
        }
        return Response(ScaffoldAnswerSerializer(body).data)


VERBS = {"verify": VerifyView, "promote": PromoteView, "deprecate": DeprecateView}

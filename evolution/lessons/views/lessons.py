"""GET|POST /lessons, GET|PATCH|DELETE /lessons/{code}, the verbs, the index and the files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from agents.models import Agent
from agents.selectors import get_agent
from common.api.renderers import RawJSONRenderer
from common.api.versions import etag, expected_versions
from common.api.views import FieldbookListView, FieldbookView, fields_of, validated
from common.errors import invalid
from common.idempotency.services import Answer
from evolution.lessons.choices import Severity, Source, Status
from evolution.lessons.markdown import template, write_lesson
from evolution.lessons.models import Lesson
from evolution.lessons.models.lesson import LessonQuerySet
from evolution.lessons.rules.kinds import lesson_number
from evolution.lessons.selectors.lessons import LIBRARY, filtered, get_lesson, lessons_of
from evolution.lessons.serializers.lessons import (
    IndexSerializer,
    LessonChangeSerializer,
    LessonInputSerializer,
    LessonReasonSerializer,
    LessonSerializer,
    MarkdownSerializer,
    PromoteSerializer,
    SupersedeSerializer,
)
from evolution.lessons.services import deciding
from evolution.lessons.services.deciding import Decision
from evolution.lessons.services.exporting import library_index
from evolution.lessons.services.promoting import promote
from evolution.lessons.services.records import record_of
from evolution.lessons.services.storing import change_lesson, create_lesson

FILTERS = [
    OpenApiParameter("status", str, enum=Status.values),
    OpenApiParameter("type", str),
    OpenApiParameter("severity", str, enum=Severity.values),
    OpenApiParameter("category", str),
    OpenApiParameter("tag", str, many=True, description="Several: all of them"),
    OpenApiParameter("file", str, description="Listed itself, or below a listed directory"),
    OpenApiParameter("agent", int),
    OpenApiParameter("q", str, description="Words that all occur in the texts"),
    OpenApiParameter("expiring_before", str, description="ISO 8601 date (exclusive)"),
]
STATUS = OpenApiParameter("status", str, enum=LIBRARY, description="Only those of this state")
MARKDOWN_ANSWERS = {
    (200, "text/markdown"): OpenApiTypes.STR,
    (200, "application/json"): MarkdownSerializer,
}


def answer_for(lesson: Lesson, status: int = 200) -> Answer:
    """A lesson as answered, with its ETag."""
    fresh = lessons_of(lesson.company).get(pk=lesson.pk)
    return Answer(status, LessonSerializer(fresh).data, {"ETag": etag(fresh.version)})


class LessonListView(FieldbookListView):
    """The company's lessons, highest number first; report a draft."""

    scopes = {"POST": "report"}
    staff_permissions = {"GET": "lessons.view_lesson", "POST": "lessons.add_lesson"}
    serializer_class = LessonSerializer

    def get_queryset(self) -> LessonQuerySet:
        query = self.request.query_params
        lessons = lessons_of(self.caller.company, self.caller.agent_id).order_by("-number", "-id")
        filters: dict[str, Any] = {name: query.get(name) for name in query}
        filters["tag"] = query.getlist("tag")
        filters["expiring_before"] = day_of(query.get("expiring_before"), "expiring_before")
        agent = query.get("agent")
        if agent is not None:
            lessons = lessons.filter(agent_id=number_of(agent, "agent"))
        return filtered(lessons, self.caller.company, filters)

    @extend_schema(parameters=FILTERS, responses=LessonSerializer(many=True))
    def get(self, request: Request) -> Response:
        return self.page_of(self.get_queryset(), LessonSerializer)

    @extend_schema(request=LessonInputSerializer, responses={201: LessonSerializer})
    def post(self, request: Request) -> Response:
        return self.idempotently(request, "lessons", lambda: self._create(request))

    def _create(self, request: Request) -> Answer:
        fields = validated(LessonInputSerializer, request.data)
        pk = fields.pop("agent", None) or self.caller.agent_id
        agent = get_agent(self.caller.company, pk, self.caller.agent_id) if pk else None
        lesson = create_lesson(
            company=self.caller.company,
            values=fields,
            actor=self.caller.actor,
            now=timezone.now(),
            agent=agent,
            source=Source.API if self.caller.key else Source.MANUAL,
        )
        return answer_for(lesson, 201)


def day_of(raw: str | None, name: str) -> Any:
    """A date from the query, None without. Errors: VALIDATION_ERROR."""
    if raw is None:
        return None
    try:
        day = parse_date(raw)
    except ValueError:
        day = None
    if day is None:
        raise invalid(f"/{name}", _("“%(name)s” must be a date such as 2026-06-12.") % {"name": name})
    return day


def number_of(raw: str, name: str) -> int:
    """A row number from the query. Errors: VALIDATION_ERROR."""
    if not (raw.isascii() and raw.isdigit() and len(raw) <= 18):
        raise invalid(f"/{name}", _("“%(name)s” must be a number.") % {"name": name})
    return int(raw)


class LessonView(FieldbookView):
    """Base of the endpoints of one lesson."""

    def lesson(self, code: str) -> Lesson:
        return get_lesson(self.caller.company, code, self.caller.agent_id)

    def decision(self, fields: Mapping[str, Any]) -> Decision:
        return Decision(
            actor=self.caller.actor,
            now=timezone.now(),
            reason=fields.get("reason") or "",
            expected=expected_versions(self.request),
        )

    def answered(self, lesson: Lesson) -> Response:
        answer = answer_for(lesson)
        return Response(answer.body, headers=dict(answer.headers))


class LessonDetailView(LessonView):
    """One lesson. A key with `report` may change drafts that a key reported, staff whatever is not rejected."""

    scopes = {"PATCH": "report"}
    staff_permissions = {
        "GET": "lessons.view_lesson",
        "PATCH": "lessons.change_lesson",
        "DELETE": "lessons.delete_lesson",
    }

    @extend_schema(responses=LessonSerializer)
    def get(self, request: Request, lesson: str) -> Response:
        return self.answered(self.lesson(lesson))

    @extend_schema(request=LessonChangeSerializer, responses=LessonSerializer)
    def patch(self, request: Request, lesson: str) -> Response:
        found = self.lesson(lesson)
        changes = validated(LessonChangeSerializer, fields_of(request))
        if "agent" in changes:
            changes["agent"] = self._agent(changes["agent"])
        changed = change_lesson(
            lesson_id=found.pk,
            changes=changes,
            actor=self.caller.actor,
            now=timezone.now(),
            expected=expected_versions(request),
        )
        return self.answered(changed)

    def _agent(self, pk: int | None) -> Agent | None:
        pk = pk or self.caller.agent_id
        return get_agent(self.caller.company, pk, self.caller.agent_id) if pk else None

    @extend_schema(request=None, responses={204: None})
    def delete(self, request: Request, lesson: str) -> Response:
        """Only a draft or a rejected one."""
        deciding.delete_lesson(lesson_id=self.lesson(lesson).pk, decision=self.decision({}))
        return Response(status=204)


class LessonVerbView(LessonView):
    """POST /lessons/{code}/{verb}: staff only."""

    staff_permissions = {"POST": "lessons.confirm_lesson"}
    body: type = LessonReasonSerializer

    @extend_schema(request=LessonReasonSerializer, responses=LessonSerializer)
    def post(self, request: Request, lesson: str) -> Response:
        found = self.lesson(lesson)
        fields = validated(self.body, fields_of(request))
        return self.answered(self.act(found, fields, self.decision(fields)))

    def act(self, lesson: Lesson, fields: dict[str, Any], decision: Decision) -> Lesson:
        raise NotImplementedError


class ConfirmView(LessonVerbView):
    """Make a complete draft active."""

    def act(self, lesson: Lesson, fields: dict[str, Any], decision: Decision) -> Lesson:
        return deciding.confirm(lesson_id=lesson.pk, decision=decision)


class RejectView(LessonVerbView):
    """Refuse a draft, with a reason."""

    def act(self, lesson: Lesson, fields: dict[str, Any], decision: Decision) -> Lesson:
        return deciding.reject(lesson_id=lesson.pk, decision=decision)


class ArchiveView(LessonVerbView):
    """Take an active lesson out of view."""

    def act(self, lesson: Lesson, fields: dict[str, Any], decision: Decision) -> Lesson:
        return deciding.archive(lesson_id=lesson.pk, decision=decision)


class RestoreView(LessonVerbView):
    """Bring an archived lesson back."""

    def act(self, lesson: Lesson, fields: dict[str, Any], decision: Decision) -> Lesson:
        return deciding.restore(lesson_id=lesson.pk, decision=decision)


class SupersedeView(LessonVerbView):
    """Say which older lesson this one supersedes, or which newer one supersedes this."""

    staff_permissions = {"POST": "lessons.change_lesson"}
    body = SupersedeSerializer

    @extend_schema(request=SupersedeSerializer, responses=LessonSerializer)
    def post(self, request: Request, lesson: str) -> Response:
        return super().post(request, lesson)

    def act(self, lesson: Lesson, fields: dict[str, Any], decision: Decision) -> Lesson:
        if ("supersedes" in fields) == (fields.get("superseded_by") is not None):
            raise invalid(
                "/supersedes", _("Name the older lesson in “supersedes” or the newer in “superseded_by”.")
            )
        if "supersedes" in fields:
            older = fields["supersedes"]
            number = None if older is None else self._number(older, "supersedes")
            return deciding.supersede_lesson(newer_id=lesson.pk, older=number, decision=decision)
        self._number(fields["superseded_by"], "superseded_by")
        newer = self.lesson(fields["superseded_by"])
        deciding.supersede_lesson(
            newer_id=newer.pk, older=lesson.number, decision=decision, expects_older=True
        )
        return lesson

    def _number(self, code: Any, name: str) -> int:
        number = lesson_number(code) if isinstance(code, str) else None
        if not number:
            raise invalid(f"/{name}", _("This must be the code of a lesson, such as EXP-001."))
        return number


class PromoteView(LessonVerbView):
    """Copy the takeaway to a new experience of an agent."""

    staff_permissions = {"POST": "lessons.promote_lesson"}
    body = PromoteSerializer

    @extend_schema(request=PromoteSerializer, responses=LessonSerializer)
    def post(self, request: Request, lesson: str) -> Response:
        return self.idempotently(request, f"lessons/{lesson}/promote", lambda: self._promote(request, lesson))

    def _promote(self, request: Request, lesson: str) -> Answer:
        found = self.lesson(lesson)
        fields = validated(PromoteSerializer, fields_of(request))
        return answer_for(self.act(found, fields, self.decision(fields)))

    def act(self, lesson: Lesson, fields: dict[str, Any], decision: Decision) -> Lesson:
        pk = fields.get("agent") or lesson.agent_id
        if pk is None:
            raise invalid("/agent", _("Choose the agent that gets the experience."))
        agent = get_agent(self.caller.company, pk)
        return promote(lesson_id=lesson.pk, agent=agent, decision=decision)


VERBS = {
    "confirm": ConfirmView,
    "reject": RejectView,
    "supersede": SupersedeView,
    "archive": ArchiveView,
    "restore": RestoreView,
    "promote": PromoteView,
}


class LessonIndexView(FieldbookView):
    """index.json of the library: active, superseded and archived lessons in numeric order."""

    staff_permissions = {"GET": "lessons.view_lesson"}

    @extend_schema(parameters=[STATUS], responses=IndexSerializer)
    def get(self, request: Request) -> Response:
        status = request.query_params.get("status")
        if status is not None and status not in LIBRARY:
            known = ", ".join(LIBRARY)
            raise invalid("/status", _("“status” is one of: %(known)s.") % {"known": known})
        statuses = LIBRARY if status is None else (status,)
        return Response(library_index(self.caller.company, self.caller.agent_id, statuses))


class MarkdownRenderer(BaseRenderer):
    """The file alone."""

    media_type = "text/markdown"
    format = "md"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping | None = None
    ) -> str:
        return str(data["markdown"])


class MarkdownView(LessonView):
    """Base of endpoints that answer a file; as JSON to those who ask for it."""

    renderer_classes = [MarkdownRenderer, RawJSONRenderer]
    staff_permissions = {"GET": "lessons.view_lesson"}

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Errors are problem documents, to those who asked for a file too."""
        renderer = getattr(request, "accepted_renderer", None)
        if isinstance(renderer, MarkdownRenderer) and getattr(response, "status_code", 200) >= 400:
            request.accepted_renderer = RawJSONRenderer()
            request.accepted_media_type = RawJSONRenderer.media_type
        return super().finalize_response(request, response, *args, **kwargs)


class LessonMarkdownView(MarkdownView):
    """EXP-NNN.md."""

    @extend_schema(responses=MARKDOWN_ANSWERS)
    def get(self, request: Request, lesson: str) -> Response:
        found = self.lesson(lesson)
        text = write_lesson(record_of(found))
        return Response({"markdown": text}, headers={"ETag": etag(found.version)})


class LessonTemplateView(MarkdownView):
    """The empty form, to be filled in by hand."""

    @extend_schema(responses=MARKDOWN_ANSWERS)
    def get(self, request: Request) -> Response:
        return Response({"markdown": template()})

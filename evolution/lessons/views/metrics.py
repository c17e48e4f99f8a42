"""GET /lessons/metrics: does the loop close?"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.selectors import get_agent
from common.api.views import FieldbookView
from common.errors import invalid
from evolution.lessons.rules.reading import Reading
from evolution.lessons.selectors.metrics import Span, lesson_metrics
from evolution.lessons.serializers.metrics import MetricsSerializer

#: Years that may be asked about: what lies further away does not survive a change of time zone.
FIRST_YEAR, LAST_YEAR = 1970, 9000


class MetricsView(FieldbookView):
    """Coverage, recurrence, confirmed and helped ratio, counts, and the drafts that wait."""

    staff_permissions = {"GET": "lessons.view_lesson"}

    @extend_schema(
        parameters=[
            OpenApiParameter("agent", int),
            OpenApiParameter("from", str, description="ISO 8601 date or time, inclusive"),
            OpenApiParameter("to", str, description="ISO 8601 date (that day included) or time (exclusive)"),
        ],
        responses=MetricsSerializer,
    )
    def get(self, request: Request) -> Response:
        reading = Reading(request.query_params)
        wanted = reading.whole("agent", 1, 2**63 - 1)
        reading.check()
        agent_id = wanted if wanted is not None else self.caller.agent_id
        if agent_id is not None:
            get_agent(self.caller.company, agent_id, self.caller.agent_id)
        span = Span(
            company=self.caller.company,
            agent_id=agent_id,
            since=_moment(request, "from", days=0),
            until=_moment(request, "to", days=1),
        )
        return Response(MetricsSerializer(lesson_metrics(span, timezone.now())).data)


def _moment(request: Request, name: str, *, days: int) -> datetime | None:
    """A time from the query; a bare date is the local midnight `days` later. Errors: VALIDATION_ERROR."""
    raw = request.query_params.get(name)
    if raw is None:
        return None
    try:
        day, parsed = parse_date(raw), parse_datetime(raw)
    except ValueError:
        day = parsed = None
    found = datetime(day.year, day.month, day.day) if day is not None else parsed
    if found is None or not FIRST_YEAR <= found.year <= LAST_YEAR:
        raise invalid(f"/{name}", _("“%(name)s” must be an ISO 8601 date or time.") % {"name": name})
    found += timedelta(days=days if day is not None else 0)
    return found if timezone.is_aware(found) else timezone.make_aware(found)

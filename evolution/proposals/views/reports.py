"""GET /proposals/health and GET /audit."""

from __future__ import annotations

import csv
from datetime import datetime, timedelta
from io import StringIO

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from common.api.views import FieldbookListView, FieldbookView
from common.csv_cells import escape_cell
from common.errors import invalid
from evolution.proposals.choices import ItemStatus
from evolution.proposals.models import ProposalItem
from evolution.proposals.selectors import AUDITED, Window, audit, audit_entries, health
from evolution.proposals.serializers import AuditEntrySerializer, HealthSerializer
from evolution.proposals.stability import personality_stability
from evolution.proposals.views.proposals import number_of

WINDOW = [
    OpenApiParameter("agent", int),
    OpenApiParameter("from", str, description="ISO 8601 date or time, inclusive"),
    OpenApiParameter("to", str, description="ISO 8601 date (that day included) or time (exclusive)"),
]
AUDIT_STATES = tuple(str(state) for state in AUDITED)
FORMATS = ["json", "csv"]
#: Years that a report may be asked about: what lies further away does not survive a change of time zone.
FIRST_YEAR, LAST_YEAR = 1970, 9000


def moment(request: Request, name: str, *, end: bool) -> datetime | None:
    """A time from the query; a bare date is a local day (its end for `to`). Errors: VALIDATION_ERROR."""
    raw = request.query_params.get(name)
    if raw is None:
        return None
    try:
        day = parse_date(raw)
        parsed = parse_datetime(raw) if day is None else datetime(day.year, day.month, day.day)
    except ValueError:
        day = parsed = None
    if parsed is None:
        raise invalid(f"/{name}", _("“%(name)s” must be an ISO 8601 date or time.") % {"name": name})
    if not FIRST_YEAR <= parsed.year <= LAST_YEAR:
        values = {"name": name, "first": FIRST_YEAR, "last": LAST_YEAR}
        raise invalid(f"/{name}", _("“%(name)s” must lie in the years %(first)d to %(last)d.") % values)
    if day is not None and end:
        parsed += timedelta(days=1)
    return parsed if timezone.is_aware(parsed) else timezone.make_aware(parsed)


class ReportView(FieldbookView):
    """Base of the reports: a company, perhaps an agent, perhaps a span of time."""

    staff_permissions = {"GET": "proposals.view_proposal"}

    def window(self, request: Request) -> Window:
        agent = request.query_params.get("agent")
        chosen = number_of(agent, "agent") if agent is not None else None
        bound = self.caller.agent_id
        return Window(
            company=self.caller.company,
            agent_id=bound if bound is not None else chosen,
            since=moment(request, "from", end=False),
            until=moment(request, "to", end=True),
        )


class HealthView(ReportView):
    """The four health figures, null where there is nothing to divide by."""

    @extend_schema(parameters=WINDOW, responses=HealthSerializer)
    def get(self, request: Request) -> Response:
        window = self.window(request)
        figures = health(window, personality_stability(window.company, window.agent_id))
        return Response(HealthSerializer({"figures": figures}).data)


class AuditView(ReportView, FieldbookListView):
    """What became of each learning point, newest first; `?format=csv` for a table."""

    serializer_class = AuditEntrySerializer

    @extend_schema(
        parameters=[
            *WINDOW,
            OpenApiParameter("status", str, enum=AUDIT_STATES),
            OpenApiParameter("format", str, enum=FORMATS),
        ],
        responses={(200, "application/json"): AuditEntrySerializer(many=True), (200, "text/csv"): str},
    )
    def get(self, request: Request) -> Response | HttpResponse:
        status = request.query_params.get("status")
        if status is not None and status not in AUDIT_STATES:
            raise invalid(
                "/status", _("The status is one of: %(known)s.") % {"known": ", ".join(AUDIT_STATES)}
            )
        shape = request.query_params.get("format", "json")
        if shape not in FORMATS:
            raise invalid("/format", _("Choose json or csv."))
        items = audit(self.window(request), ItemStatus(status) if status else None)
        if shape == "csv":
            return audit_csv(items)
        entries = list(audit_entries(self.paginate_queryset(items)))
        return self.get_paginated_response(AuditEntrySerializer(entries, many=True).data)


def audit_csv(items: QuerySet[ProposalItem]) -> HttpResponse:
    """The audit view as CSV with inert cells, for a spreadsheet (UTF-8 with BOM)."""
    out = StringIO()
    writer = csv.writer(out)
    columns = ("agent", "code", "type", "content", "status", "confirmed_by")
    writer.writerow([str(title) for title in AUDIT_TITLES])
    for entry in audit_entries(items.iterator(chunk_size=2000)):
        # The local time, as the page shows it and as a spreadsheet reads it.
        at = timezone.localtime(entry.at).strftime("%Y-%m-%d %H:%M:%S")
        writer.writerow([at, *(escape_cell(str(getattr(entry, name))) for name in columns)])
    response = HttpResponse(out.getvalue().encode("utf-8-sig"), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="audit.csv"'
    return response


AUDIT_TITLES = (
    _("When"),
    _("Agent"),
    _("Proposal"),
    _("Type"),
    _("Summary"),
    _("Status"),
    _("Confirmed by"),
)

"""Experience rows as files: export of an agent's rows, and an import that is taken whole or not at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.widgets import UnfoldAdminRadioSelectWidget, UnfoldAdminSelectWidget

from agents.admin.uploads import FilesField, Upload, unpacked
from agents.choices import Source
from agents.importers.experiences import (
    COLUMNS,
    ExperienceReading,
    experiences_to_csv,
    experiences_to_markdown,
    read_experiences_csv,
    read_experiences_markdown,
)
from agents.models import Agent
from agents.services.agents import update_agent
from agents.services.editing import Edit
from common.admin import FieldbookAdmin, actor_of, show_error, visible
from common.companies.models import Company
from common.csv_cells import escape_cell
from common.errors import ApplicationError
from common.file_reading import decode_text
from experiences.models import Experience
from experiences.rules import RowInput
from experiences.selectors import rows_of

APPEND, REPLACE = "append", "replace"
#: Spreadsheets take a CSV without this mark for Latin text; the reader takes it off again.
BYTE_ORDER_MARK = "\ufeff"


class RowImportForm(forms.Form):
    """Whose rows, from which file, and what happens to those that are there."""

    agent = forms.ModelChoiceField(Agent.objects.none(), label=_("agent"), widget=UnfoldAdminSelectWidget)
    file = FilesField(
        accept=".csv,.md,.markdown",
        multiple=False,
        label=_("file"),
        help_text=_(
            "CSV with the columns content, enabled, sort_order, or a Markdown list (- text, - [ ] off)."
        ),
    )
    mode = forms.ChoiceField(
        label=_("what happens"),
        choices=[(APPEND, _("Add the rows at the end")), (REPLACE, _("Replace all rows of the agent"))],
        initial=APPEND,
        widget=UnfoldAdminRadioSelectWidget,
    )

    def __init__(self, *args: Any, agents: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["agent"].queryset = agents
        self.fields["agent"].label_from_instance = lambda agent: f"{agent.company.name} · {agent.name}"


class RowFiles(FieldbookAdmin):
    """Export and import pages of the list of experiences."""

    def get_urls(self) -> list[URLPattern]:
        def page(route: str, view: Callable[..., HttpResponse], name: str) -> URLPattern:
            return path(route, self.admin_site.admin_view(view), name=f"experiences_experience_{name}")

        return [
            page("import/", self.import_view, "import"),
            page("export/<int:agent_id>.<str:kind>", self.export_view, "export"),
            *super().get_urls(),
        ]

    def may_import(self, request: HttpRequest) -> bool:
        """An import adds, changes and deletes rows."""
        verbs = ("add", "change", "delete")
        return all(request.user.has_perm(f"experiences.{verb}_experience") for verb in verbs)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        url = reverse("admin:experiences_experience_import") if self.may_import(request) else ""
        return super().changelist_view(request, {**(extra_context or {}), "import_url": url})

    def export_view(self, request: HttpRequest, agent_id: int, kind: str) -> HttpResponse:
        """All rows of an agent, in order, as `csv` or `md`."""
        agent = Agent.objects.live().seen_by(request.user).filter(pk=agent_id).first()
        if agent is None or kind not in ("csv", "md"):
            raise Http404
        if not self.has_view_permission(request):
            raise PermissionDenied
        rows = rows_of(agent.pk)
        if kind == "csv":
            return download(BYTE_ORDER_MARK + experiences_to_csv(rows), f"{agent.name}.csv", "text/csv")
        return download(experiences_to_markdown(rows), f"{agent.name}.md", "text/markdown")

    def import_view(self, request: HttpRequest) -> HttpResponse:
        """GET: the form. POST with a file: what would happen. POST of that page: the import."""
        if not self.may_import(request):
            raise PermissionDenied
        companies = Company.objects.written_by(request.user)
        agents = Agent.objects.live().filter(company__in=companies).select_related("company")
        agents = agents.order_by("company__slug", "name", "id")
        try:
            if request.method == "POST" and request.POST.get("confirmed") == "yes":
                return self._import(request, agents)
            return self._import_form(request, agents)
        except ApplicationError as error:
            show_error(request, error)
            return HttpResponseRedirect(request.get_full_path())

    def _import_form(self, request: HttpRequest, agents: Any) -> HttpResponse:
        is_sent = request.method == "POST"
        sent = (request.POST, request.FILES) if is_sent else ()
        form = RowImportForm(*sent, initial={"agent": request.GET.get("agent")}, agents=agents)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Import experiences"),
            "opts": self.opts,
            "form": form,
        }
        if is_sent and form.is_valid():
            values = form.cleaned_data
            upload, agent = values["file"][0], values["agent"]
            reading = read_rows(upload)
            context |= {
                "reading": reading,
                "rows": [(row.line, visible(row.content), row.enabled) for row in reading.rows],
                "upload": upload,
                "agent": agent,
                "mode": values["mode"],
                "stored": agent.experiences.count(),
            }
        return TemplateResponse(request, "agents/row_import.html", context)

    def _import(self, request: HttpRequest, agents: Any) -> HttpResponse:
        sent = request.POST
        agent_id, version = sent.get("agent", ""), sent.get("base_version", "")
        if not all(
            number.isascii() and number.isdigit() and len(number) < 19 for number in (agent_id, version)
        ):
            raise Http404
        agent = agents.filter(pk=agent_id).first()
        if agent is None:
            raise Http404
        upload = unpacked(sent.getlist("name"), sent.getlist("data"))[0]
        reading = read_rows(upload)
        if reading.faults:
            raise ApplicationError("VALIDATION_ERROR", _("The file has faults; nothing was imported."))
        if not reading.rows:
            raise ApplicationError("VALIDATION_ERROR", _("The file has no rows; nothing was imported."))
        rows = [RowInput(content=row.content, enabled=row.enabled) for row in reading.rows]
        if sent.get("mode") != REPLACE:
            rows = [RowInput(id=row.pk, content=row.content) for row in rows_of(agent.pk)] + rows
        edit = Edit(
            actor=actor_of(request),
            now=timezone.now(),
            source=Source.IMPORT,
            message=str(_("Import of %(source)s") % {"source": upload.name}),
            # The rows were shown against this version; after somebody else's change the person looks again.
            expected=(int(version),),
        )
        update_agent(agent_id=agent.pk, fields={}, rows=rows, edit=edit)
        count = len(reading.rows)
        text = ngettext("%(count)d experience was imported.", "%(count)d experiences were imported.", count)
        messages.success(request, text % {"count": count})
        return HttpResponseRedirect(reverse("admin:agents_agent_change", args=[agent.pk]) + "#experiences")


def read_rows(upload: Upload) -> ExperienceReading:
    """The rows of an uploaded file. Errors: VALIDATION_ERROR for a file that is no UTF-8 text."""
    try:
        text = decode_text(upload.data)
    except ApplicationError as error:
        raise ApplicationError("VALIDATION_ERROR", error.extra.get("reason", error.message)) from error
    is_list = upload.name.casefold().endswith((".md", ".markdown"))
    return read_experiences_markdown(text) if is_list else read_experiences_csv(text)


def csv_response(rows: Sequence[Experience], name: str) -> HttpResponse:
    """Chosen rows as a table; with a column for the agent when they belong to several."""
    if len({row.agent_id for row in rows}) < 2:
        return download(BYTE_ORDER_MARK + experiences_to_csv(rows), f"{name}.csv", "text/csv")
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["agent", *COLUMNS])
    for row in rows:
        enabled = "true" if row.enabled else "false"
        writer.writerow([escape_cell(row.agent.name), escape_cell(row.content), enabled, row.order])
    return download(BYTE_ORDER_MARK + out.getvalue(), f"{name}.csv", "text/csv")


def download(text: str, name: str, content_type: str) -> HttpResponse:
    """A text file to download."""
    response = HttpResponse(text, content_type=f"{content_type}; charset=utf-8")
    safe = name.replace("/", "-").replace("\\", "-")
    response["Content-Disposition"] = content_disposition_header(True, safe)
    return response

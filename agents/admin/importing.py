"""Import agents from files: choose, see what would happen, then do it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from agents.admin.uploads import FilesField, Upload, read_uploads, unpacked
from agents.choices import Source
from agents.importers.reader import SUFFIXES
from agents.services.editing import Edit
from agents.services.importing import ImportReport, import_agents
from common.admin import FieldbookAdmin, actor_of, chosen_company, show_error
from common.companies.models import Company
from common.errors import ApplicationError


class ImportForm(forms.Form):
    """Into which company, and which files."""

    company = forms.ModelChoiceField(
        Company.objects.none(), label=_("company"), to_field_name="slug", widget=UnfoldAdminSelectWidget
    )
    files = FilesField(
        accept=",".join(SUFFIXES),
        label=_("files"),
        help_text=_(
            "Markdown with front matter, CSV (act, prompt), JSON, YAML (role, goal, backstory), or Fieldbook's own "
            "export. Nothing is stored before you have seen the result."
        ),
    )

    def __init__(self, *args: Any, companies: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["company"].queryset = companies


class AgentImport(FieldbookAdmin):
    """The page "Import agents"."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.import_view)
        return [path("import/", view, name="agents_agent_import"), *super().get_urls()]

    def may_import(self, request: HttpRequest) -> bool:
        return request.user.has_perm("agents.import_agent")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        url = reverse("admin:agents_agent_import") if self.may_import(request) else ""
        return super().changelist_view(request, {**(extra_context or {}), "import_url": url})

    def import_view(self, request: HttpRequest) -> HttpResponse:
        """GET: the form. POST with files: what would happen (a trial run). POST of that page: the import."""
        if not self.may_import(request):
            raise PermissionDenied
        companies = Company.objects.written_by(request.user).order_by("slug")
        try:
            if request.method == "POST" and request.POST.get("confirmed") == "yes":
                return self._import(request, companies)
            return self._import_form(request, companies)
        except ApplicationError as error:
            show_error(request, error)
            return HttpResponseRedirect(request.path)

    def _import_form(self, request: HttpRequest, companies: Any) -> HttpResponse:
        initial = {"company": likely_company(request, companies)}
        is_sent = request.method == "POST"
        form = ImportForm(
            *((request.POST, request.FILES) if is_sent else ()), initial=initial, companies=companies
        )
        context: dict[str, Any] = {**self._context(request), "form": form}
        if is_sent and form.is_valid():
            company, uploads = form.cleaned_data["company"], form.cleaned_data["files"]
            context |= {"report": self._run(request, company, uploads, dry_run=True), "company": company}
            context["uploads"] = uploads
        return TemplateResponse(request, "agents/import.html", context)

    def _import(self, request: HttpRequest, companies: Any) -> HttpResponse:
        company = companies.filter(slug=request.POST.get("company", "")).first()
        if company is None:
            raise PermissionDenied
        uploads = unpacked(request.POST.getlist("name"), request.POST.getlist("data"))
        report = self._run(request, company, uploads, dry_run=False)
        counts = {"imported": report.imported, "skipped": report.skipped, "failed": report.failed}
        message = _("%(imported)d agents imported, %(skipped)d skipped, %(failed)d failed.") % counts
        (messages.success if report.imported else messages.warning)(request, message)
        context = {**self._context(request), "report": report, "company": company, "is_done": True}
        return TemplateResponse(request, "agents/import.html", context)

    def _context(self, request: HttpRequest) -> dict[str, Any]:
        return {**self.admin_site.each_context(request), "title": _("Import agents"), "opts": self.opts}

    def _run(
        self, request: HttpRequest, company: Company, uploads: list[Upload], *, dry_run: bool
    ) -> ImportReport:
        edit = Edit(actor=actor_of(request), now=timezone.now(), source=Source.IMPORT)
        return import_agents(items=read_uploads(uploads), company=company, edit=edit, dry_run=dry_run)


def likely_company(request: HttpRequest, companies: QuerySet[Company]) -> Company | None:
    """Where something new goes unless the person says otherwise: the chosen company, or the only possible one."""
    found = list(companies.filter(slug=chosen_company(request))[:1] or companies[:2])
    return found[0] if len(found) == 1 else None

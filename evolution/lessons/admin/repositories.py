"""Repositories: which histories are read, what came of the last reading, and reading one now."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from agents.admin.fields import LinesField, without_detours
from common.admin import CompanyFilter, actor_of, add_form_errors, show_error, visible
from common.careful_admin import CarefulAdmin, CarefulForm
from common.companies.models import Company
from common.errors import ApplicationError
from common.marks import lines
from common.receipts.models import Receipt
from common.text import show_hidden
from evolution.lessons.admin.capture_words import report_lines
from evolution.lessons.models import Repository
from evolution.lessons.services.capture_report import CaptureReport
from evolution.lessons.services.repositories import (
    FIELDS,
    add_repository,
    change_repository,
    checked_repository,
)
from evolution.lessons.services.scanning import Asked, scan_repository

#: Commits that a page reads at once; the hourly job reads more.
MOST = 300
#: Drafts that a preview names.
MOST_NAMED = 50


class RepositoryForm(CarefulForm):
    """A repository; the same checks as in the service, beside the fields."""

    churn_ignore = LinesField(
        label=_("often changed: ignored"),
        help_text=_("Patterns of paths, one a line, beside those that are always ignored."),
    )

    class Meta:
        model = Repository
        fields = ("company", *FIELDS)

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        company = self.instance.company if self.instance.pk else values.get("company")
        if company is None:
            return values
        existing = self.instance if self.instance.pk else None
        given = {name: values[name] for name in FIELDS if name in values}
        try:
            values |= checked_repository(company, given, existing)
        except ApplicationError as error:
            add_form_errors(self, error)
        return values

    def _post_clean(self) -> None:
        """The model keeps its stored values: the service compares them with the new ones."""

    def last_change(self) -> tuple[str, datetime] | None:
        receipt = Receipt.objects.about(f"repositories/{self.instance.pk}/").first()
        return (receipt.actor_name, receipt.at) if receipt else None


@admin.register(Repository)
class RepositoryAdmin(CarefulAdmin):
    """Nothing is read before a row stands here."""

    form = RepositoryForm
    list_display = ("name_shown", "company", "agent", "enabled", "last_scan_at", "outcome")
    list_display_links = ("name_shown",)
    list_filter = (CompanyFilter, ("enabled", admin.BooleanFieldListFilter))
    list_select_related = ("company", "agent")
    search_fields = ("name", "path")
    search_help_text = _("Name or path")
    ordering = ("name", "id")
    readonly_fields = ("report_shown", "last_scan_at", "cursor_shown")
    change_form_template = "lessons/repository_change_form.html"

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        churn = ("churn_threshold", "churn_window_days", "churn_strict", "churn_ignore")
        what = ("company", "name", "path", "agent", "enabled", "min_severity", "seen")
        sets: list[Any] = [(None, {"fields": what}), (_("Often changed files"), {"fields": churn})]
        return [*sets, (_("Last reading"), {"fields": self.readonly_fields})] if obj else sets

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (*self.readonly_fields, "company") if obj else self.readonly_fields

    def get_urls(self) -> list[URLPattern]:
        read = path(
            "<path:object_id>/read/",
            self.admin_site.admin_view(self.read_view),
            name="lessons_repository_read",
        )
        return [read, *super().get_urls()]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """It is switched off instead: what was captured would be captured again."""
        return False

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        if db_field.name == "company":
            options["queryset"] = Company.objects.written_by(request.user).order_by("slug")
        return super().formfield_for_foreignkey(db_field, request, **options)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        return without_detours(super().formfield_for_dbfield(db_field, request, **options))

    def save_model(self, request: HttpRequest, obj: Repository, form: Any, change: bool) -> None:
        who = {"actor": actor_of(request), "now": timezone.now()}
        fields = {name: form.cleaned_data[name] for name in FIELDS if name in form.cleaned_data}
        if change:
            stored = change_repository(repository_id=obj.pk, fields=fields, **who)
        else:
            stored = add_repository(company=form.cleaned_data["company"], fields=fields, **who)
        obj.pk, obj.name = stored.pk, stored.name

    def receipts_of(self, obj: Repository) -> str:
        return f"repositories/{obj.pk}/"

    def read_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Opened: what reading it now would give, from a trial run. Sent: read it."""
        repository = self.visible_object(request, object_id)
        if not self.has_change_permission(request, repository):
            raise PermissionDenied
        back = reverse("admin:lessons_repository_change", args=[repository.pk])
        is_sent = request.method == "POST" and request.POST.get("confirmed") == "yes"
        preview = CaptureReport()
        if not is_sent:
            try:
                preview = self._scan(request, repository, dry_run=True)
            except ApplicationError as error:
                show_error(request, error)
                return HttpResponseRedirect(back)
        return self.confirmed(
            request,
            title=_("Read %(name)s now?") % {"name": show_hidden(repository.name)},
            lines=[
                _(
                    "This is what a trial run found; drafts are made when you confirm. A person decides about each."
                ),
                *report_lines(preview.as_json(timezone.now())),
            ],
            names=[show_hidden(made.lesson.title) for made in preview.made[:MOST_NAMED]],
            button=_("Read now"),
            obj=repository,
            perform=lambda: self._read(request, repository),
            back=back,
        )

    def _read(self, request: HttpRequest, repository: Repository) -> str:
        report = self._scan(request, repository, dry_run=False)
        return " ".join(report_lines(report.as_json(timezone.now())))

    def _scan(self, request: HttpRequest, repository: Repository, *, dry_run: bool) -> CaptureReport:
        asked = Asked(actor_of(request), timezone.now(), most=MOST, dry_run=dry_run)
        return scan_repository(repository_id=repository.pk, asked=asked)

    @display(description=_("name"), ordering="name")
    def name_shown(self, repository: Repository) -> SafeString:
        return visible(repository.name)

    @display(description=_("last report"))
    def outcome(self, repository: Repository) -> SafeString | str:
        told = next(report_lines(repository.last_report), "")
        return visible(told) if told else "–"

    @display(description=_("last report"))
    def report_shown(self, repository: Repository) -> SafeString | str:
        return lines(report_lines(repository.last_report))

    @display(description=_("read up to"))
    def cursor_shown(self, repository: Repository) -> SafeString | str:
        return format_html("<code>{}</code>", repository.cursor_sha) if repository.cursor_sha else "–"

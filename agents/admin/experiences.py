"""All experience rows in one list; its writes lock and version the agents, so its page stands here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import action
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.decorators import display

from agents.admin.filters import AgentFilter, without_agent_texts
from agents.admin.held import Held, HeldAdmin, VersionedForm, stale
from agents.admin.row_files import RowFiles, csv_response
from agents.choices import Source
from agents.models import Agent
from agents.services.editing import Edit
from agents.services.rows import add_row, change_row, delete_row, delete_rows, switch_rows
from common.admin import CompanyFilter, actor_of, visible
from common.companies.models import Company
from common.errors import ApplicationError
from experiences.admin import RowText
from experiences.models import Experience


class ExperienceForm(VersionedForm):
    """One row. Its version is the agent's, because a row is a part of it."""

    content = RowText(label=_("Content"))

    class Meta:
        model = Experience
        fields = ("agent", "content", "enabled")

    def opened_version(self) -> int:
        return self.instance.agent.version


@admin.register(Experience)
class ExperienceAdmin(HeldAdmin, RowFiles):
    """Rows of the agents that the person may see. A row never changes its agent."""

    form = ExperienceForm
    company_lookup = "agent__company"
    list_shows_shared = True
    list_display = ("content_shown", "agent_link", "place", "enabled", "updated_at")
    list_display_links = ("content_shown",)
    list_filter = (CompanyFilter, AgentFilter, ("enabled", admin.BooleanFieldListFilter))
    search_fields = ("content",)
    ordering = ("agent_id", "order", "id")
    autocomplete_fields = ("agent",)
    actions = ("enable_chosen", "disable_chosen", "delete_selected", "export_chosen")
    change_form_template = "agents/held_change_form.html"
    change_list_template = "agents/experience_change_list.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        """A deleted agent has no rows, so only rows of live ones are found."""
        return without_agent_texts(super().get_queryset(request).select_related("agent__company"))

    def get_fieldsets(self, request: HttpRequest, obj: Experience | None = None) -> list:
        fields = ("agent", "content", "enabled") if obj is None else ("agent", "content", "enabled", "place")
        return [(None, {"fields": fields})]

    def get_readonly_fields(self, request: HttpRequest, obj: Experience | None = None) -> tuple[str, ...]:
        return () if obj is None else ("agent", "place")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        """New rows only for agents that the person may change."""
        if db_field.name == "agent":
            options["queryset"] = writable_agents(request)
        return super().formfield_for_foreignkey(db_field, request, **options)

    def get_actions(self, request: HttpRequest) -> dict:
        """The name that Django gives this action, with our own deed behind it: gaps close, the agent is versioned."""
        actions = super().get_actions(request)
        if self.has_delete_permission(request):
            label = str(_("Delete"))
            actions["delete_selected"] = (type(self).delete_selected, "delete_selected", label)
        return actions

    def save_related(self, request: HttpRequest, form: ExperienceForm, formsets: Any, change: bool) -> None:
        edit = self._edit(request, expected=form.expected)
        values = form.cleaned_data
        if not change:
            row = add_row(
                agent_id=values["agent"].pk, content=values["content"], enabled=values["enabled"], edit=edit
            )
        else:
            changes = {name: values[name] for name in form.changed_data if name in ("content", "enabled")}
            row = form.instance
            row = change_row(agent_id=row.agent_id, row_id=row.pk, changes=changes, edit=edit)
        form.instance.pk, form.instance.content = row.pk, row.content

    def held_by(self, request: HttpRequest, error: ApplicationError, object_id: str | None) -> Held:
        agents = Agent.objects.filter(experiences=object_id)
        return Held(error=error, meanwhile=stale(error, request.POST.get("base_version", ""), agents.first))

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = self.visible_object(request, object_id)
        if not self.has_delete_permission(request, row):
            raise PermissionDenied
        return self.confirmed(
            request,
            title=_("Delete this experience of %(agent)s?") % {"agent": row.agent.name},
            names=[row.content],
            lines=[DELETE_EXPLAINED],
            button=_("Delete"),
            obj=row,
            perform=lambda: self._row_deleted(request, row),
            back=reverse("admin:experiences_experience_change", args=[row.pk]),
            dangerous=True,
        )

    @action(description=_("Enable"), permissions=["change"])
    def enable_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._switch_chosen(request, queryset, enabled=True)

    @action(description=_("Disable"), permissions=["change"])
    def disable_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._switch_chosen(request, queryset, enabled=False)

    @action(description=_("Delete"), permissions=["delete"])
    def delete_selected(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self.confirmed_action(
            request,
            queryset,
            title=_("Delete these experiences?"),
            lines=[DELETE_EXPLAINED],
            button=_("Delete"),
            perform=lambda ids: self._deleted(request, ids),
            dangerous=True,
        )

    @action(description=_("Export as CSV"), permissions=["view"])
    def export_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse:
        return csv_response(list(queryset.order_by("agent__name", "agent_id", "order", "id")), "experiences")

    def _edit(self, request: HttpRequest, **options: Any) -> Edit:
        return Edit(actor=actor_of(request), now=timezone.now(), source=Source.ADMIN, **options)

    def _switch_chosen(
        self, request: HttpRequest, queryset: QuerySet, *, enabled: bool
    ) -> HttpResponse | None:
        return self.confirmed_action(
            request,
            queryset,
            title=_("Enable these experiences?") if enabled else _("Disable these experiences?"),
            lines=[_("Only enabled experiences stand in the prompt.")],
            button=_("Enable") if enabled else _("Disable"),
            perform=lambda ids: self._switched(request, ids, enabled),
        )

    def _switched(self, request: HttpRequest, ids: Sequence[int], enabled: bool) -> str:
        count = switch_rows(row_ids=ids, enabled=enabled, edit=self._edit(request))
        if enabled:
            text = ngettext("%(count)d experience was enabled.", "%(count)d experiences were enabled.", count)
        else:
            text = ngettext(
                "%(count)d experience was disabled.", "%(count)d experiences were disabled.", count
            )
        return text % {"count": count}

    def _deleted(self, request: HttpRequest, ids: Sequence[int]) -> str:
        count = delete_rows(row_ids=ids, edit=self._edit(request))
        text = ngettext("%(count)d experience was deleted.", "%(count)d experiences were deleted.", count)
        return text % {"count": count}

    def _row_deleted(self, request: HttpRequest, row: Experience) -> HttpResponse:
        delete_row(agent_id=row.agent_id, row_id=row.pk, edit=self._edit(request))
        messages.success(request, _("The experience was deleted."))
        return HttpResponseRedirect(reverse("admin:experiences_experience_changelist"))

    @display(description=_("content"), ordering="content")
    def content_shown(self, row: Experience) -> SafeString:
        return format_html('<span class="fieldbook-text">{}</span>', visible(row.content))

    @display(description=_("agent"), ordering="agent__name")
    def agent_link(self, row: Experience) -> SafeString:
        url = reverse("admin:agents_agent_change", args=[row.agent_id])
        return format_html('<a href="{}#experiences">{}</a>', url, visible(row.agent.name))

    @display(description=_("place"), ordering="order")
    def place(self, row: Experience) -> int:
        """Counted from 1, as people do."""
        return row.order + 1


DELETE_EXPLAINED = _("Deleted experiences are gone for good; the history of their agent can bring them back.")


def writable_agents(request: HttpRequest) -> QuerySet[Agent]:
    """Live agents of companies that the person may change."""
    companies = Company.objects.written_by(request.user)
    return Agent.objects.live().filter(company__in=companies).select_related("company").order_by("name", "id")

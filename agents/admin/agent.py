"""The agents: their list, and one page with tabs for all that an agent is."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from agents.admin.filters import TagFilter
from agents.admin.forms import AgentForm
from agents.admin.history import AgentHistory
from agents.admin.importing import AgentImport, likely_company
from agents.admin.links import address
from agents.admin.saving import PREVIEW, AgentSaving
from agents.admin.tabs import AgentTab, ShownTab, page_inlines, page_tabs
from agents.admin.verbs import AgentVerbs
from agents.models import Agent
from common.admin import CompanyFilter, visible
from common.companies.models import Company
from experiences.models import Experience


@admin.register(Agent)
class AgentAdmin(AgentSaving, AgentVerbs, AgentHistory, AgentImport):
    """Agents of the person's companies, and the shared ones of `_global` (read-only unless a member there)."""

    form = AgentForm
    list_shows_shared = True
    list_display = (
        "name_and_tags",
        "company",
        "enabled",
        "experience_counts",
        "is_default",
        "updated_at",
        "preview_link",
    )
    list_display_links = ("name_and_tags",)
    list_filter = (CompanyFilter, ("enabled", admin.BooleanFieldListFilter), TagFilter)
    list_select_related = ("company",)
    search_fields = ("name", "description")
    ordering = ("name", "id")
    actions = ("copy_chosen", "enable_chosen", "disable_chosen", "export_chosen")
    change_form_template = "agents/agent_change_form.html"
    change_list_template = "agents/agent_change_list.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        queryset = super().get_queryset(request).live()
        if self._is_list(request):
            return with_counts(queryset).defer("system_prompt", "description")
        return queryset.select_related("company", "owner")

    def get_inlines(self, request: HttpRequest, obj: Agent | None) -> list[type]:
        return page_inlines()

    def get_fieldsets(self, request: HttpRequest, obj: Agent | None = None) -> list:
        may_type = obj is None or self.has_change_permission(request, obj)
        role, *lists = (
            ("system_prompt", "tags", "skill_names") if may_type else ("role_text", "tag_list", "skill_list")
        )
        fields = (
            ("name", "company"),
            role,
            "description",
            ("enabled", "is_default"),
            ("language", "owner"),
            tuple(lists),
            ("inject_session_recaps", "introspection_enabled"),
        )
        return [(None, {"fields": fields})]

    def get_readonly_fields(self, request: HttpRequest, obj: Agent | None = None) -> tuple[str, ...]:
        if obj is None:
            return ()
        may_switch = request.user.has_perm("agents.switch_agent")
        return ("company",) if may_switch else ("company", "enabled")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        """A new agent goes into a company that the person may change; its owner is staff of such a company."""
        if db_field.name == "company":
            options["queryset"] = Company.objects.written_by(request.user).order_by("slug")
            options["initial"] = likely_company(request, options["queryset"])
        if db_field.name == "owner":
            options["queryset"] = possible_owners(request.user, self._page_company(request))
        return super().formfield_for_foreignkey(db_field, request, **options)

    def _page_company(self, request: HttpRequest) -> Company | None:
        object_id = request.resolver_match.kwargs.get("object_id", "") if request.resolver_match else ""
        return Company.objects.filter(agents=object_id).first() if str(object_id).isdigit() else None

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Any = None, **options: Any
    ) -> HttpResponse:
        tabs = self._shown_tabs(request, context, obj)
        context |= {
            "page_tabs": tabs,
            "role_errors": len(context["adminform"].form.errors),
            "opens_at": next((tab.slug for tab in tabs if tab.errors), ""),
            "preview_button": PREVIEW,
            "buttons": self.page_buttons(request, obj) if obj else [],
        }
        return super().render_change_form(request, context, *args, obj=obj, **options)

    def _shown_tabs(
        self, request: HttpRequest, context: dict[str, Any], agent: Agent | None
    ) -> list[ShownTab]:
        """Form sets and read-only lists, in the order of the settings."""
        inlines = {type(formset.opts): formset for formset in context["inline_admin_formsets"]}
        shown: list[ShownTab] = []
        for tab in page_tabs():
            if tab in inlines:
                shown.append(ShownTab.of_inline(inlines[tab]))
            elif agent is not None and issubclass(tab, AgentTab):
                page = tab(request, agent)
                shown += [ShownTab.of_list(page)] if page.is_allowed else []
        return shown

    def page_buttons(self, request: HttpRequest, agent: Agent) -> list[dict[str, Any]]:
        """What can be done with the agent as a whole; only what this person may do."""
        here = f"admin:{self.opts.app_label}_{self.opts.model_name}"
        user, may_write = request.user, self.may_write(request, agent)
        switch = (_("Disable"), "toggle_off") if agent.enabled else (_("Enable"), "toggle_on")
        offers = [
            (_("Preview prompt"), "visibility", self._preview_url(agent), True),
            (_("History"), "history", address(f"{here}_history", agent.pk), self.may_see_history(request)),
            (
                _("Copy"),
                "content_copy",
                address(f"{here}_copy", agent.pk),
                user.has_perm("agents.copy_agent"),
            ),
            (
                *switch,
                address(f"{here}_switch", agent.pk),
                may_write and user.has_perm("agents.switch_agent"),
            ),
            (_("Export"), "download", address(f"{here}_export", agent.pk), True),
        ]
        return [
            {"title": title, "icon": icon, "link": link}
            for title, icon, link, shown in offers
            if shown and link
        ]

    def _preview_url(self, agent: Agent) -> str:
        return address(settings.PROMPT_PREVIEW_URL, agent.pk)

    @display(description=_("Role definition"))
    def role_text(self, agent: Agent) -> SafeString:
        return format_html('<div class="fieldbook-text">{}</div>', visible(agent.system_prompt))

    @display(description=_("Tags"))
    def tag_list(self, agent: Agent) -> SafeString:
        return shown_tags(agent.tags)

    @display(description=_("Skills"))
    def skill_list(self, agent: Agent) -> SafeString:
        return shown_tags(agent.skill_names)

    @display(description=_("name"), ordering="name")
    def name_and_tags(self, agent: Agent) -> SafeString:
        return format_html("{} {}", visible(agent.name), shown_tags(agent.tags))

    @display(description=_("Experiences (enabled/total)"), ordering="experience_count")
    def experience_counts(self, agent: Agent) -> str:
        return f"{agent.enabled_experience_count}/{agent.experience_count}"

    @display(description="")
    def preview_link(self, agent: Agent) -> SafeString | str:
        url = self._preview_url(agent)
        return format_html('<a href="{}">{}</a>', url, _("Preview prompt")) if url else ""


def shown_tags(tags: list[str]) -> SafeString:
    return format_html_join(" ", '<span class="fieldbook-tag">{}</span>', ((visible(tag),) for tag in tags))


def with_counts(queryset: QuerySet) -> QuerySet:
    """Counts of rows as subqueries: they are computed for the rows of a page, not for every agent."""
    rows = Experience.objects.filter(agent=OuterRef("pk")).order_by().values("agent")
    counts = {
        "experience_count": Count("pk"),
        "enabled_experience_count": Count("pk", filter=Q(enabled=True)),
    }
    return queryset.annotate(
        **{
            name: Coalesce(Subquery(rows.annotate(number=count).values("number")), 0)
            for name, count in counts.items()
        }
    )


def possible_owners(user: Any, company: Company | None) -> QuerySet:
    """Staff who can own an agent: members of its company, and for a superuser everybody active.

    Other people's names are not shown to those who share no company with them.
    """
    people = get_user_model().objects.filter(is_active=True, is_staff=True).order_by("username")
    if user.is_superuser:
        return people
    if company is not None:
        return people.filter(Q(companies=company) | Q(owned_agents__company=company)).distinct()
    return people.filter(companies__in=user.companies.all()).distinct()

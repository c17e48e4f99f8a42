"""What staff do with whole agents: copy, enable, disable, export, delete; each by POST behind a confirmation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.contrib import messages
from django.contrib.admin import action
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from agents.choices import Source
from agents.models import Agent
from agents.services.agents import copy_agents, delete_agent, switch_agents
from agents.services.editing import Edit
from agents.services.exporting import export_agent, export_collection
from common.admin import FieldbookAdmin, actor_of, chosen_company
from common.companies.models import Company
from common.errors import ApplicationError

COPY_EXPLAINED = _(
    "A copy has the same role definition, experiences (disabled ones too), tags, skills and documents; it is not "
    "the default, and nothing learned, no keys and no users' documents go along."
)
ENABLE_EXPLAINED = _("Runtimes get prompts again.")
DISABLE_EXPLAINED = _("Runtimes that ask for a prompt get the answer 410 until the agent is enabled again.")
DELETE_EXPLAINED = _(
    "The agent serves no prompt any more and its name becomes free. Receipts, lessons and memory keep its name. "
    "This cannot be undone."
)
#: Agents in one exported file; each is read whole.
MAX_EXPORTED = 200


class AgentVerbs(FieldbookAdmin):
    """Pages and bulk actions; `has_copy_permission` and its kin are what Django asks for an action."""

    def get_urls(self) -> list[URLPattern]:
        def page(route: str, view: Callable[..., HttpResponse], name: str) -> URLPattern:
            full_name = f"{self.opts.app_label}_{self.opts.model_name}_{name}"
            return path(f"<path:object_id>/{route}/", self.admin_site.admin_view(view), name=full_name)

        return [
            page("copy", self.copy_view, "copy"),
            page("switch", self.switch_view, "switch"),
            page("export", self.export_view, "export"),
            *super().get_urls(),
        ]

    def has_copy_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("agents.copy_agent")

    def has_switch_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("agents.switch_agent")

    @action(description=_("Copy"), permissions=["copy"])
    def copy_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self.confirmed_action(
            request,
            queryset,
            changes=False,
            title=_("Copy these agents?"),
            button=_("Copy"),
            lines=[COPY_EXPLAINED],
            perform=lambda ids: self._copied(request, ids),
            context=self._copy_context(request, list(queryset[:2])),
            template="agents/copy.html",
        )

    @action(description=_("Enable"), permissions=["switch"])
    def enable_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._switch_chosen(request, queryset, enabled=True)

    @action(description=_("Disable"), permissions=["switch"])
    def disable_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._switch_chosen(request, queryset, enabled=False)

    @action(description=_("Export as JSON"), permissions=["view"])
    def export_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        agents = list(queryset[: MAX_EXPORTED + 1])
        if len(agents) > MAX_EXPORTED:
            message = _("At most %(limit)d agents in one file; choose fewer.") % {"limit": MAX_EXPORTED}
            messages.error(request, message)
            return None
        return exported(export_collection(agents), "agents")

    def copy_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        agent = self.visible_object(request, object_id)
        if not self.has_copy_permission(request):
            raise PermissionDenied
        return self.confirmed(
            request,
            title=_("Copy %(name)s?") % {"name": agent.name},
            button=_("Copy"),
            lines=[COPY_EXPLAINED],
            perform=lambda: self._copied(request, [agent.pk]),
            back=self._page(agent),
            context=self._copy_context(request, [agent]),
            template="agents/copy.html",
        )

    def switch_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """To the state named by the form, so that a second click on an old page does not turn it back."""
        agent = self.visible_object(request, object_id)
        if not self.has_switch_permission(request):
            raise PermissionDenied
        asked = request.POST.get("enabled")
        enabled = asked == "yes" if asked in ("yes", "no") else not agent.enabled
        title = _("Enable %(name)s?") if enabled else _("Disable %(name)s?")
        return self.confirmed(
            request,
            title=title % {"name": agent.name},
            button=_("Enable") if enabled else _("Disable"),
            lines=[ENABLE_EXPLAINED if enabled else DISABLE_EXPLAINED],
            obj=agent,
            perform=lambda: self._switched(request, [agent.pk], enabled),
            back=self._page(agent),
            hidden=[("enabled", "yes" if enabled else "no")],
        )

    def export_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        agent = self.visible_object(request, object_id)
        return exported(export_agent(agent), agent.name)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        agent = self.visible_object(request, object_id)
        if not self.has_delete_permission(request, agent):
            raise PermissionDenied
        count = agent.experiences.count()
        rows = ngettext(
            "Its one experience is deleted for good.",
            "Its %(count)d experiences are deleted for good.",
            count,
        )
        return self.confirmed(
            request,
            title=_("Delete %(name)s?") % {"name": agent.name},
            button=_("Delete"),
            lines=[rows % {"count": count}, DELETE_EXPLAINED],
            obj=agent,
            perform=lambda: self._deleted(request, agent),
            back=self._page(agent),
            dangerous=True,
        )

    def _page(self, agent: Agent) -> str:
        return reverse("admin:agents_agent_change", args=[agent.pk])

    def _edit(self, request: HttpRequest) -> Edit:
        return Edit(actor=actor_of(request), now=timezone.now(), source=Source.ADMIN)

    def _switch_chosen(
        self, request: HttpRequest, queryset: QuerySet, *, enabled: bool
    ) -> HttpResponse | None:
        return self.confirmed_action(
            request,
            queryset,
            title=_("Enable these agents?") if enabled else _("Disable these agents?"),
            button=_("Enable") if enabled else _("Disable"),
            lines=[ENABLE_EXPLAINED if enabled else DISABLE_EXPLAINED],
            perform=lambda ids: self._switched(request, ids, enabled),
        )

    def _switched(self, request: HttpRequest, ids: Iterable[int], enabled: bool) -> str:
        count = switch_agents(agent_ids=list(ids), enabled=enabled, edit=self._edit(request))
        if enabled:
            return ngettext("%(count)d agent was enabled.", "%(count)d agents were enabled.", count) % {
                "count": count
            }
        return ngettext("%(count)d agent was disabled.", "%(count)d agents were disabled.", count) % {
            "count": count
        }

    def _deleted(self, request: HttpRequest, agent: Agent) -> HttpResponse:
        delete_agent(agent_id=agent.pk, edit=self._edit(request))
        messages.success(request, _("%(name)s was deleted.") % {"name": agent.name})
        return HttpResponseRedirect(reverse("admin:agents_agent_changelist"))

    def _copy_context(self, request: HttpRequest, agents: Sequence[Agent]) -> dict[str, Any]:
        """Where the copies can go: the companies that the person may change."""
        companies = list(Company.objects.written_by(request.user).order_by("slug"))
        if not companies:
            raise PermissionDenied
        likely = [chosen_company(request), *(agent.company.slug for agent in agents)]
        slugs = {company.slug for company in companies}
        first = next((slug for slug in likely if slug in slugs), companies[0].slug)
        return {"companies": companies, "chosen": first}

    def _copied(self, request: HttpRequest, ids: Iterable[int]) -> HttpResponse | str:
        """One copy of each agent, all or none; after a single one its page opens."""
        companies = Company.objects.written_by(request.user)
        company = companies.filter(slug=request.POST.get("company", "")).first()
        if company is None:
            raise ApplicationError("COMPANY_FORBIDDEN", _("Choose a company in which you may create agents."))
        sources = Agent.objects.live().filter(pk__in=list(ids)).order_by("name", "pk")
        copies = copy_agents(sources=list(sources), company=company, edit=self._edit(request))
        if len(copies) == 1:
            messages.success(request, _("“%(name)s” was made.") % {"name": copies[0].name})
            return HttpResponseRedirect(self._page(copies[0]))
        return ngettext("%(count)d copy was made.", "%(count)d copies were made.", len(copies)) % {
            "count": len(copies)
        }


def exported(content: Any, name: str) -> HttpResponse:
    """A JSON file to download, raw Unicode."""
    response = HttpResponse(
        json.dumps(content, ensure_ascii=False, indent=2) + "\n",
        content_type="application/json; charset=utf-8",
    )
    safe = name.replace("/", "-").replace("\\", "-")
    response["Content-Disposition"] = content_disposition_header(True, f"{safe}.json")
    return response

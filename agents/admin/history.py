"""The versions of an agent: who changed what and why, the difference of any two, and one click back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agents.admin.comparison import compare
from agents.admin.links import address
from agents.choices import Source
from agents.models import Agent, AgentVersion
from agents.selectors import get_version, snapshot
from agents.services.editing import Edit
from agents.services.versions import restore_version
from common.admin import FieldbookAdmin, actor_of, visible
from common.errors import ApplicationError

PER_PAGE = 50


class AgentHistory(FieldbookAdmin):
    """History, comparison and restore pages."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("<path:object_id>/history/compare/", view(self.compare_view), name="agents_agent_compare"),
            path(
                "<path:object_id>/history/<int:number>/restore/",
                view(self.restore_view),
                name="agents_agent_restore",
            ),
            *super().get_urls(),
        ]

    def may_see_history(self, request: HttpRequest) -> bool:
        return request.user.has_perm("agents.view_agentversion")

    def _versioned(self, request: HttpRequest, object_id: str) -> Agent:
        agent = self.visible_object(request, object_id)
        if not self.may_see_history(request):
            raise PermissionDenied
        return agent

    def _page_context(self, request: HttpRequest, agent: Agent, title: Any) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.opts,
            "original": agent,
            "versions_of_agent": True,
            "may_restore": request.user.has_perm("agents.restore_agent") and self.may_write(request, agent),
            "history_url": reverse("admin:agents_agent_history", args=[agent.pk]),
            "compare_url": reverse("admin:agents_agent_compare", args=[agent.pk]),
            "receipts_url": address("admin:receipts_receipt_changelist", agent__id__exact=agent.pk),
        }

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        agent = self._versioned(request, object_id)
        # The snapshots are whole agents; a list of fifty needs none of them.
        versions = AgentVersion.objects.filter(agent=agent).defer("snapshot").order_by("-number")
        context = {
            **self._page_context(request, agent, _("History of %(name)s") % {"name": agent.name}),
            **history_page(
                request,
                versions,
                lambda number: reverse("admin:agents_agent_restore", args=[agent.pk, number]),
            ),
        }
        return TemplateResponse(request, "agents/history.html", context)

    def compare_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        agent = self._versioned(request, object_id)
        try:
            old, new = (get_version(agent, number) for number in chosen_numbers(request))
        except ApplicationError as error:
            raise Http404 from error
        title = _("%(name)s: version %(old)d and version %(new)d")
        context = {
            **self._page_context(
                request, agent, title % {"name": agent.name, "old": old.number, "new": new.number}
            ),
            "old": old,
            "new": new,
            "comparison": compare(old.snapshot, new.snapshot),
        }
        return TemplateResponse(request, "agents/compare.html", context)

    def restore_view(self, request: HttpRequest, object_id: str, number: int) -> HttpResponse:
        """A stale page restores nothing: the version it was opened at goes along."""
        agent = self._versioned(request, object_id)
        if not request.user.has_perm("agents.restore_agent"):
            raise PermissionDenied
        try:
            version = get_version(agent, number)
        except ApplicationError as error:
            raise Http404 from error
        return self.confirmed(
            request,
            title=_("Restore version %(number)d of %(name)s?") % {"number": number, "name": agent.name},
            button=_("Restore"),
            lines=[
                _(
                    "Role definition, settings and experiences become those of that version, as a new version. "
                    "Documents, the default flag and the owner stay as they are."
                )
            ],
            obj=agent,
            perform=lambda: self._restored(request, agent, number),
            back=reverse("admin:agents_agent_history", args=[agent.pk]),
            hidden=[("base_version", str(agent.version))],
            template="agents/restore.html",
            context={"comparison": compare(snapshot(agent), version.snapshot)},
        )

    def _restored(self, request: HttpRequest, agent: Agent, number: int) -> str:
        read = request.POST.get("base_version", "")
        edit = Edit(
            actor=actor_of(request),
            now=timezone.now(),
            source=Source.ADMIN,
            expected=(int(read) if read.isascii() and read.isdigit() else -1,),
        )
        restored = restore_version(agent_id=agent.pk, number=number, edit=edit)
        return _("Version %(number)d is back, as version %(new)d.") % {
            "number": number,
            "new": restored.version,
        }


@dataclass(frozen=True)
class ShownVersion:
    """A line of a history, of an agent or a document."""

    number: int
    created_at: datetime
    author: str
    source: str
    message: SafeString
    restore_url: str
    text_url: str

    @property
    def previous(self) -> int:
        return self.number - 1


def history_page(
    request: HttpRequest,
    versions: QuerySet,
    restore_url: Callable[[int], str],
    text_url: Callable[[int], str] = lambda number: "",
) -> dict[str, Any]:
    """One page of versions, newest first; the newest needs no restoring."""
    page = Paginator(versions, PER_PAGE).get_page(request.GET.get("p"))
    is_first = page.number == 1
    shown = [
        ShownVersion(
            number=version.number,
            created_at=version.created_at,
            author=version.author,
            source=version.get_source_display(),
            message=visible(getattr(version, "message", "") or getattr(version, "note", "")),
            restore_url="" if is_first and index == 0 else restore_url(version.number),
            text_url=text_url(version.number),
        )
        for index, version in enumerate(page.object_list)
    ]
    return {"page": page, "versions": shown}


def chosen_numbers(request: HttpRequest) -> list[int]:
    """The two versions that a comparison is asked for, the older first; 404 for anything but two numbers."""
    numbers = [request.GET.get(name, "") for name in ("from", "to")]
    if not all(number.isascii() and number.isdigit() and len(number) < 10 for number in numbers):
        raise Http404
    return sorted(int(number) for number in numbers)

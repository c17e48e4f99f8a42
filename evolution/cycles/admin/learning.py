"""The learning queue for staff: what waits, what was given up and why, and another try."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import action, display

from common.admin import CompanyFilter, ReadOnlyAdmin, actor_of, visible
from common.receipts.admin import AgentFilter
from common.text import show_hidden
from evolution.knowledge.choices import LearningStatus
from evolution.knowledge.models import LearningItem
from evolution.knowledge.services.queue import replay

_COLOURS = {
    LearningStatus.PENDING: "info",
    LearningStatus.PROCESSING: "warning",
    LearningStatus.DONE: "success",
    LearningStatus.DEAD: "danger",
}


@admin.register(LearningItem)
class LearningItemAdmin(ReadOnlyAdmin):
    """Reports in the order of their turn. Nobody edits one: it is what a runtime said."""

    list_display = (
        "code",
        "status_shown",
        "priority",
        "source_type",
        "source_shown",
        "company",
        "agent",
        "attempts",
        "result",
        "created_at",
    )
    list_display_links = ("code",)
    list_filter = (
        ("status", ChoicesDropdownFilter),
        ("priority", ChoicesDropdownFilter),
        ("source_type", ChoicesDropdownFilter),
        CompanyFilter,
        AgentFilter,
    )
    list_select_related = ("company", "agent")
    search_fields = ("source_id", "result")
    search_help_text = _("Id at the source, or what came of it")
    ordering = ("priority", "id")
    actions = ("replay_chosen",)
    fields = (
        "code",
        "status",
        "priority",
        "source_type",
        "source_shown",
        "company",
        "agent",
        "metadata_shown",
        "result",
        "note_shown",
        "attempts",
        "error_shown",
        "created_by_shown",
        "created_at",
        "leased_until",
        "processed_at",
    )
    readonly_fields = fields

    def receipts_of(self, obj: LearningItem) -> str:
        return obj.code

    def has_replay_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("knowledge.change_learningitem")

    @action(description=_("Start again"), permissions=["replay"])
    def replay_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self.confirmed_action(
            request,
            queryset,
            title=_("Work on these reports again?"),
            lines=[
                _(
                    "Only those that failed start again, with no attempts on record; what was learnt already stays "
                    "as it is."
                )
            ],
            button=_("Start again"),
            perform=lambda pks: self._replayed(request, pks),
        )

    def _replayed(self, request: HttpRequest, pks: list[int]) -> Any:
        done = replay(item_ids=pks, actor=actor_of(request), now=timezone.now())
        return ngettext("%(done)d report starts again.", "%(done)d reports start again.", done) % {
            "done": done
        }

    @display(description=_("code"), ordering="number")
    def code(self, item: LearningItem) -> str:
        return item.code

    @display(description=_("status"), label=_COLOURS)
    def status_shown(self, item: LearningItem) -> tuple[str, str]:
        return item.status, item.get_status_display()

    @display(description=_("id at the source"))
    def source_shown(self, item: LearningItem) -> SafeString:
        return visible(item.source_id)

    @display(description=_("report"))
    def metadata_shown(self, item: LearningItem) -> SafeString:
        text = json.dumps(item.metadata, ensure_ascii=False, indent=2)
        return format_html('<pre class="whitespace-pre-wrap">{}</pre>', show_hidden(text))

    @display(description=_("why nothing came of it"))
    def note_shown(self, item: LearningItem) -> SafeString | str:
        return visible(item.note) if item.note else "–"

    @display(description=_("error"))
    def error_shown(self, item: LearningItem) -> SafeString | str:
        return visible(item.error) if item.error else "–"

    @display(description=_("reported by"))
    def created_by_shown(self, item: LearningItem) -> SafeString:
        return visible(item.created_by)

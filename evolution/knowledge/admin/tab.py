"""The knowledge of one agent, as a tab of its page: in order, with switches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from agents.admin.links import address
from agents.admin.tabs import SHOWN, AgentTab
from common.admin import chosen_company, visible
from common.companies.models import Company
from evolution.knowledge.admin.words import item_link, number, shown_status
from evolution.knowledge.choices import Status
from evolution.knowledge.models import Knowledge
from evolution.knowledge.selectors.listing import LONG


class KnowledgeTab(AgentTab):
    """Those of this agent alone, in their order; those of all agents are in the list."""

    slug = "knowledge"
    title = _("Knowledge")
    permission = "knowledge.view_knowledge"
    empty = _("No knowledge belongs to this agent alone; that of the company is given to all its agents.")
    template = "knowledge/agent_tab.html"

    def queryset(self) -> QuerySet[Knowledge]:
        items = Knowledge.objects.seen_by(self.request.user).filter(agent=self.agent)
        chosen = chosen_company(self.request)
        if chosen:
            items = items.filter(company__slug=chosen)
        return items.exclude(status=Status.ARCHIVED).defer(*LONG).order_by("company", "order", "id")

    @property
    def items(self) -> list[dict[str, Any]]:
        """What the template shows of each."""
        written = set(Company.objects.written_by(self.request.user).values_list("pk", flat=True))
        may = self.request.user.has_perm("knowledge.change_knowledge")
        return [self._shown(item, may and item.company_id in written) for item in self._found[:SHOWN]]

    def _shown(self, item: Knowledge, may_change: bool) -> dict[str, Any]:
        verb = "disable" if item.enabled else "enable"
        return {
            "item": item,
            "link": item_link(item.pk, item.code),
            "page": reverse("admin:knowledge_knowledge_change", args=[item.pk]),
            "title": visible(item.title),
            "category": item.get_category_display(),
            "status": shown_status(item),
            "confidence": number(item.confidence),
            "may_change": may_change,
            "ask_url": reverse(f"admin:knowledge_knowledge_{verb}", args=[item.pk]),
            "switch_url": reverse("admin:knowledge_knowledge_switch", args=[item.pk]),
            "move_url": reverse("admin:knowledge_knowledge_move", args=[item.pk]),
        }

    def cells(self, row: Knowledge) -> Sequence[Any]:
        return (row.code, visible(row.title))

    def all_url(self) -> str:
        return address("admin:knowledge_knowledge_changelist", agent__id__exact=self.agent.pk)

    def buttons(self) -> Iterator[tuple[Any, str]]:
        if self.request.user.has_perm("knowledge.add_knowledge"):
            yield _("Write knowledge"), address("admin:knowledge_knowledge_add", agent=self.agent.pk)

"""Read-only tabs of the agent page: the first rows of a list and a link to all of them.

Which tabs the page has is said in `config.agent_tabs`, so rooms above this one add theirs without being known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.admin.options import InlineModelAdmin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.module_loading import import_string
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from agents.admin.links import address
from agents.choices import KIND_LABELS
from agents.models import Agent, Document
from common.admin import chosen_company, visible
from common.receipts.choices import LINE_TYPES
from common.receipts.models import ReceiptLine

#: Rows that a tab shows; the rest is one click away.
SHOWN = 100


def page_tabs() -> list[type]:
    """The classes of the page's tabs behind the role definition, in order: inlines and `AgentTab`s."""
    return [import_string(name) for name in settings.AGENT_TABS]


def page_inlines() -> list[type[InlineModelAdmin]]:
    """Those tabs that are saved together with the agent."""
    return [tab for tab in page_tabs() if issubclass(tab, InlineModelAdmin)]


class AgentTab:
    """A list about one agent. A subclass names slug, title, permission and columns, and says which rows."""

    slug = ""
    title: Any = ""
    permission = ""
    headings: Sequence[Any] = ()
    empty: Any = _("Nothing here yet.")
    template = "agents/agent_tab.html"

    def __init__(self, request: HttpRequest, agent: Agent) -> None:
        self.request = request
        self.agent = agent

    @property
    def is_allowed(self) -> bool:
        return self.request.user.has_perm(self.permission)

    def queryset(self) -> QuerySet:
        """The rows that this person may see, in order."""
        raise NotImplementedError

    def cells(self, row: Any) -> Sequence[Any]:
        """One row as texts or safe HTML, one for each heading."""
        raise NotImplementedError

    def all_url(self) -> str:
        """The full list; empty where there is none."""
        return ""

    def buttons(self) -> Iterator[tuple[Any, str]]:
        """(title, address) of what can be done here."""
        yield from ()

    @cached_property
    def _found(self) -> list[Any]:
        return list(self.queryset()[: SHOWN + 1])

    @property
    def has_more(self) -> bool:
        return len(self._found) > SHOWN

    @property
    def count(self) -> str:
        return f"{SHOWN}+" if self.has_more else str(len(self._found))

    @property
    def rows(self) -> list[Sequence[Any]]:
        return [self.cells(row) for row in self._found[:SHOWN]]


@dataclass(frozen=True)
class ShownTab:
    """A tab as the page's template needs it; `content` is what the tab's own template shows."""

    slug: str
    title: Any
    badge: str
    errors: int
    template: str
    content: Any

    @classmethod
    def of_inline(cls, inline: Any) -> ShownTab:
        """Of an inline form set; its inline class may name a `tab_title`."""
        errors = [errors for errors in inline.formset.errors if errors]
        return cls(
            slug=inline.formset.prefix,
            title=getattr(inline.opts, "tab_title", inline.opts.verbose_name_plural),
            badge=str(len(inline.formset.forms)),
            errors=len(errors) + len(inline.formset.non_form_errors()),
            template=inline.opts.template,
            content=inline,
        )

    @classmethod
    def of_list(cls, tab: AgentTab) -> ShownTab:
        return cls(tab.slug, tab.title, tab.count, 0, tab.template, tab)


class DocumentTab(AgentTab):
    """The files of the body, and the `users/**` files of the companies the person may see."""

    slug = "documents"
    title = _("Documents")
    permission = "agents.view_document"
    headings = (_("path"), _("kind"), _("company"), _("version"), _("updated"))

    def queryset(self) -> QuerySet:
        documents = self.agent.documents.live().seen_by(self.request.user).select_related("company")
        chosen = chosen_company(self.request)
        if chosen:
            documents = documents.filter(Q(is_body=True) | Q(company__slug=chosen))
        return documents.order_by("path", "id")

    def cells(self, row: Document) -> Sequence[Any]:
        return (
            _link(reverse("admin:agents_document_change", args=[row.pk]), row.path),
            KIND_LABELS.get(row.kind, row.kind),
            "" if row.is_body else row.company.slug,
            f"v{row.current_version}",
            _when(row.updated_at),
        )

    def all_url(self) -> str:
        return address("admin:agents_document_changelist", agent=self.agent.pk)

    def buttons(self) -> Iterator[tuple[Any, str]]:
        if self.request.user.has_perm("agents.add_document"):
            yield _("Add document"), address("admin:agents_document_add", agent=self.agent.pk)


class ReceiptTab(AgentTab):
    """What was changed, by whom and when; newest first."""

    slug = "receipts"
    title = _("Receipts")
    permission = "receipts.view_receiptline"
    headings = (_("receipt"), _("when"), _("who"), _("what"), _("target"), _("status"))

    def queryset(self) -> QuerySet:
        lines = ReceiptLine.objects.seen_by(self.request.user).filter(agent=self.agent)
        chosen = chosen_company(self.request)
        if chosen:
            lines = lines.filter(receipt__company_slug__in=[chosen, self.agent.company.slug])
        return lines.select_related("receipt").order_by("-receipt_id", "order", "id")

    def cells(self, row: ReceiptLine) -> Sequence[Any]:
        receipt = row.receipt
        return (
            _link(address("admin:receipts_receipt_change", receipt.pk), f"#{receipt.number}"),
            _when(receipt.at),
            receipt.actor_name,
            LINE_TYPES.get(row.type, row.type),
            visible(row.target),
            row.get_status_display(),
        )

    def all_url(self) -> str:
        return address("admin:receipts_receiptline_changelist", agent__id__exact=self.agent.pk)


def _link(url: str, text: str) -> Any:
    return format_html('<a href="{}">{}</a>', url, visible(text)) if url else visible(text)


def _when(moment: Any) -> str:
    return date_format(localtime(moment), "SHORT_DATETIME_FORMAT")

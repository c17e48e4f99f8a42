"""What the start page of the admin says: how much there is, what happened lately, what one can do."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from common.admin import chosen_company
from common.companies.models import ApiKey
from common.receipts.choices import TRIGGERS
from common.receipts.models import Receipt
from config.waiting_tile import waiting_tile
from experiences.models import Experience

#: Rows of each list on the page.
RECENT = 8
#: (title, icon, address, permission): what a person comes to do. Pages that are not installed are left out.
DEEDS = (
    (_("Import agents"), "upload", "admin:agents_agent_import", "agents.import_agent"),
    (_("Add an agent"), "add", "admin:agents_agent_add", "agents.add_agent"),
    (_("Issue an API key"), "key", "admin:companies_apikey_add", "companies.add_apikey"),
)


def start_page(request: HttpRequest) -> dict[str, Any]:
    """Context of the page, in a fixed number of queries; only what the person may see."""
    user = request.user
    agents = _of_company(request, Agent.objects.live().seen_by(user))
    page: dict[str, Any] = {"deeds": _deeds(user), "cards": [], "tile": waiting_tile(request)}
    if user.has_perm("agents.view_agent"):
        page["cards"].append(_agent_card(agents))
        page["start_agents"] = _recent_agents(agents)
    if user.has_perm("experiences.view_experience"):
        page["cards"].append(_experience_card(request))
    if user.has_perm("companies.view_apikey"):
        page["cards"].append(_key_card(request))
    if user.has_perm("lessons.view_lesson"):
        page["lesson_figures"] = _address("admin:lessons_recalllog_metrics")
    if user.has_perm("receipts.view_receipt"):
        page["start_receipts"] = _recent_receipts(request)
    return page


def _of_company(request: HttpRequest, queryset: QuerySet, lookup: str = "company") -> QuerySet:
    chosen = chosen_company(request)
    return queryset.filter(**{f"{lookup}__slug": chosen}) if chosen else queryset


def _deeds(user: Any) -> list[dict[str, Any]]:
    deeds = []
    for title, icon, name, permission in DEEDS:
        try:
            url = reverse(name)
        except NoReverseMatch:
            continue
        if user.has_perm(permission):
            deeds.append({"title": title, "icon": icon, "url": url})
    return deeds


def _agent_card(agents: QuerySet) -> dict[str, Any]:
    counts = agents.aggregate(total=Count("pk"), on=Count("pk", filter=Q(enabled=True)))
    hint = _("%(on)d enabled, %(off)d disabled")
    return _switch_card(_("Agents"), "smart_toy", "admin:agents_agent_changelist", counts, hint)


def _experience_card(request: HttpRequest) -> dict[str, Any]:
    # Rows of deleted agents do not exist, so there is no need to look at the agents.
    rows = _of_company(request, Experience.objects.seen_by(request.user), "agent__company")
    counts = rows.aggregate(total=Count("pk"), on=Count("pk", filter=Q(enabled=True)))
    return _switch_card(
        _("Best-practice experiences"),
        "lightbulb",
        "admin:experiences_experience_changelist",
        counts,
        _("%(on)d on, %(off)d off"),
    )


def _switch_card(title: Any, icon: str, name: str, counts: dict[str, int], hint: Any) -> dict[str, Any]:
    told = hint % {"on": counts["on"], "off": counts["total"] - counts["on"]}
    return {"title": title, "icon": icon, "url": _address(name), "value": counts["total"], "hint": told}


def _key_card(request: HttpRequest) -> dict[str, Any]:
    keys = _of_company(request, ApiKey.objects.seen_by(request.user))
    live = keys.live(timezone.now()).count()
    return {
        "title": _("API keys"),
        "icon": "key",
        "url": _address("admin:companies_apikey_changelist") + "?state=live",
        "value": live,
        "hint": _("live"),
    }


def _recent_agents(agents: QuerySet) -> list[dict[str, Any]]:
    newest = list(agents.order_by("-updated_at", "-id").values_list("pk", flat=True)[:RECENT])
    # Counted for these few only: counting first and sorting then would count for every agent there is.
    rows = Agent.objects.filter(pk__in=newest).with_counts().select_related("company")
    rows = rows.order_by("-updated_at", "-id")
    return [
        {
            "agent": agent,
            "url": _address("admin:agents_agent_change", agent.pk),
            "preview": _address("agent-prompt-preview", agent.pk),
        }
        for agent in rows
    ]


def _recent_receipts(request: HttpRequest) -> list[dict[str, Any]]:
    receipts = _of_company(request, Receipt.objects.seen_by(request.user)).select_related("company")
    return [
        {
            "receipt": receipt,
            "what": TRIGGERS.get(receipt.trigger, receipt.trigger),
            "company": receipt.company.name,
            "url": _address("admin:receipts_receipt_change", receipt.pk),
        }
        for receipt in receipts.order_by("-at", "-id")[:RECENT]
    ]


def _address(name: str, *args: Any) -> str:
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""

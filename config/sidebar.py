"""The admin's sidebar. Each entry shows only to those who may view what it opens."""

from collections.abc import Callable

from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _


def _may(permission: str) -> Callable:
    return lambda request: request.user.has_perm(permission)


def _entry(title, icon: str, model: str, permission: str, page: str = "changelist") -> dict:
    return {
        "title": title,
        "icon": icon,
        "link": reverse_lazy(f"admin:{model}_{page}"),
        "permission": _may(permission),
    }


def _page(title, icon: str, model: str, permission: str, page: str) -> dict:
    """One of several pages below one address: only the page itself is marked as the current one."""
    entry = _entry(title, icon, model, permission, page)
    return {**entry, "active": lambda request: request.path == str(entry["link"])}


def _recalls(title, icon: str, page: str) -> dict:
    return _page(title, icon, "lessons_recalllog", "lessons.view_lesson", page)


def _lessons(title, icon: str, page: str) -> dict:
    return _page(title, icon, "lessons_lesson", "lessons.view_lesson", page)


def _proposals(title, icon: str, page: str) -> dict:
    return _page(title, icon, "proposals_proposal", "proposals.view_proposal", page)


SIDEBAR = {
    "show_search": True,
    "show_all_applications": False,
    "navigation": [
        {
            "title": _("What waits for people"),
            "items": [
                _proposals(_("Review queue"), "rule", "queue"),
                _proposals(_("Proposals"), "inbox", "changelist"),
                _lessons(_("Drafts desk"), "edit_note", "desk"),
                _proposals(_("Audit"), "fact_check", "audit"),
                _proposals(_("Health"), "monitor_heart", "health"),
            ],
        },
        {
            "title": _("What agents know"),
            "items": [
                _entry(_("Agents"), "smart_toy", "agents_agent", "agents.view_agent"),
                _entry(
                    _("Experiences"), "lightbulb", "experiences_experience", "experiences.view_experience"
                ),
                _entry(_("Documents"), "description", "agents_document", "agents.view_document"),
                _lessons(_("Lessons"), "school", "changelist"),
                _entry(_("Knowledge"), "psychology", "knowledge_knowledge", "knowledge.view_knowledge"),
                _entry(_("Patterns"), "pattern", "patterns_pattern", "patterns.view_pattern"),
                _recalls(_("Try recall"), "travel_explore", "try"),
                _recalls(_("Lessons in figures"), "monitoring", "metrics"),
            ],
        },
        {
            "title": _("What happened"),
            "items": [
                _entry(_("Receipts"), "receipt_long", "receipts_receipt", "receipts.view_receipt"),
                {
                    **_recalls(_("Recalls"), "manage_search", "changelist"),
                    "permission": _may("lessons.view_recalllog"),
                },
                _entry(_("Injections"), "outbox", "knowledge_injection", "knowledge.view_injection"),
                _entry(_("Outcomes"), "sentiment_satisfied", "knowledge_outcome", "knowledge.view_outcome"),
                _entry(
                    _("Changes of confidence"),
                    "timeline",
                    "knowledge_confidenceevent",
                    "knowledge.view_confidenceevent",
                ),
                _entry(
                    _("Learning queue"),
                    "low_priority",
                    "knowledge_learningitem",
                    "knowledge.view_learningitem",
                ),
                _entry(
                    _("Changes of parameters"),
                    "update",
                    "parameters_parameterchange",
                    "parameters.view_parameterchange",
                ),
                _entry(
                    _("Checks of changes"),
                    "checklist",
                    "lessons_changecheck",
                    "lessons.view_changecheck",
                ),
                _entry(
                    _("Protection checks"),
                    "policy",
                    "agents_protectedaccess",
                    "agents.view_protectedaccess",
                ),
                _entry(
                    _("Git mirror"),
                    "commit",
                    "proposals_gitmirrorcommit",
                    "proposals.view_gitmirrorcommit",
                ),
            ],
        },
        {
            "title": _("Administration"),
            "items": [
                _entry(_("Companies"), "apartment", "companies_company", "companies.view_company"),
                _entry(_("API keys"), "key", "companies_apikey", "companies.view_apikey"),
                _entry(_("Quarantines"), "gpp_bad", "cycles_quarantine", "cycles.view_quarantine"),
                _entry(_("Protected paths"), "shield", "agents_protectedpath", "agents.view_protectedpath"),
                _entry(_("Repositories"), "source", "lessons_repository", "lessons.view_repository"),
                _entry(_("Parameters"), "tune", "parameters_parameter", "parameters.view_parameter"),
                _entry(_("Phrases"), "record_voice_over", "memory_phrase", "memory.view_phrase"),
                _entry(_("People"), "group", "accounts_user", "accounts.view_user"),
                _entry(_("Roles"), "badge", "auth_group", "auth.view_group"),
                {"title": _("API description"), "icon": "api", "link": reverse_lazy("docs")},
            ],
        },
    ],
}

"""What people decide about knowledge: one item from its page, or several from the list. Each by POST, asked before.

Activating shows exactly the text that is confirmed, and sends its digest along. Every item is decided on its own;
what is refused is told, and the others go on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action

from common.admin import FieldbookAdmin, actor_of, visible
from common.errors import ApplicationError, invalid
from common.marks import lines
from common.text import is_blank, show_hidden
from evolution.knowledge.admin.words import item_link, shown_status
from evolution.knowledge.choices import Status
from evolution.knowledge.models import Knowledge
from evolution.knowledge.rules.values import TEXT_FIELDS
from evolution.knowledge.selectors.shown import shown_sha256
from evolution.knowledge.services import deciding
from evolution.knowledge.services.deciding import FROM, Decision
from evolution.knowledge.services.editing import change_knowledge

CONFIRM, CHANGE = "knowledge.confirm_knowledge", "knowledge.change_knowledge"
#: Items in one bulk decision: as many as a person can still read on one page.
MAX_CHOSEN = 50


def _decide(service: Callable[..., Knowledge]) -> Callable[[int, Decision], Any]:
    return lambda pk, decision: service(knowledge_id=pk, decision=decision)


def _switch(enabled: bool) -> Callable[[int, Decision], Any]:
    def perform(pk: int, decision: Decision) -> Any:
        return change_knowledge(
            knowledge_id=pk,
            changes={"enabled": enabled},
            actor=decision.actor,
            now=decision.now,
            expected=decision.expected,
        )

    return perform


@dataclass(frozen=True)
class Verb:
    """What can be done with an item, by whom, what it means, and what is said afterwards.

    `enabled`: only for items whose switch stands so.
    """

    slug: str
    title: Any
    question: Any
    done: Any
    icon: str
    permission: str
    states: tuple[str, ...]
    lines: tuple[Any, ...]
    perform: Callable[[int, Decision], Any]
    enabled: bool | None = None
    asks_why: bool = False
    dangerous: bool = False

    @property
    def shows_text(self) -> bool:
        return self.slug == "activate"


_LIVE = (Status.DRAFT, Status.ACTIVE, Status.DEPRECATED)
VERBS = {
    verb.slug: verb
    for verb in (
        Verb(
            "activate",
            _("Activate"),
            _("Activate these items?"),
            _("activated"),
            "check_circle",
            CONFIRM,
            FROM["activate"],
            (
                _("Read it: agents may be given this from now on. You confirm exactly the text shown below."),
                _("A confidence below the threshold is raised to it, since you stand for the item."),
            ),
            _decide(deciding.activate),
        ),
        Verb(
            "verify",
            _("Say that it is right"),
            _("Say that these items are right?"),
            _("verified"),
            "thumb_up",
            CHANGE,
            FROM["verify"],
            (_("Its confidence rises by 0.1, and it counts as used today. It does not activate a draft."),),
            _decide(deciding.verify),
        ),
        Verb(
            "deprecate",
            _("Deprecate"),
            _("Deprecate these items?"),
            _("deprecated"),
            "trending_down",
            CONFIRM,
            FROM["deprecate"],
            (
                _("A deprecated item is given to no agent. Only a person brings it back."),
                _("After seven days it may be archived."),
            ),
            _decide(deciding.deprecate),
            asks_why=True,
            dangerous=True,
        ),
        Verb(
            "restore",
            _("Restore"),
            _("Restore these items?"),
            _("restored"),
            "unarchive",
            CONFIRM,
            FROM["restore"],
            (
                _(
                    "It is active again if its text was confirmed before, else a draft. A confidence below the "
                    "threshold is raised to it."
                ),
            ),
            _decide(deciding.restore),
        ),
        Verb(
            "archive",
            _("Archive"),
            _("Archive these items?"),
            _("archived"),
            "archive",
            CONFIRM,
            FROM["archive"],
            (_("An archived item stays readable and is given to no agent; it can be restored."),),
            _decide(deciding.archive),
        ),
        Verb(
            "enable",
            _("Enable"),
            _("Enable these items?"),
            _("enabled"),
            "toggle_on",
            CHANGE,
            _LIVE,
            (_("An enabled item is given to agents as soon as it is active."),),
            _switch(True),
            enabled=False,
        ),
        Verb(
            "disable",
            _("Disable"),
            _("Disable these items?"),
            _("disabled"),
            "toggle_off",
            CHANGE,
            _LIVE,
            (_("A disabled item keeps its state and its confidence, and is given to no agent."),),
            _switch(False),
            enabled=True,
        ),
    )
}


class KnowledgeVerbs(FieldbookAdmin):
    """The pages that ask before, and the bulk actions of the list."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.verb_view)
        own = [
            path(f"<int:pk>/{slug}/", view, {"slug": slug}, name=f"knowledge_knowledge_{slug}")
            for slug in VERBS
        ]
        return [*own, *super().get_urls()]

    def has_confirm_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(CONFIRM)

    def has_switch_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(CHANGE)

    @action(description=_("Read and activate the chosen drafts …"), permissions=["confirm"])
    def activate_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._chosen(request, queryset, VERBS["activate"])

    @action(description=_("Say that the chosen ones are right …"), permissions=["switch"])
    def verify_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._chosen(request, queryset, VERBS["verify"])

    @action(description=_("Deprecate the chosen ones with one reason …"), permissions=["confirm"])
    def deprecate_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._chosen(request, queryset, VERBS["deprecate"])

    @action(description=_("Restore the chosen ones …"), permissions=["confirm"])
    def restore_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._chosen(request, queryset, VERBS["restore"])

    @action(description=_("Archive the chosen ones …"), permissions=["confirm"])
    def archive_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._chosen(request, queryset, VERBS["archive"])

    @action(description=_("Enable the chosen ones …"), permissions=["switch"])
    def enable_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._chosen(request, queryset, VERBS["enable"])

    @action(description=_("Disable the chosen ones …"), permissions=["switch"])
    def disable_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._chosen(request, queryset, VERBS["disable"])

    def verb_view(self, request: HttpRequest, pk: int, slug: str) -> HttpResponse:
        """One item: GET asks, a confirmed POST does it once."""
        item = self.visible_object(request, str(pk))
        verb = VERBS[slug]
        if not request.user.has_perm(verb.permission):
            raise PermissionDenied
        title = f"{verb.title}: {item.code} {show_hidden(item.title)}"
        page = reverse("admin:knowledge_knowledge_change", args=[item.pk])
        return self._ask(request, [item], verb, title=title, back=page)

    def _chosen(self, request: HttpRequest, queryset: QuerySet, verb: Verb) -> HttpResponse | None:
        rows = queryset.defer(None).select_related("company", "agent").order_by("number", "id")
        items = list(rows[: MAX_CHOSEN + 1])
        if len(items) > MAX_CHOSEN:
            told = _("At most %(limit)d items at once, so that each can be read; choose fewer.")
            messages.error(request, told % {"limit": MAX_CHOSEN})
            return None
        chosen = [("action", request.POST.getlist("action")[0])]
        chosen += [(ACTION_CHECKBOX_NAME, str(item.pk)) for item in items]
        return self._ask(
            request, items, verb, title=verb.question, back=request.get_full_path(), hidden=chosen
        )

    def _ask(
        self,
        request: HttpRequest,
        items: Sequence[Knowledge],
        verb: Verb,
        *,
        title: Any,
        back: str,
        hidden: Sequence[tuple[str, str]] = (),
    ) -> HttpResponse:
        if not all(self.may_write(request, item) for item in items):
            raise PermissionDenied
        told = [(item, left_out(item, verb)) for item in items]
        ready = [item for item, reason in told if not reason]
        if not ready:
            for item, reason in told:
                messages.error(request, f"{item.code}: {reason}")
            return HttpResponseRedirect(back)
        sent = [(f"version-{item.pk}", _asked_version(request, item)) for item in ready]
        if verb.shows_text:
            sent = [(f"sha256-{item.pk}", shown_sha256(item)) for item in ready]
        return self.confirmed(
            request,
            title=title,
            lines=verb.lines,
            names=[] if verb.shows_text or len(items) == 1 else [str(item) for item in ready],
            button=verb.title,
            hidden=[*hidden, *sent],
            dangerous=verb.dangerous,
            back=back,
            perform=lambda: self._performed_all(request, ready, verb, back),
            template="knowledge/decide.html",
            context={
                "asks_why": verb.asks_why,
                "left_out": [(item_link(item.pk, str(item)), reason) for item, reason in told if reason],
                "texts": [(item, text_shown(item)) for item in ready] if verb.shows_text else [],
            },
        )

    def _performed_all(
        self, request: HttpRequest, items: Sequence[Knowledge], verb: Verb, back: str
    ) -> HttpResponse:
        reason = request.POST.get("reason", "")
        if verb.asks_why and is_blank(reason):
            raise invalid("/reason", _("Say why, so that the next person knows."))
        if verb.shows_text:
            done = self._activated(request, items)
        else:
            done = [item.code for item in items if self._performed_one(request, item, verb, reason)]
        if done:
            told = _("%(count)d %(done)s: %(codes)s")
            names = {"count": len(done), "done": verb.done, "codes": ", ".join(done)}
            messages.success(request, told % names)
        return HttpResponseRedirect(back)

    def _activated(self, request: HttpRequest, items: Sequence[Knowledge]) -> list[str]:
        """Codes of those that were activated: one service call, and one receipt, a company."""
        by_company: dict[int, dict[int, str]] = defaultdict(dict)
        for item in items:
            # Without a digest nothing was shown, which is no text.
            by_company[item.company_id][item.pk] = request.POST.get(f"sha256-{item.pk}", "")
        codes = {item.pk: item.code for item in items}
        done: list[str] = []
        for shown in by_company.values():
            decision = Decision(actor=actor_of(request), now=timezone.now())
            report = deciding.activate_all(shown=shown, decision=decision)
            done += [item.code for item in report.items]
            for pk, error in report.refused.items():
                messages.error(request, f"{codes[pk]}: {_detail(error)}")
        return done

    def _performed_one(self, request: HttpRequest, item: Knowledge, verb: Verb, reason: str) -> bool:
        sent = request.POST.get(f"version-{item.pk}", "")
        expected = (int(sent),) if _is_version(sent) else None
        decision = Decision(actor_of(request), timezone.now(), reason=reason, expected=expected)
        try:
            verb.perform(item.pk, decision)
        except ApplicationError as error:
            messages.error(request, f"{item.code}: {_detail(error)}")
            return False
        return True

    def verbs_for(self, request: HttpRequest, item: Knowledge) -> list[dict[str, Any]]:
        """Buttons of what this person may do with the item now; they name the version that the page shows."""
        if not self.may_write(request, item):
            return []
        return [
            {
                "title": verb.title,
                "icon": verb.icon,
                "is_first": verb.shows_text,
                "link": f"{reverse(f'admin:knowledge_knowledge_{verb.slug}', args=[item.pk])}?v={item.version}",
            }
            for verb in VERBS.values()
            if request.user.has_perm(verb.permission) and not left_out(item, verb)
        ]


def left_out(item: Knowledge, verb: Verb) -> Any:
    """Why an item takes no part in a decision; empty when it does."""
    is_decision = verb.enabled is None
    if item.status not in verb.states or (is_decision and item.quarantined_at is not None):
        return _("It is %(status)s.") % {"status": shown_status(item)[1]}
    if verb.enabled is not None and item.enabled != verb.enabled:
        return _("It is so already.")
    return ""


@dataclass(frozen=True)
class ShownText:
    """Every field that a person confirms: (label, value) of those that say something, and the names of the rest."""

    filled: list[tuple[Any, SafeString | str]]
    empty: str


def text_shown(item: Knowledge) -> ShownText:
    """What `shown_sha256` is the digest of, field by field, with what shows nothing marked."""
    filled, empty = [], []
    for name in TEXT_FIELDS:
        label, value = capfirst(Knowledge._meta.get_field(name).verbose_name), getattr(item, name)
        if name == "category":
            value = item.get_category_display()
        if not value:
            empty.append(str(label))
        else:
            filled.append((label, lines(value) if isinstance(value, list) else visible(value)))
    return ShownText(filled, ", ".join(empty))


def _detail(error: ApplicationError) -> str:
    return " ".join(str(fault.detail) for fault in error.errors) or str(error.message)


def _is_version(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _asked_version(request: HttpRequest, item: Knowledge) -> str:
    """The version of the page that the person came from, else the one that this page shows."""
    sent = request.GET.get("v", "")
    return sent if _is_version(sent) else str(item.version)

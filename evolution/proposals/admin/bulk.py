"""One decision about several proposals: each is shown before, decided on its own, and reported on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.decorators import action

from common.admin import actor_of
from common.errors import ApplicationError
from evolution.proposals.admin.outcomes import told_about
from evolution.proposals.admin.queue import APPROVE, ReviewQueue
from evolution.proposals.admin.queue_filter import QueueFilter
from evolution.proposals.admin.shown import ShownProposal, brief
from evolution.proposals.choices import Risk, Status
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.services.deciding import Decision

log = structlog.get_logger(__name__)

#: Proposals in one bulk decision: as many as a person can still read on one page.
MAX_CHOSEN = 50
TITLES = {
    "approve": (_("Approve these proposals?"), _("Approve all shown here")),
    "skip": (_("Skip these proposals?"), _("Skip all shown here")),
    "reject": (_("Reject these proposals?"), _("Reject all shown here")),
}


@dataclass(frozen=True)
class Outcome:
    """What became of one proposal of several."""

    shown: ShownProposal
    is_good: bool
    text: Any


class BulkDecisions(ReviewQueue):
    """The same three verbs for several proposals at once."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        bulk = view(require_POST(self.bulk_view))
        return [path("queue/bulk/", bulk, name="proposals_proposal_bulk"), *super().get_urls()]

    def has_approve_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(APPROVE)

    @action(description=_("Approve the chosen ones …"), permissions=["approve"])
    def approve_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._chosen_in_list(request, queryset, "approve")

    @action(description=_("Skip the chosen ones …"), permissions=["approve"])
    def skip_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._chosen_in_list(request, queryset, "skip")

    @action(description=_("Reject the chosen ones with one reason …"), permissions=["approve"])
    def reject_chosen(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self._chosen_in_list(request, queryset, "reject")

    def _chosen_in_list(self, request: HttpRequest, queryset: QuerySet, verb: str) -> HttpResponse:
        return self._ask(request, verb, [str(pk) for pk in queryset.values_list("pk", flat=True)])

    def bulk_view(self, request: HttpRequest) -> HttpResponse:
        """An unconfirmed POST shows what is about to be decided, a confirmed one decides it."""
        if not self.has_approve_permission(request):
            raise PermissionDenied
        verb, chosen = request.POST.get("verb", ""), request.POST.getlist("chosen")
        if verb not in TITLES:
            messages.error(request, _("Choose: approve, reject or skip."))
            return HttpResponseRedirect(QueueFilter.of(request).url())
        if request.POST.get("confirmed") != "yes":
            return self._ask(request, verb, chosen)
        if verb == "reject" and not request.POST.get("reason", "").strip():
            messages.error(request, _("Say why, so that the same is not proposed again."))
            return self._ask(request, verb, chosen)
        outcomes = [
            self._decided(request, proposal, verb) for proposal in self._chosen(request, chosen[:MAX_CHOSEN])
        ]
        page = {
            **self._page(request, _("What became of them")),
            "outcomes": outcomes,
            "failed": sum(not outcome.is_good for outcome in outcomes),
        }
        return TemplateResponse(request, "proposals/bulk_done.html", page)

    def _page(self, request: HttpRequest, title: Any) -> dict[str, Any]:
        queue_url = QueueFilter.of(request).url()
        return {
            **self.admin_site.each_context(request),
            "title": title,
            "queue_url": queue_url,
        }

    def _chosen(self, request: HttpRequest, sent: Sequence[str]) -> list[Proposal]:
        """The chosen proposals in working order; 403 when one belongs to a company that one only reads."""
        pks = [int(pk) for pk in sent if pk.isascii() and pk.isdigit() and len(pk) < 19]
        items = Prefetch("items", ProposalItem.objects.order_by("number"))
        rows = self.whole_proposals(request).filter(pk__in=pks).riskiest_first().prefetch_related(items)
        proposals = list(rows)
        if not all(self.may_write(request, proposal) for proposal in proposals):
            raise PermissionDenied
        return proposals

    def _ask(self, request: HttpRequest, verb: str, sent: list[str]) -> HttpResponse:
        if len(sent) > MAX_CHOSEN:
            told = _("At most %(limit)d proposals at once, so that each can be read; these are the first.")
            messages.warning(request, told % {"limit": MAX_CHOSEN})
        proposals = self._chosen(request, sent[:MAX_CHOSEN])
        reasons = [(brief(proposal, request.user), _left_out(proposal, verb)) for proposal in proposals]
        title, button = TITLES[verb]
        page = {
            **self._page(request, title),
            "verb": verb,
            "button": button,
            "rows": [shown for shown, reason in reasons if not reason],
            "left_out": [(shown, reason) for shown, reason in reasons if reason],
            "filter_query": QueueFilter.of(request).query(),
        }
        return TemplateResponse(request, "proposals/bulk_confirm.html", page)

    def _decided(self, request: HttpRequest, proposal: Proposal, verb: str) -> Outcome:
        """One proposal in a transaction of its own; what goes wrong is told, and the others go on."""
        shown = brief(proposal, request.user)
        reason = _left_out(proposal, verb)
        if reason:
            return Outcome(shown, False, reason)
        decision = Decision(
            actor=actor_of(request),
            now=timezone.now(),
            reason=request.POST.get("reason", ""),
            shown_hash=request.POST.get(f"hash-{proposal.pk}", ""),
        )
        try:
            told = told_about(self.decide(request, proposal, verb, decision))
        except ApplicationError as error:
            return Outcome(shown, False, error.message)
        except DatabaseError:
            log.exception("bulk_decision_failed", proposal=proposal.code, verb=verb)
            return Outcome(shown, False, _("The database refused this one; nothing of it was written."))
        return Outcome(shown, told.is_good, told.text)


def _left_out(proposal: Proposal, verb: str) -> Any:
    """Why a proposal takes no part in a bulk decision; empty when it does."""
    if proposal.status != Status.PENDING:
        return _("It waits no longer: it is %(status)s.") % {"status": proposal.get_status_display()}
    if verb == "approve" and proposal.risk not in (Risk.LOW, Risk.MEDIUM):
        return _("Its risk is %(risk)s: decide about it alone.") % {"risk": proposal.get_risk_display()}
    return ""

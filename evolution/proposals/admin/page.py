"""The page of one proposal: what was proposed, decided and written; and the verbs that its state allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.admin.links import address
from agents.models import DocumentVersion
from common.admin import actor_of, visible
from common.receipts.choices import TRIGGERS
from common.receipts.models import Receipt
from common.text import show_hidden
from evolution.proposals.admin.queue import APPROVE, CHANGE, ReviewQueue, tell
from evolution.proposals.admin.queue_filter import QueueFilter
from evolution.proposals.choices import Status
from evolution.proposals.models import GitMirrorCommit, Proposal
from evolution.proposals.services.applying import apply_proposal
from evolution.proposals.services.deciding import Decision, reject
from evolution.proposals.services.editing import repropose, submit
from evolution.proposals.services.rolling_back import roll_back

_BROKEN = (Status.CONFLICT, Status.FAILED, Status.BLOCKED)


@dataclass(frozen=True)
class Verb:
    """What can be done with a proposal in some states, by whom, and what it means."""

    slug: str
    title: Any
    icon: str
    permission: str
    states: tuple[str, ...]
    perform: Callable[[int, str, dict[str, Any]], Proposal]
    lines: tuple[Any, ...]
    asks_why: bool = False
    dangerous: bool = False


VERBS = (
    Verb(
        "apply",
        _("Apply"),
        "publish",
        "proposals.apply_proposal",
        (Status.APPROVED,),
        lambda pk, reason, who: apply_proposal(proposal_id=pk, **who),
        (_("All approved items are written in one go, or nothing is."),),
    ),
    Verb(
        "rollback",
        _("Roll back"),
        "undo",
        "proposals.rollback_proposal",
        (Status.APPLIED,),
        lambda pk, reason, who: roll_back(proposal_id=pk, reason=reason, **who),
        (_("What was there before comes back as a new version; nothing is deleted from the history."),),
        asks_why=True,
        dangerous=True,
    ),
    Verb(
        "repropose",
        _("Propose again"),
        "refresh",
        CHANGE,
        _BROKEN,
        lambda pk, reason, who: repropose(proposal_id=pk, **who),
        (_("Each item is worked out again on the current text and waits for a decision."),),
    ),
    Verb(
        "submit",
        _("Let it wait for a decision"),
        "send",
        CHANGE,
        (Status.DRAFT,),
        lambda pk, reason, who: submit(proposal_id=pk, **who),
        (_("It then appears in the review queue."),),
    ),
    Verb(
        "discard",
        _("Reject this draft"),
        "block",
        APPROVE,
        (Status.DRAFT,),
        lambda pk, reason, who: reject(proposal_id=pk, decision=Decision(reason=reason, **who)),
        (_("The same is not proposed again for 90 days."),),
        asks_why=True,
        dangerous=True,
    ),
)


class ProposalPage(ReviewQueue):
    """One proposal. Nothing is edited in a form of its own here: every button is one service call."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        verb = view(self.verb_view)
        verbs = [
            path(f"<int:pk>/{each.slug}/", verb, {"slug": each.slug}, name=f"proposals_proposal_{each.slug}")
            for each in VERBS
        ]
        return [*verbs, *super().get_urls()]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A proposal is rejected, not deleted: what was proposed and decided stays on record."""
        return False

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        pk = int(object_id) if object_id.isascii() and object_id.isdigit() and len(object_id) < 19 else 0
        proposal = self.found(request, pk)
        if request.method == "POST":
            raise PermissionDenied  # there is no form to send; each verb has an address of its own
        edit, whole = request.GET.get("edit", ""), request.GET.get("whole", "")
        unified = request.GET.get("view") == "unified"
        page = {
            **self.admin_site.each_context(request),
            "title": proposal.code,
            "shown": self.shown(request, proposal, edit, whole),
            "unified": unified,
            "other_view_url": "?" if unified else "?view=unified",
            "here": "?" + ("view=unified" if unified else ""),
            "buttons": self._buttons(request, proposal),
            "queue_url": QueueFilter().url(p=pk) if proposal.status == Status.PENDING else "",
            **self._record(request, proposal),
            **(extra_context or {}),
        }
        return TemplateResponse(request, "proposals/proposal.html", page)

    def _buttons(self, request: HttpRequest, proposal: Proposal) -> list[tuple[Verb, str]]:
        """What this person may do with it now."""
        return [
            (verb, reverse(f"admin:proposals_proposal_{verb.slug}", args=[proposal.pk]))
            for verb in VERBS
            if proposal.status in verb.states and self._may(request, proposal, verb.permission)
        ]

    def _record(self, request: HttpRequest, proposal: Proposal) -> dict[str, Any]:
        """What has been written about the proposal so far: receipts, versions, the git mirror."""
        user, code = request.user, proposal.code
        record: dict[str, Any] = {"receipts": [], "versions": [], "commits": [], "checks_url": ""}
        if user.has_perm("receipts.view_receipt"):
            receipts = Receipt.objects.seen_by(user).filter(
                company_id=proposal.company_id, agent_id=proposal.agent_id, proposal_code=code
            )
            record["receipts"] = [
                (
                    receipt,
                    TRIGGERS.get(receipt.trigger, receipt.trigger),
                    address("admin:receipts_receipt_change", receipt.pk),
                )
                for receipt in receipts.order_by("number")
            ]
        if user.has_perm("agents.view_documentversion"):
            companies = {proposal.company_id, proposal.agent.company_id if proposal.agent else None}
            versions = DocumentVersion.objects.filter(document__agent=proposal.agent_id, proposal_code=code)
            versions = versions.filter(document__company__in=companies)
            record["versions"] = [
                (
                    version,
                    visible(version.document.path),
                    address("admin:agents_document_version", version.document_id, version.number),
                )
                for version in versions.defer("text").select_related("document").order_by("pk")
            ]
        if user.has_perm("proposals.view_gitmirrorcommit"):
            record["commits"] = list(GitMirrorCommit.objects.filter(proposal=proposal).order_by("pk"))
        if user.has_perm("agents.view_protectedaccess"):
            record["checks_url"] = address("admin:agents_protectedaccess_changelist", q=code)
        return record

    def verb_view(self, request: HttpRequest, pk: int, slug: str) -> HttpResponse:
        """GET asks, a confirmed POST does it once."""
        verb = next(each for each in VERBS if each.slug == slug)
        proposal = self.found(request, pk)
        self.require(request, proposal, verb.permission)
        page = reverse("admin:proposals_proposal_change", args=[pk])
        return self.confirmed(
            request,
            title=f"{verb.title}: {proposal.code} {show_hidden(proposal.title)}",
            lines=verb.lines,
            button=verb.title,
            obj=proposal,
            dangerous=verb.dangerous,
            back=page,
            perform=lambda: self._done(request, verb, pk, page),
            template="admin/confirm_reason.html",
            context={"asks_why": verb.asks_why},
        )

    def _done(self, request: HttpRequest, verb: Verb, pk: int, page: str) -> HttpResponse:
        who = {"actor": actor_of(request), "now": timezone.now()}
        tell(request, verb.perform(pk, request.POST.get("reason", ""), who))
        return HttpResponseRedirect(page)

    def receipts_of(self, obj: Proposal) -> str:
        return obj.code

"""The review queue: one page on which a person judges what waits, with the keyboard or the mouse.

GET only reads. Each decision is one POST to a service; a refusal shows the same page again, with the status of
the refusal and everything that was typed.
"""

from __future__ import annotations

from typing import Any

import structlog
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from agents.rules.documents import with_line_ends_of
from common.admin import FieldbookAdmin, actor_of, show_error
from common.errors import ApplicationError, invalid
from evolution.proposals.admin.outcomes import told_about
from evolution.proposals.admin.prompt_change import prompt_change
from evolution.proposals.admin.queue_filter import QueueFilter
from evolution.proposals.admin.shown import ShownProposal, shown_items
from evolution.proposals.choices import Risk, Status, Trigger
from evolution.proposals.evidence import evidence_for
from evolution.proposals.models import Proposal
from evolution.proposals.selectors import Queue, lessons_beside, queue_around, sources
from evolution.proposals.services.applying import approve_and_apply
from evolution.proposals.services.deciding import Decision, reject, skip
from evolution.proposals.services.editing import edit_item, work_out_again
from evolution.proposals.services.history import answer_lesson

log = structlog.get_logger(__name__)

APPROVE, APPLY = "proposals.approve_proposal", "proposals.apply_proposal"
CHANGE = "proposals.change_proposal"


class ReviewQueue(FieldbookAdmin):
    """The queue page and what it posts to."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("queue/", view(self.queue_view), name="proposals_proposal_queue"),
            path("queue/sources/", view(self.sources_view), name="proposals_proposal_sources"),
            path(
                "queue/<int:pk>/decide/",
                view(require_POST(self.decide_view)),
                name="proposals_proposal_decide",
            ),
            path(
                "queue/<int:pk>/edit/<int:number>/",
                view(require_POST(self.edit_view)),
                name="proposals_proposal_edit",
            ),
            path(
                "queue/<int:pk>/lessons/",
                view(require_POST(self.lessons_view)),
                name="proposals_proposal_lessons",
            ),
            *super().get_urls(),
        ]

    def queue_view(self, request: HttpRequest) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        asked = request.GET.get("p", "")
        if not asked:
            return self._queue_page(request, None)
        proposal = self._asked_for(request, asked)
        if proposal is None or proposal.status != Status.PENDING:
            told = _("%(code)s waits no longer: it is %(status)s.")
            names = {"code": proposal.code, "status": proposal.get_status_display()} if proposal else {}
            messages.warning(request, told % names if proposal else _("There is no such proposal."))
            return HttpResponseRedirect(QueueFilter.of(request).url())
        return self._queue_page(request, proposal)

    def _asked_for(self, request: HttpRequest, asked: str) -> Proposal | None:
        """The proposal that the address names, with all that the page says about it."""
        if not (asked.isascii() and asked.isdigit() and len(asked) < 19):
            return None
        return self.whole_proposals(request).filter(pk=int(asked)).first()

    def whole_proposals(self, request: HttpRequest) -> Any:
        """Visible proposals with agent, owner, company and key."""
        related = ("agent__company", "agent__owner", "company", "created_by_key")
        return Proposal.objects.seen_by(request.user).select_related(*related)

    def shown(
        self, request: HttpRequest, proposal: Proposal, edit: str = "", whole: str = "", typed: Any = None
    ) -> ShownProposal:
        """Everything about a proposal; `edit` is the number of the item that is edited, `whole` its whole text."""
        items = list(proposal.items.order_by("number"))
        shown = ShownProposal(
            proposal=proposal,
            items=shown_items(proposal, items, evidence_for(proposal, items)),
            viewer=request.user,
            may_approve=self._may(request, proposal, APPROVE),
            may_apply=self._may(request, proposal, APPLY),
            may_edit=self._may(request, proposal, CHANGE),
            lessons=lessons_beside(proposal),
        )
        for item in shown.items:
            if shown.may_edit and item.editable and edit == str(item.item.number):
                item.editing = whole if whole in item.edited_as else item.edited_as[0]
                item.typed = typed
        return shown

    def _may(self, request: HttpRequest, proposal: Proposal, permission: str) -> bool:
        return request.user.has_perm(permission) and self.may_write(request, proposal)

    def require(self, request: HttpRequest, proposal: Proposal, permission: str) -> None:
        """403 unless the person has the permission and is a member of the proposal's company."""
        if not self._may(request, proposal, permission):
            raise PermissionDenied

    def found(self, request: HttpRequest, pk: int) -> Proposal:
        """The visible proposal; 404 otherwise, whatever the reason."""
        proposal = self._asked_for(request, str(pk))
        if proposal is None or not self.has_view_permission(request, proposal):
            raise Http404
        return proposal

    def _queue_page(
        self,
        request: HttpRequest,
        proposal: Proposal | None,
        *,
        error: ApplicationError | None = None,
        **editing: Any,
    ) -> HttpResponse:
        chosen = QueueFilter.of(request)
        queue = queue_around(chosen.waiting_for(request), proposal)
        current = proposal
        if current is None and queue.current is not None:
            current = self.whole_proposals(request).get(pk=queue.current.pk)
        edit = {"edit": request.GET.get("edit", ""), "whole": request.GET.get("whole", ""), **editing}
        if error is not None:
            show_error(request, error)
        page = {
            **self.admin_site.each_context(request),
            "title": _("Review queue"),
            "queue": queue,
            "filter": chosen,
            "chips": list(chosen.chips(request)),
            "risks": Risk.choices[::-1],
            "triggers": Trigger.choices,
            "shown": self.shown(request, current, **edit) if current else None,
            "may_decide": request.user.has_perm(APPROVE),
            "may_draft": request.user.has_perm("proposals.add_proposal"),
            "typed": request.POST if error is not None else {},
            "unified": bool(chosen.view),
            **_links(chosen, queue),
            **self._prompt(request, chosen, current),
        }
        template = "proposals/queue.html"
        return TemplateResponse(request, template, page, status=error.status if error else 200)

    def _prompt(self, request: HttpRequest, chosen: QueueFilter, current: Proposal | None) -> dict[str, Any]:
        """What the prompt would say, when asked for (it renders two prompts), or the link that asks."""
        if current is None or not settings.PROMPT_DIFF or not request.user.has_perm("agents.view_agent"):
            return {}
        if "prompt" not in request.GET:
            return {"prompt_url": chosen.url(p=current.pk, prompt="yes")}
        lines = prompt_change(current, current.items.order_by("number"), timezone.now())
        return {"prompt_shown": True, "prompt_lines": lines, "prompt_url": chosen.url(p=current.pk)}

    def sources_view(self, request: HttpRequest) -> HttpResponse:
        """Who proposed most of what waits, so that a flood can be seen and set aside."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        waiting = QueueFilter().waiting_for(request)
        rows = [(source, QueueFilter(source=source.created_by).url()) for source in sources(waiting)]
        page = {
            **self.admin_site.each_context(request),
            "title": _("Who proposed what waits"),
            "rows": rows,
            "queue_url": QueueFilter().url(),
        }
        return TemplateResponse(request, "proposals/sources.html", page)

    def decide_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Approve, reject or skip the chosen items; then the next proposal."""
        proposal = self.found(request, pk)
        self.require(request, proposal, APPROVE)
        chosen = QueueFilter.of(request)
        behind = _behind(request, chosen, proposal)
        try:
            decided = self.decide(request, proposal, request.POST.get("verb", ""), _decision(request))
        except ApplicationError as error:
            fresh = self.found(request, pk)
            if fresh.status == Status.PENDING:
                return self._queue_page(request, fresh, error=error)
            show_error(request, error)
            return HttpResponseRedirect(chosen.url(p=behind.pk if behind else None))
        tell(request, decided)
        if decided.status == Status.PENDING:
            behind = decided
        elif behind is not None:
            self._up_to_date(request, behind)
        return HttpResponseRedirect(chosen.url(p=behind.pk if behind else None))

    def _up_to_date(self, request: HttpRequest, proposal: Proposal) -> None:
        """What has just been applied may stand under the next proposal: show that on the text of now."""
        if not self._may(request, proposal, CHANGE):
            return
        try:
            work_out_again(proposal_id=proposal.pk, actor=actor_of(request), now=timezone.now())
        except ApplicationError as error:
            log.info("next_proposal_as_it_is", proposal=proposal.code, reason=error.code)

    def decide(self, request: HttpRequest, proposal: Proposal, verb: str, decision: Decision) -> Proposal:
        """One decision through its service. Errors: those of the services; VALIDATION_ERROR for another verb."""
        if verb == "approve":
            applies = self._may(request, proposal, APPLY)
            return approve_and_apply(proposal_id=proposal.pk, decision=decision, applies=applies)
        if verb == "reject":
            return reject(proposal_id=proposal.pk, decision=decision)
        if verb == "skip":
            return skip(proposal_id=proposal.pk, decision=decision)
        raise invalid("/verb", _("Choose: approve, reject or skip."))

    def edit_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        """Other words, another whole text, a choice about a conflict, or the same on the current text."""
        proposal = self.found(request, pk)
        self.require(request, proposal, CHANGE)
        chosen = QueueFilter.of(request)
        behind = _behind(request, chosen, proposal)
        changes = _changes(request, proposal, number)
        try:
            who = {"actor": actor_of(request), "now": timezone.now(), "expected": _version(request)}
            if changes:
                edit_item(proposal_id=proposal.pk, number=number, changes=changes, **who)
            else:
                work_out_again(proposal_id=proposal.pk, **who)
        except ApplicationError as error:
            return self._edit_refused(request, pk, number, changes, error)
        proposal = self.found(request, pk)
        if proposal.status != Status.PENDING:
            tell(request, proposal)
        else:
            messages.success(
                request, _("Item %(number)d was worked out again: look at it.") % {"number": number}
            )
        if request.POST.get("page"):
            return HttpResponseRedirect(reverse("admin:proposals_proposal_change", args=[pk]))
        if proposal.status == Status.PENDING:
            behind = proposal
        return HttpResponseRedirect(chosen.url(p=behind.pk if behind else None))

    def lessons_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Cite a lesson, say why it does not apply, or take either back; then the same proposal again."""
        proposal = self.found(request, pk)
        self.require(request, proposal, CHANGE)
        try:
            answer_lesson(
                proposal_id=pk,
                code=request.POST.get("lesson", ""),
                answer=request.POST.get("answer", ""),
                reason=request.POST.get("reason", ""),
                actor=actor_of(request),
                now=timezone.now(),
                expected=_version(request),
            )
        except ApplicationError as error:
            show_error(request, error)
        if request.POST.get("page"):
            return HttpResponseRedirect(reverse("admin:proposals_proposal_change", args=[pk]) + "#lessons")
        return HttpResponseRedirect(QueueFilter.of(request).url(p=pk) + "#lessons")

    def _edit_refused(
        self, request: HttpRequest, pk: int, number: int, changes: dict[str, str], error: ApplicationError
    ) -> HttpResponse:
        proposal = self.found(request, pk)
        if proposal.status != Status.PENDING or request.POST.get("page"):
            show_error(request, error)
            return HttpResponseRedirect(reverse("admin:proposals_proposal_change", args=[pk]))
        whole = "new_text" if "new_text" in changes else "content"
        typed = changes.get(whole)
        edit = str(number) if typed is not None else ""
        return self._queue_page(request, proposal, error=error, edit=edit, whole=whole, typed=typed)


def _behind(request: HttpRequest, chosen: QueueFilter, proposal: Proposal) -> Proposal | None:
    """The one that waits behind this one; none for a draft, which has no place in the queue yet."""
    if proposal.pending_at is None:
        return None
    return queue_around(chosen.waiting_for(request), proposal).next


def _links(chosen: QueueFilter, queue: Queue) -> dict[str, Any]:
    """Addresses around the current proposal."""
    current = queue.current

    def to(proposal: Proposal | None) -> str:
        return chosen.url(p=proposal.pk) if proposal else ""

    return {
        "next_url": to(queue.next),
        "previous_url": to(queue.previous),
        "earlier_url": to(queue.earlier),
        "later_url": to(queue.later),
        "here": to(current),
        "other_view_url": chosen.toggled_view().url(p=current.pk if current else None),
        "rows": [
            (row, to(row), row is current)
            for row in [*queue.before, *([current] if current else []), *queue.after]
        ],
    }


def _decision(request: HttpRequest) -> Decision:
    """The decision that the form holds; `finish` closes a proposal whose items are all decided."""
    sent = [int(number) for number in request.POST.getlist("item") if _is_number(number)]
    finish = "finish" in request.POST
    if not sent and not finish:
        raise invalid("/item", _("Tick at least one item."))
    return Decision(
        actor=actor_of(request),
        now=timezone.now(),
        items=None if finish else frozenset(sent),
        reason=request.POST.get("reason", ""),
        confirmation=request.POST.get("confirmation", ""),
        shown_hash=request.POST.get("shown_hash", ""),
    )


def _changes(request: HttpRequest, proposal: Proposal, number: int) -> dict[str, str]:
    """What the form changes of an item; nothing means: work it out again on the current text."""
    if "choice" in request.POST:
        return {"conflict_choice": request.POST["choice"]}
    if "content" in request.POST:
        return {"content": request.POST["content"]}
    if "new_text" in request.POST:
        item = proposal.items.filter(number=number).first()
        stored = (item.new_text or item.base_text or "") if item else ""
        return {"new_text": with_line_ends_of(stored, request.POST["new_text"])}
    return {}


def _version(request: HttpRequest) -> tuple[int, ...] | None:
    sent = request.POST.get("version", "")
    return (int(sent),) if _is_number(sent) else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def tell(request: HttpRequest, proposal: Proposal) -> None:
    """What became of a proposal, as a message."""
    told = told_about(proposal)
    messages.add_message(request, told.level, told.text)

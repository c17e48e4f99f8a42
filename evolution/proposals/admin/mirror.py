"""The git mirror's follow-up rows: what was committed, what failed and why, and another try."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import action, display

from agents.admin.links import address
from common.admin import CompanyFilter, ReadOnlyAdmin, actor_of, visible
from common.errors import ApplicationError
from evolution.proposals.models import GitMirrorCommit
from evolution.proposals.services.mirror import retry_commit

State = GitMirrorCommit.State
_COLOURS = {State.PENDING: "info", State.DONE: "success", State.FAILED: "danger"}


@admin.register(GitMirrorCommit)
class GitMirrorCommitAdmin(ReadOnlyAdmin):
    """One row a receipt of an applied proposal. The change itself stands, whatever git said."""

    company_lookup = "proposal__company"
    list_display = (
        "created_at",
        "proposal_link",
        "receipt_link",
        "status_shown",
        "attempts",
        "sha",
        "error_shown",
    )
    list_display_links = ("created_at",)
    list_filter = (("status", ChoicesDropdownFilter), CompanyFilter)
    list_select_related = ("proposal", "receipt")
    actions = ("retry",)
    fields = ("proposal_link", "receipt_link", "status", "attempts", "sha", "error_shown", "updated_at")
    readonly_fields = fields

    def has_retry_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("proposals.retry_gitmirrorcommit")

    @action(description=_("Try again"), permissions=["retry"])
    def retry(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        return self.confirmed_action(
            request,
            queryset,
            title=_("Try these commits again?"),
            lines=[_("Only failed ones are tried. The documents themselves are not changed.")],
            button=_("Try again"),
            perform=lambda pks: self._retried(request, pks),
        )

    def _retried(self, request: HttpRequest, pks: list[int]) -> Any:
        done = 0
        for pk in pks:
            try:
                done += retry_commit(commit_id=pk, actor=actor_of(request), now=timezone.now())
            except ApplicationError as error:
                messages.error(request, error.message)
        return ngettext("%(done)d commit was made.", "%(done)d commits were made.", done) % {"done": done}

    @display(description=_("proposal"))
    def proposal_link(self, commit: GitMirrorCommit) -> SafeString:
        url = reverse("admin:proposals_proposal_change", args=[commit.proposal_id])
        return format_html('<a class="text-primary-600" href="{}">{}</a>', url, commit.proposal.code)

    @display(description=_("receipt"))
    def receipt_link(self, commit: GitMirrorCommit) -> SafeString:
        url = address("admin:receipts_receipt_change", commit.receipt_id)
        return format_html('<a class="text-primary-600" href="{}">#{}</a>', url, commit.receipt.number)

    @display(description=_("status"), label=_COLOURS)
    def status_shown(self, commit: GitMirrorCommit) -> tuple[str, str]:
        return commit.status, commit.get_status_display()

    @display(description=_("error"))
    def error_shown(self, commit: GitMirrorCommit) -> SafeString | str:
        return visible(commit.error) if commit.error else "–"

"""What became of a proposal, in one sentence that claims a write only when there was one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext_lazy as _

from common.admin import visible
from evolution.proposals.choices import ItemStatus, Status
from evolution.proposals.models import Proposal, ProposalItem


@dataclass(frozen=True)
class Told:
    """A message and its level (of django.contrib.messages)."""

    level: int
    text: Any

    @property
    def is_good(self) -> bool:
        return self.level == messages.SUCCESS


def told_about(proposal: Proposal) -> Told:
    """The state of a proposal after something was done with it."""
    items = list(proposal.items.order_by("number"))
    code = proposal.code
    if proposal.status == Status.APPLIED:
        return Told(
            messages.SUCCESS, format_html(_("{code} applied: {what}."), code=code, what=_written(items))
        )
    if proposal.status in (Status.CONFLICT, Status.FAILED):
        text = _("{code} was approved, but nothing was written. {reason}")
        return Told(messages.ERROR, format_html(text, code=code, reason=visible(proposal.failure)))
    sentences = {
        Status.APPROVED: _("{code} approved. It waits for somebody who may apply it."),
        Status.REJECTED: _("{code} rejected."),
        Status.SKIPPED: _("{code} skipped. It may be proposed again."),
        Status.ROLLED_BACK: _("{code} rolled back: the text before it is back, as a new version."),
    }
    if proposal.status in sentences:
        return Told(messages.SUCCESS, format_html(sentences[Status(proposal.status)], code=code))
    if proposal.status == Status.BLOCKED:
        text = _("{code} is blocked: it touches what is protected and must be changed by hand.")
        return Told(messages.ERROR, format_html(text, code=code))
    left = sum(item.status == ItemStatus.PENDING for item in items)
    if left == len(items):
        return Told(messages.SUCCESS, format_html(_("{code} waits for a decision."), code=code))
    text = _("{code}: {decided} of {total} items decided; the rest still waits.")
    return Told(messages.SUCCESS, format_html(text, code=code, decided=len(items) - left, total=len(items)))


def _written(items: Iterable[ProposalItem]) -> Any:
    applied = [item for item in items if item.status == ItemStatus.APPLIED]
    return format_html_join(", ", "{}", ((_what(item),) for item in applied))


def _what(item: ProposalItem) -> Any:
    version = item.result.get("document_version")
    if version is not None and item.operation not in ("delete", "rename"):
        return format_html(_("version {number} of {target}"), number=version, target=visible(item.target))
    if item.operation == "rename":
        return format_html(_("{old} is now {new}"), old=visible(item.target), new=visible(item.new_target))
    return format_html("{} {}", visible(item.target), item.get_operation_display())

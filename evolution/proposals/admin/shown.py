"""A proposal and its items as the pages show them: escaped, hidden characters marked, states and faults in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agents.admin.comparison import SideBySideRow, shown_texts
from agents.admin.links import address
from agents.rules.paths import is_user_path, user_of
from agents.rules.protection import REASON_LABELS, Outcome, Reason
from common.admin import visible
from common.diff import hunks
from common.text import show_hidden
from evolution.proposals.choices import FLAG_LABELS, ConflictChoice, ConflictKind, ItemStatus, Risk, Status
from evolution.proposals.evidence import Evidence, said_by
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.operations import SET_PARAMETER, operation_for
from evolution.proposals.operations.role import ROLE_TARGET
from evolution.proposals.rules.states import EDITABLE
from evolution.proposals.selectors import LessonBeside
from evolution.proposals.services.locking import hash_of

#: Colours of Unfold's labels.
RISK_COLOURS = {Risk.LOW: "success", Risk.MEDIUM: "warning", Risk.HIGH: "danger", Risk.FORBIDDEN: "danger"}
STATUS_COLOURS = {
    Status.PENDING: "info",
    Status.APPROVED: "primary",
    Status.APPLIED: "success",
    Status.REJECTED: "warning",
    Status.ROLLED_BACK: "warning",
    Status.BLOCKED: "danger",
    Status.CONFLICT: "danger",
    Status.FAILED: "danger",
}
#: Why an item is blocked, by the code in front of its stored reason, and what a person can do.
BLOCKED = {
    "PROTECTED_PATH": _(
        "It touches a protected part. No proposal may change that; if it is right, change the document by hand."
    ),
    "PATH_INVALID": _("Its path is not one that a document can have, so nothing can be written there."),
    "SHARED_BODY": _(
        "The agent is shared by all companies. A proposal of one company may not change its body: "
        "everybody would see it. Copy the agent and change the copy, or change it as a member of _global."
    ),
}
_EDITED_AS_TEXT = ("create", "update", "rename", SET_PARAMETER)
_EDITED_AS_WORDS = ("create", "update", "add_experience", "update_experience")


@dataclass(frozen=True)
class UnifiedLine:
    """One line of a unified diff; `kind` add, del, hunk or empty."""

    kind: str
    text: SafeString


@dataclass(frozen=True)
class ShownVerdict:
    """What a protection rule says to an item."""

    kind: str
    rule: SafeString
    reason: Any
    consequence: Any


@dataclass
class ShownItem:
    """One item; `editing` says which of its texts the page offers in a box: content, new_text or nothing."""

    item: ProposalItem
    proposal: Proposal
    evidence: Evidence
    editing: str = ""
    typed: str | None = None

    @property
    def is_open(self) -> bool:
        return self.item.status == ItemStatus.PENDING

    @property
    def target(self) -> SafeString:
        return visible(self.item.target)

    @property
    def new_target(self) -> SafeString:
        return visible(self.item.new_target)

    @property
    def content(self) -> SafeString | str:
        return visible(self.item.content)

    @property
    def reason(self) -> SafeString | str:
        return visible(self.item.rejection_reason)

    @property
    def risk_colour(self) -> str:
        return RISK_COLOURS[Risk(self.item.risk)]

    @property
    def sides(self) -> list[SideBySideRow]:
        return shown_texts(*_before_and_after(self.item))

    @property
    def unified(self) -> list[UnifiedLine]:
        return unified_lines(self.item)

    @cached_property
    def has_hidden(self) -> bool:
        """Whether what is added holds characters that show nothing."""
        old = set((self.item.base_text or "").splitlines())
        added = [line for line in (self.item.new_text or "").splitlines() if line not in old]
        return any(show_hidden(text) != text for text in (self.item.content, self.item.target, *added))

    @property
    def is_high(self) -> bool:
        return self.is_open and self.item.risk == Risk.HIGH

    @property
    def needs_name(self) -> bool:
        """Whether the agent's name must be typed."""
        confirms = any(entry["verdict"] == Outcome.NEEDS_CONFIRMATION for entry in self.item.protection)
        return self.is_high or (self.is_open and confirms)

    @property
    def verdicts(self) -> list[ShownVerdict]:
        return [_verdict(self.item, self.proposal, entry) for entry in self.item.protection]

    @property
    def blocked(self) -> Any:
        """Why nobody can approve this, in words; empty when it is not blocked."""
        if self.item.status != ItemStatus.BLOCKED:
            return ""
        code = self.item.rejection_reason.partition(":")[0]
        return BLOCKED.get(code) or visible(self.item.rejection_reason)

    @property
    def conflicts(self) -> list[tuple[Any, SafeString, SafeString]]:
        """(what is wrong, where, the existing line)."""
        return [
            (ConflictKind(entry["kind"]).label, visible(entry["where"]), visible(entry["text"]))
            for entry in self.item.conflicts
        ]

    @property
    def choices(self) -> list[tuple[str, Any]]:
        """What can be chosen about the conflict; nothing when it is chosen."""
        chosen = not self.item.conflicts or self.item.conflict_choice or not self.is_open
        return [] if chosen else list(ConflictChoice.choices)

    @property
    def faults(self) -> list[SafeString]:
        return [visible(fault["detail"]) for fault in self.item.faults]

    @property
    def flags(self) -> list[tuple[Any, SafeString]]:
        """(what it seems to try, the words); for the reviewer's eyes, nothing is blocked by it."""
        return [
            (FLAG_LABELS.get(flag["kind"], flag["kind"]), visible(flag["text"])) for flag in self.item.flags
        ]

    @property
    def nearest(self) -> list[tuple[int, SafeString, SafeString]]:
        """(per cent, where, line), without those that the conflicts name already."""
        named = {entry["text"].strip() for entry in self.item.conflicts}
        near = [entry for entry in self.evidence.nearest if entry.text not in named]
        return [(round(entry.similarity * 100), visible(entry.where), visible(entry.text)) for entry in near]

    @property
    def target_url(self) -> str:
        """The page where the target is changed by hand; empty when there is none."""
        if self.item.target == ROLE_TARGET:
            return address("admin:agents_agent_change", self.proposal.agent_id)
        if self.item.target.partition("/")[0] == "experiences":
            return address("admin:agents_agent_change", self.proposal.agent_id) + "#experiences"
        if self.item.operation == SET_PARAMETER:
            return address("admin:parameters_parameter_changelist", company=self.proposal.company.slug)
        document = self.evidence.document
        return address("admin:agents_document_change", document.pk) if document else ""

    @property
    def editable(self) -> bool:
        states = (ItemStatus.PENDING, ItemStatus.APPROVED, ItemStatus.BLOCKED)
        return self.proposal.status in EDITABLE and self.item.status in states and bool(self.edited_as)

    @property
    def edited_as(self) -> list[str]:
        """The texts that can be edited, the likelier one first."""
        item = self.item
        words = ["content"] if item.operation in _EDITED_AS_WORDS else []
        whole = ["new_text"] if item.operation in _EDITED_AS_TEXT else []
        return whole + words if item.whole_text else words + whole

    @property
    def box(self) -> str:
        """The text in the box: what was typed before a refusal, else what is stored."""
        if self.typed is not None:
            return self.typed
        if self.editing == "new_text":
            return self.item.new_text or ""
        return self.item.content or said_by(self.item)


def unified_lines(item: ProposalItem) -> list[UnifiedLine]:
    """The difference as lines, three of context around each change."""
    lines = []
    kinds = {"+": "add", "-": "del", " ": ""}
    for hunk in hunks(*_before_and_after(item)):
        lines.append(UnifiedLine("hunk", SafeString(hunk.header)))
        for line in hunk.lines:
            lines.append(UnifiedLine(kinds[line.tag], visible(f"{line.tag}{line.text}")))
            if not line.newline:
                lines.append(UnifiedLine("hunk", SafeString(r"\ No newline at end of file")))
    return lines


def _before_and_after(item: ProposalItem) -> tuple[str, str]:
    operation = operation_for(item.operation, item.target)
    return operation.as_file(item.base_text), operation.as_file(item.new_text)


def _verdict(item: ProposalItem, proposal: Proposal, entry: dict[str, str]) -> ShownVerdict:
    try:
        reason: Any = REASON_LABELS[Reason(entry["reason"])]
    except ValueError:
        reason = visible(entry["reason"])
    return ShownVerdict(
        kind=entry["verdict"],
        rule=visible(entry["rule"]),
        reason=reason,
        consequence=_consequence(item, proposal, entry["verdict"]),
    )


def _consequence(item: ProposalItem, proposal: Proposal, verdict: str) -> Any:
    if verdict == Outcome.BLOCKED:
        return _("Nobody can approve this here.")
    if verdict == Outcome.NEEDS_CONFIRMATION:
        return _("Type the agent's name to approve it.")
    if verdict == Outcome.NEEDS_OWNER and is_user_path(item.target):
        user = _("Only the end user %(user)s can approve this, through a runtime; staff cannot.")
        return user % {"user": user_of(item.target)}
    if verdict == Outcome.NEEDS_OWNER:
        owner = proposal.agent.owner if proposal.agent else None
        if owner is None:
            return _(
                "Only the agent's owner can approve this, and this agent has none. Name one on its page."
            )
        return _("Only the agent's owner, %(owner)s, can approve this.") % {"owner": owner.get_username()}
    return ""


@dataclass
class ShownProposal:
    """A proposal with everything that a decision about it needs, for the person who looks at it."""

    proposal: Proposal
    items: list[ShownItem]
    viewer: Any
    may_approve: bool = False
    may_apply: bool = False
    may_edit: bool = False
    lessons: list[LessonBeside] = field(default_factory=list)

    @property
    def unanswered_lessons(self) -> str:
        """Codes of strong matches that nobody cited or dismissed."""
        return ", ".join(beside.lesson.code for beside in self.lessons if beside.is_unanswered)

    @property
    def lessons_open(self) -> bool:
        return self.proposal.status in EDITABLE

    @property
    def shown_hash(self) -> str:
        """What an approval sends back: the digest of what this page shows."""
        return hash_of(shown.item for shown in self.items)

    @property
    def risk_colour(self) -> str:
        return RISK_COLOURS[Risk(self.proposal.risk)]

    @property
    def status_colour(self) -> str:
        return STATUS_COLOURS.get(Status(self.proposal.status), "")

    @property
    def title(self) -> SafeString:
        return visible(self.proposal.title)

    @property
    def agent_name(self) -> SafeString:
        """The agent's name; the company's where it is about parameters."""
        return visible(self.proposal.subject)

    @property
    def rationale(self) -> SafeString:
        return visible(self.proposal.rationale)

    @property
    def created_by(self) -> SafeString:
        return visible(self.proposal.created_by)

    @property
    def url(self) -> str:
        return reverse("admin:proposals_proposal_change", args=[self.proposal.pk])

    @property
    def agent_url(self) -> str:
        if self.proposal.agent_id is None:
            return address("admin:parameters_parameter_changelist", company=self.proposal.company.slug)
        return address("admin:agents_agent_change", self.proposal.agent_id)

    @property
    def open_items(self) -> list[ShownItem]:
        return [shown for shown in self.items if shown.is_open]

    @property
    def is_high(self) -> bool:
        return any(shown.is_high for shown in self.items)

    @property
    def needs_name(self) -> bool:
        return any(shown.needs_name for shown in self.items)

    @property
    def is_own_high(self) -> bool:
        """Whether the person may not approve because they wrote it themselves."""
        authors = {self.proposal.created_by_user_id, self.proposal.last_edited_by_user_id}
        authors |= {shown.item.edited_by_user_id for shown in self.items if shown.is_high}
        return self.is_high and self.viewer.pk in authors and not settings.PROPOSALS_ALLOW_SELF_APPROVAL

    @property
    def can_decide(self) -> bool:
        return self.may_approve and self.proposal.status == Status.PENDING


def shown_items(
    proposal: Proposal, items: Iterable[ProposalItem], evidence: dict[int, Evidence]
) -> list[ShownItem]:
    """Items of one proposal with what is known beside them."""
    return [ShownItem(item, proposal, evidence.get(item.number, Evidence())) for item in items]


def brief(proposal: Proposal, viewer: Any) -> ShownProposal:
    """A proposal whose items are loaded, without evidence: for pages that show many."""
    items: Sequence[ProposalItem] = sorted(proposal.items.all(), key=lambda item: item.number)
    return ShownProposal(proposal, shown_items(proposal, items, {}), viewer)

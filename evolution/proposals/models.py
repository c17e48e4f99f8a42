"""Proposal, its items, and the follow-up row of the git mirror."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Case, Q, Value, When
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from common.choices import GLOBAL_SLUG
from common.companies.models import ApiKey, Company
from common.models import TimestampedModel
from common.receipts.models import Receipt
from common.text import show_hidden
from evolution.parameters.models import ParameterChange
from evolution.proposals.choices import (
    ConflictChoice,
    ItemStatus,
    ItemType,
    Kind,
    Operation,
    Risk,
    Status,
    Trigger,
)

PREFIX = "EP-"
#: Riskiest first, then the longest waiting: indexed, so that a page of it costs the same however many wait.
WORK_ORDER = ("risk_rank", "pending_at", "id")


class ProposalQuerySet(models.QuerySet):
    """Proposals by company, state and who may see them."""

    def of_company(self, company: Company) -> ProposalQuerySet:
        return self.filter(company=company)

    def seen_by(self, user) -> ProposalQuerySet:
        """All for a superuser, else those of the person's companies and of `_global`."""
        if user.is_superuser:
            return self
        return self.filter(Q(company__in=user.companies.all()) | Q(company__slug=GLOBAL_SLUG))

    def written_by(self, user) -> ProposalQuerySet:
        """Those of companies that the person is a member of: only about these can they decide."""
        return self if user.is_superuser else self.filter(company__in=user.companies.values("pk"))

    def waiting(self) -> ProposalQuerySet:
        """Pending ones, not in quarantine: a person has to decide."""
        return self.filter(status=Status.PENDING, quarantined_at=None)

    def overdue(self, now: datetime) -> ProposalQuerySet:
        """Pending ones whose time is over at `now`; exactly at the end it is not over yet."""
        return self.waiting().filter(expires_at__lt=now)

    def riskiest_first(self) -> ProposalQuerySet:
        """The order of the work list: by risk, then the longest waiting."""
        return self.order_by(*WORK_ORDER)


class Proposal(TimestampedModel):
    """EP-NNN: changes to one agent, or to the company's parameters, that wait for a person.

    `version` is its ETag.
    """

    company = models.ForeignKey(Company, models.PROTECT, related_name="proposals", verbose_name=_("company"))
    agent = models.ForeignKey(
        Agent,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="proposals",
        verbose_name=_("agent"),
        help_text=_("Empty: the parameters of the company."),
    )
    number = models.PositiveBigIntegerField(_("number"))
    title = models.CharField(_("title"), max_length=200)
    kind = models.CharField(_("kind"), max_length=20, choices=Kind.choices)
    trigger = models.CharField(_("trigger"), max_length=20, choices=Trigger.choices)
    conversation_id = models.CharField(_("conversation"), max_length=200, blank=True)
    user_id = models.CharField(_("end user"), max_length=64, blank=True)
    rationale = models.TextField(_("rationale"), blank=True)
    risk = models.CharField(_("risk"), max_length=10, choices=Risk.choices)
    risk_rank = models.GeneratedField(
        expression=Case(
            *(When(risk=risk, then=Value(rank)) for rank, risk in enumerate(reversed(Risk.values))),
            default=Value(0),
        ),
        output_field=models.PositiveSmallIntegerField(),
        db_persist=True,
    )
    status = models.CharField(_("status"), max_length=12, choices=Status.choices)
    needs_content = models.BooleanField(_("needs content"), default=False)
    redactions = models.JSONField(
        _("redactions"),
        default=dict,
        blank=True,
        help_text=_("Secrets taken out before it was stored, by kind."),
    )
    created_by = models.CharField(_("proposed by"), max_length=200)
    created_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_by_key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, blank=True, related_name="+")
    last_edited_by = models.CharField(_("last edited by"), max_length=200, blank=True)
    last_edited_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    cited_lessons = models.JSONField(_("cited lessons"), default=list, blank=True)
    dismissed_lessons = models.JSONField(_("dismissed lessons"), default=list, blank=True)
    seen_count = models.PositiveIntegerField(_("times seen"), default=1)
    approved_by = models.CharField(_("approved by"), max_length=200, blank=True)
    approved_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    decided_by = models.CharField(
        _("relayed for"), max_length=64, blank=True, help_text=_("The end user whose decision a key relayed.")
    )
    approved_at = models.DateTimeField(_("approved"), null=True, blank=True)
    approved_hash = models.CharField(_("approved hash"), max_length=64, blank=True)
    decision_reason = models.TextField(_("reason"), blank=True)
    pending_at = models.DateTimeField(_("waiting since"), null=True, blank=True)
    applied_at = models.DateTimeField(_("applied"), null=True, blank=True)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    failure = models.TextField(_("what went wrong"), blank=True)
    failure_code = models.CharField(max_length=40, blank=True)
    rolled_back_by = models.CharField(_("rolled back by"), max_length=200, blank=True)
    rolled_back_at = models.DateTimeField(_("rolled back"), null=True, blank=True)
    rollback_reason = models.TextField(_("reason of the rollback"), blank=True)
    quarantined_at = models.DateTimeField(_("in quarantine since"), null=True, blank=True, editable=False)
    version = models.PositiveIntegerField(_("version"), default=1)

    objects = ProposalQuerySet.as_manager()

    class Meta:
        verbose_name = _("proposal")
        verbose_name_plural = _("proposals")
        ordering = ("-created_at", "-id")
        permissions = [
            ("approve_proposal", "Can approve, reject and skip proposals"),
            ("apply_proposal", "Can apply approved proposals"),
            ("rollback_proposal", "Can roll applied proposals back"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["company", "number"], name="proposals_proposal_company_number"),
            models.CheckConstraint(
                condition=Q(title__length__gte=1) & Q(title__length__lte=200),
                name="proposals_proposal_title_length",
            ),
            models.CheckConstraint(
                condition=Q(agent__isnull=False) | Q(kind=Kind.PARAMETER),
                name="proposals_proposal_agent_or_parameters",
            ),
        ]
        indexes = [
            # The work list of one company and of all, and the nightly expiry.
            models.Index(
                fields=["company", *WORK_ORDER], condition=Q(status="pending"), name="proposals_waiting"
            ),
            models.Index(fields=WORK_ORDER, condition=Q(status="pending"), name="proposals_waiting_all"),
            models.Index(fields=["expires_at"], condition=Q(status="pending"), name="proposals_expiry"),
            # What was approved and is not applied: shown on the start page.
            models.Index(
                fields=["company", "status"],
                condition=Q(status__in=["approved", "conflict", "failed"]),
                name="proposals_unfinished",
            ),
            models.Index(fields=["agent", "-created_at"], name="proposals_agent"),
        ]

    def __str__(self) -> str:
        return f"{self.code} {show_hidden(self.title)}"

    @property
    def code(self) -> str:
        """EP-007."""
        return f"{PREFIX}{self.number:03d}"

    @property
    def subject(self) -> str:
        """Whose change it is: the agent's name; the company's where it is about parameters alone."""
        return self.agent.name if self.agent else self.company.name

    @property
    def language(self) -> str:
        """The language of its texts for a conversation."""
        return self.agent.language if self.agent else ""

    @property
    def owner_id(self) -> int | None:
        """The agent's owner; nobody owns a company's parameters."""
        return self.agent.owner_id if self.agent else None


class OfProposalQuerySet(models.QuerySet):
    """Rows of a proposal, by who may see it."""

    def seen_by(self, user) -> OfProposalQuerySet:
        if user.is_superuser:
            return self
        mine = Q(proposal__company__in=user.companies.values("pk"))
        return self.filter(mine | Q(proposal__company__slug=GLOBAL_SLUG))


class ProposalItem(models.Model):
    """One change, with the text it was computed on and the text it would write."""

    proposal = models.ForeignKey(Proposal, models.CASCADE, related_name="items", verbose_name=_("proposal"))
    number = models.PositiveIntegerField(_("number"))
    type = models.CharField(_("type"), max_length=25, choices=ItemType.choices)
    content = models.TextField(_("content"), blank=True)
    target = models.CharField(_("target"), max_length=255)
    target_key = models.CharField(
        max_length=1020, blank=True, help_text="Equal for every spelling of one target."
    )
    new_target = models.CharField(_("new path"), max_length=255, blank=True)
    operation = models.CharField(_("operation"), max_length=20, choices=Operation.choices)
    base_version = models.PositiveIntegerField(_("base version"), null=True, blank=True)
    base_sha256 = models.CharField(max_length=64, blank=True)
    base_text = models.TextField(_("text before"), null=True, blank=True)  # noqa: DJ001  null = it does not exist
    new_text = models.TextField(_("text after"), null=True, blank=True)  # noqa: DJ001  null = it is gone
    new_sha256 = models.CharField(max_length=64, blank=True)
    whole_text = models.BooleanField(
        default=False, help_text="The text after was given as a whole, not placed from the content."
    )
    diff = models.TextField(_("difference"), blank=True)
    risk = models.CharField(_("risk"), max_length=10, choices=Risk.choices)
    protection = models.JSONField(_("protection"), default=list, blank=True)
    conflicts = models.JSONField(_("conflicts"), default=list, blank=True)
    conflict_choice = models.CharField(_("choice"), max_length=10, choices=ConflictChoice.choices, blank=True)
    faults = models.JSONField(_("faults"), default=list, blank=True)
    flags = models.JSONField(
        _("flags"),
        default=list,
        blank=True,
        help_text=_("Words that try to steer a model; for the reviewer's eyes."),
    )
    reverts = models.ForeignKey(
        ParameterChange,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("takes back"),
    )
    learning_key = models.CharField(max_length=64)
    status = models.CharField(_("status"), max_length=12, choices=ItemStatus.choices)
    changed_at = models.DateTimeField(_("state since"), null=True, blank=True)
    edited_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    decided_by = models.CharField(_("decided by"), max_length=200, blank=True)
    decided_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    decided_by_key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, blank=True, related_name="+")
    decided_for = models.CharField(
        _("relayed for"), max_length=64, blank=True, help_text=_("The end user whose decision a key relayed.")
    )
    rejection_reason = models.TextField(_("reason"), blank=True)
    result = models.JSONField(_("result"), default=dict, blank=True)

    objects = OfProposalQuerySet.as_manager()

    class Meta:
        verbose_name = _("proposal item")
        verbose_name_plural = _("proposal items")
        ordering = ("proposal", "number")
        constraints = [
            models.UniqueConstraint(fields=["proposal", "number"], name="proposals_item_number"),
            models.CheckConstraint(
                condition=Q(content__length__lte=2000), name="proposals_item_content_length"
            ),
        ]
        # Has this learning point been proposed before?
        indexes = [models.Index(fields=["learning_key"], name="proposals_item_learning_key")]

    def __str__(self) -> str:
        return f"{self.proposal_id}/{self.number} {self.target}"


class GitMirrorCommit(TimestampedModel):
    """The follow-up of one receipt: the change as a commit in the agent's repository."""

    class State(models.TextChoices):
        PENDING = "pending", _("pending")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    receipt = models.OneToOneField(
        Receipt, models.DO_NOTHING, db_constraint=False, related_name="mirror_commit"
    )
    proposal = models.ForeignKey(Proposal, models.CASCADE, related_name="mirror_commits")
    sha = models.CharField(max_length=40, blank=True)
    status = models.CharField(_("status"), max_length=10, choices=State.choices, default=State.PENDING)
    error = models.TextField(_("error"), blank=True)
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    leased_until = models.DateTimeField(null=True, blank=True)

    objects = OfProposalQuerySet.as_manager()

    class Meta:
        verbose_name = _("git mirror commit")
        verbose_name_plural = _("git mirror commits")
        ordering = ("-created_at", "-id")
        permissions = [("retry_gitmirrorcommit", "Can retry a git mirror commit")]

    def __str__(self) -> str:
        return f"{self.receipt_id}: {self.status}"

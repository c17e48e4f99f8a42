"""Receipt, its lines, its erasable texts, and the head of each company's chain."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from common.choices import GLOBAL_SLUG
from common.models import AppendOnlyModel, AppendOnlyQuerySet
from common.receipts.choices import GUARDED_LINES, LineStatus, ReceiptType, RiskLevel


def _hidden_types(user) -> list[str]:
    """Types of lines whose subjects the user may not see."""
    return [kind for kind, permission in GUARDED_LINES.items() if not user.has_perm(permission)]


class ReceiptQuerySet(AppendOnlyQuerySet):
    """Receipts by who may see them: a superuser all, others their companies' and those of `_global`."""

    def seen_by(self, user) -> ReceiptQuerySet:
        """Without receipts about keys or people for those who may not see keys or people."""
        if user.is_superuser:
            return self
        lines = ReceiptLine.objects.filter(receipt=models.OuterRef("pk"))
        mine: Any = models.Q(company__in=user.companies.values("pk"))
        if hidden := _hidden_types(user):
            mine &= ~models.Exists(lines.filter(type__in=hidden))
        shared = models.Q(company_slug=GLOBAL_SLUG) & ~models.Exists(
            lines.filter(type__in=tuple(GUARDED_LINES))
        )
        return self.filter(mine | shared)

    def about(self, target: str) -> ReceiptQuerySet:
        """Those with a line whose target begins with `target`, newest first."""
        lines = ReceiptLine.objects.filter(receipt=models.OuterRef("pk"), target__startswith=target)
        return self.filter(models.Exists(lines)).order_by("-at", "-id")


class ReceiptLineQuerySet(AppendOnlyQuerySet):
    """Lines by who may see their receipt."""

    def seen_by(self, user) -> ReceiptLineQuerySet:
        if user.is_superuser:
            return self
        mine = models.Q(receipt__company__in=user.companies.values("pk"))
        mine &= ~models.Q(type__in=_hidden_types(user))
        shared = models.Q(receipt__company_slug=GLOBAL_SLUG) & ~models.Q(type__in=tuple(GUARDED_LINES))
        return self.filter(mine | shared)


class Receipt(AppendOnlyModel):
    """One change, or one run, with copies of all names: it outlives what it speaks of."""

    company = models.ForeignKey(
        "companies.Company",
        models.DO_NOTHING,
        db_constraint=False,
        related_name="receipts",
        verbose_name=_("company"),
    )
    company_slug = models.CharField(max_length=50)
    agent = models.ForeignKey(
        "agents.Agent",
        models.DO_NOTHING,
        db_constraint=False,
        null=True,
        blank=True,
        related_name="receipts",
        verbose_name=_("agent"),
    )
    agent_name = models.CharField(_("agent"), max_length=100, blank=True)
    number = models.PositiveBigIntegerField(_("number"))
    type = models.CharField(_("type"), max_length=20, choices=ReceiptType.choices)
    trigger = models.CharField(_("trigger"), max_length=60)
    proposal_code = models.CharField(_("proposal"), max_length=20, blank=True)
    actor_name = models.CharField(_("who"), max_length=200)
    channel = models.CharField(_("door"), max_length=10)
    at = models.DateTimeField(_("when"))
    totals = models.JSONField(_("totals"), default=dict)
    detail = models.JSONField(_("detail"), default=dict)
    session_analysis_sha256 = models.CharField(max_length=64, blank=True)
    sha256 = models.CharField("SHA-256", max_length=64)
    previous_sha256 = models.CharField(_("SHA-256 of the previous receipt"), max_length=64, blank=True)

    objects = ReceiptQuerySet.as_manager()

    class Meta:
        verbose_name = _("receipt")
        verbose_name_plural = _("receipts")
        ordering = ("-at", "-id")
        constraints = [
            models.UniqueConstraint(fields=["company", "number"], name="receipts_receipt_company_number")
        ]
        # The list page: newest first, of all companies, within a company, or of an agent.
        indexes = [
            models.Index(fields=["-at", "-id"], name="receipts_receipt_at"),
            models.Index(fields=["company", "-at", "-id"], name="receipts_receipt_company_at"),
            models.Index(fields=["agent", "-at", "-id"], name="receipts_receipt_agent_at"),
        ]

    def __str__(self) -> str:
        return f"#{self.number}"


class ReceiptLine(AppendOnlyModel):
    """One thing that the change did, or was kept from doing."""

    receipt = models.ForeignKey(Receipt, models.DO_NOTHING, related_name="lines", verbose_name=_("receipt"))
    agent = models.ForeignKey(
        "agents.Agent",
        models.DO_NOTHING,
        db_constraint=False,
        null=True,
        blank=True,
        related_name="receipt_lines",
        verbose_name=_("agent"),
    )
    order = models.PositiveIntegerField(_("order"))
    type = models.CharField(_("type"), max_length=40)
    content_sha256 = models.CharField(max_length=64, blank=True)
    target = models.CharField(_("target"), max_length=255)
    risk_level = models.CharField(_("risk"), max_length=10, choices=RiskLevel.choices, blank=True)
    status = models.CharField(_("status"), max_length=15, choices=LineStatus.choices)
    document_version = models.PositiveIntegerField(_("document version"), null=True, blank=True)
    new_sha256 = models.CharField(_("SHA-256 of the new text"), max_length=64, blank=True)
    rejection_reason_sha256 = models.CharField(max_length=64, blank=True)

    objects = ReceiptLineQuerySet.as_manager()

    class Meta:
        verbose_name = _("receipt line")
        verbose_name_plural = _("receipt lines")
        ordering = ("receipt", "order", "id")
        constraints = [
            models.UniqueConstraint(fields=["receipt", "order"], name="receipts_receiptline_receipt_order")
        ]
        # The tab of the Agent page: newest lines of one agent.
        indexes = [models.Index(fields=["agent", "-receipt", "order"], name="receipts_line_agent")]

    def __str__(self) -> str:
        return f"{self.type} → {self.target}"


class ReceiptText(AppendOnlyModel):
    """Free text of a receipt or of one line; only its hash is in the chain, so that it may be erased."""

    erasable_fields = ("text",)

    receipt = models.ForeignKey(Receipt, models.DO_NOTHING, related_name="texts")
    line = models.ForeignKey(ReceiptLine, models.DO_NOTHING, null=True, related_name="texts")
    field = models.CharField(max_length=20)
    text = models.TextField(blank=True)

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["receipt", "field"], condition=models.Q(line=None), name="receipts_text_of_receipt"
            ),
            models.UniqueConstraint(
                fields=["line", "field"], condition=models.Q(line__isnull=False), name="receipts_text_of_line"
            ),
        ]

    def __str__(self) -> str:
        return self.field


class ReceiptHead(models.Model):
    """The end of a company's chain: locked by each new receipt, so that the chain never forks."""

    company = models.OneToOneField(
        "companies.Company", models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    number = models.PositiveBigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"{self.company_id}: {self.number}"

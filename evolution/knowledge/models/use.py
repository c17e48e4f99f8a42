"""Injection: what was handed out before a phase; Outcome: what using it brought; CausalScore: their sum."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from common.companies.models import ApiKey, Company
from evolution.knowledge.choices import Result
from evolution.knowledge.models.knowledge import Knowledge

MAX_TASK = 200
MAX_BUGS = 1000


class InjectionQuerySet(models.QuerySet["Injection"]):
    """Injections by company and age. An archived one is out of the lists, and still counts and answers."""

    def of_company(self, company: Company) -> InjectionQuerySet:
        return self.filter(company=company)

    def seen_by(self, user) -> InjectionQuerySet:
        return self if user.is_superuser else self.filter(company__in=user.companies.values("pk"))

    def due_for_archive(self, now: datetime, days: int) -> InjectionQuerySet:
        """Older than `days`: exactly that old stays."""
        return self.filter(archived_at=None, created_at__lt=now - timedelta(days=days))


class Injection(models.Model):
    """What was handed to a runtime. `items`: [{"id": "k-001", "kind": "use" | "avoid", "rank", "score", "sha256"}].

    `sha256` is of the delivered text: what a conversation was told already is not told again.
    """

    injection_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    company = models.ForeignKey(Company, models.PROTECT, related_name="+", verbose_name=_("company"))
    agent = models.ForeignKey(
        Agent, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("agent")
    )
    phase = models.CharField(_("phase"), max_length=50, blank=True)
    keywords = models.JSONField(_("keywords"), default=list, blank=True)
    task = models.CharField(_("task"), max_length=MAX_TASK, blank=True)
    workflow = models.CharField(_("workflow"), max_length=200, blank=True)
    conversation_id = models.CharField(_("conversation"), max_length=200, blank=True)
    items = models.JSONField(_("items"), default=list, blank=True)
    item_count = models.PositiveIntegerField(_("number of items"), default=0)
    is_prompt = models.BooleanField(_("for a prompt"), default=False)
    asked_by = models.CharField(_("asked by"), max_length=200, blank=True)
    created_at = models.DateTimeField(_("created"))
    archived_at = models.DateTimeField(_("archived"), null=True, blank=True)

    objects = InjectionQuerySet.as_manager()

    class Meta:
        verbose_name = _("injection")
        verbose_name_plural = _("injections")
        ordering = ("-created_at", "-id")
        indexes = [
            models.Index(fields=["company", "-created_at", "-id"], name="knowledge_injection_recent"),
            # What was this conversation told?
            models.Index(
                fields=["company", "conversation_id"],
                condition=~Q(conversation_id=""),
                name="knowledge_injection_talk",
            ),
            # What is older than its keeping time.
            models.Index(
                fields=["created_at"], condition=Q(archived_at=None), name="knowledge_injection_age"
            ),
        ]

    def __str__(self) -> str:
        return str(self.injection_id)


class OutcomeQuerySet(models.QuerySet["Outcome"]):
    """Outcomes by company and item."""

    def of_company(self, company: Company) -> OutcomeQuerySet:
        return self.filter(company=company)

    def seen_by(self, user) -> OutcomeQuerySet:
        return self if user.is_superuser else self.filter(company__in=user.companies.values("pk"))


class Outcome(models.Model):
    """What applying one item once really brought; kept for ever, also when the item is purged (`code` is a copy)."""

    company = models.ForeignKey(Company, models.PROTECT, related_name="+", verbose_name=_("company"))
    knowledge = models.ForeignKey(
        Knowledge, models.SET_NULL, null=True, related_name="outcomes", verbose_name=_("knowledge")
    )
    code = models.CharField(_("code"), max_length=20)
    injection = models.ForeignKey(
        Injection,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="outcomes",
        verbose_name=_("injection"),
    )
    task = models.CharField(_("task"), max_length=MAX_TASK, blank=True)
    result = models.CharField(_("result"), max_length=10, choices=Result.choices)
    time_saved_minutes = models.IntegerField(_("minutes saved"), null=True, blank=True)
    bugs_introduced = models.PositiveIntegerField(_("bugs introduced"), default=0)
    notes = models.TextField(_("notes"), blank=True)
    idempotency_key = models.CharField(max_length=200, null=True, blank=True, editable=False)  # noqa: DJ001
    created_by = models.CharField(_("reported by"), max_length=200)
    created_by_key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(_("when"))
    quarantined_at = models.DateTimeField(_("in quarantine since"), null=True, blank=True, editable=False)

    objects = OutcomeQuerySet.as_manager()

    class Meta:
        verbose_name = _("outcome")
        verbose_name_plural = _("outcomes")
        ordering = ("-at", "-id")
        constraints = [
            models.UniqueConstraint(
                fields=["knowledge", "task", "idempotency_key"], name="knowledge_outcome_once"
            ),
            models.CheckConstraint(condition=Q(result__in=Result.values), name="knowledge_outcome_result"),
            models.CheckConstraint(condition=Q(bugs_introduced__lte=MAX_BUGS), name="knowledge_outcome_bugs"),
        ]
        indexes = [models.Index(fields=["knowledge", "at"], name="knowledge_outcome_item")]

    def __str__(self) -> str:
        return f"{self.code} {self.result}"


class CausalScore(models.Model):
    """What the outcomes of one item say, kept beside them so that ten thousand items can be ranked.

    `samples` are the outcomes that count, `thousandths` the score × 1000; `services.outcomes.refresh_scores` writes
    both with every change of them. `warned_at`: when a warning was made of the item, of which there is never a
    second one.
    """

    knowledge = models.OneToOneField(
        Knowledge, models.CASCADE, primary_key=True, related_name="causal", verbose_name=_("knowledge")
    )
    company = models.ForeignKey(Company, models.PROTECT, related_name="+", verbose_name=_("company"))
    samples = models.PositiveIntegerField(_("outcomes"), default=0)
    thousandths = models.SmallIntegerField(_("causal score in thousandths"), default=0)
    warned_at = models.DateTimeField(_("warning made"), null=True, blank=True)

    class Meta:
        verbose_name = _("causal score")
        verbose_name_plural = _("causal scores")
        # The scores of a company that are known.
        indexes = [models.Index(fields=["company", "samples"], name="knowledge_causal_known")]

    def __str__(self) -> str:
        return f"{self.knowledge_id} {self.score}"

    @property
    def score(self) -> Decimal:
        """Exact, three places."""
        return Decimal(self.thousandths).scaleb(-3)

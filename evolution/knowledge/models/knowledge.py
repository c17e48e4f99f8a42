"""Knowledge: a reusable finding; ConfidenceEvent: what changed its confidence."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from common.companies.models import ApiKey, Company
from common.counters.rules import format_code
from common.models import AppendOnlyModel, AppendOnlyQuerySet
from common.text import show_hidden
from evolution.knowledge.choices import Category, EventKind, KnowledgeSource, Status
from evolution.knowledge.models.queue import LearningItem

PREFIX = "k-"
MAX_TITLE = 200
MAX_SUMMARY = 1000
MAX_DETAILS = 20_000
DEPRECATED_KEPT_FOR = timedelta(days=7)
DRAFT_KEPT_FOR = timedelta(days=14)


class KnowledgeQuerySet(models.QuerySet["Knowledge"]):
    """Items by company, state and who may see them."""

    def of_company(self, company: Company) -> KnowledgeQuerySet:
        return self.filter(company=company)

    def seen_by(self, user) -> KnowledgeQuerySet:
        """All for a superuser, else those of the person's companies."""
        return self if user.is_superuser else self.filter(company__in=user.companies.values("pk"))

    def for_agent(self, agent_id: int | None) -> KnowledgeQuerySet:
        """Those of the agent and those of all agents; everything without an agent."""
        return self if agent_id is None else self.filter(Q(agent_id=agent_id) | Q(agent_id=None))

    def injectable(self) -> KnowledgeQuerySet:
        """What may reach a runtime: confirmed by a person, switched on, not in quarantine."""
        return self.filter(status=Status.ACTIVE, enabled=True, quarantined_at=None)

    def drafts(self) -> KnowledgeQuerySet:
        """Those that wait for a person."""
        return self.filter(status=Status.DRAFT)

    def due_for_archive(self, now: datetime) -> KnowledgeQuerySet:
        """Deprecated for more than 7 days, or waiting for a person for more than 14."""
        deprecated = Q(status=Status.DEPRECATED, deprecated_at__lt=now - DEPRECATED_KEPT_FOR)
        return self.filter(deprecated | Q(status=Status.DRAFT, drafted_at__lt=now - DRAFT_KEPT_FOR))


class Knowledge(models.Model):
    """k-NNN, ordered per agent (no agent: for all of the company). Written by the services of this room only.

    `confidence` is what replaying the events gives. `vouched` is the confidence when a person last stood for the
    item: how far one runtime alone can raise it is counted from there. `title_key` finds the same finding again.
    Only a person makes it active, for exactly the text of `confirmed_sha256`. What a person deprecated
    (`deprecated_by`) no confidence brings back.
    """

    company = models.ForeignKey(Company, models.PROTECT, related_name="knowledge", verbose_name=_("company"))
    agent = models.ForeignKey(
        Agent,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="knowledge",
        verbose_name=_("agent"),
        help_text=_("Empty: for all agents of the company."),
    )
    number = models.PositiveBigIntegerField(_("number"), editable=False)
    order = models.PositiveIntegerField(_("order"), default=0)
    enabled = models.BooleanField(_("enabled"), default=True, help_text=_("Off: never handed to a runtime."))
    title = models.CharField(_("title"), max_length=MAX_TITLE)
    title_key = models.CharField(max_length=64, editable=False)
    category = models.CharField(_("category"), max_length=20, choices=Category.choices)
    tags = models.JSONField(_("tags"), default=list, blank=True)
    summary = models.TextField(_("summary"), blank=True)
    details = models.TextField(_("details"), blank=True)
    code_example = models.TextField(_("code example"), blank=True)
    code_language = models.CharField(_("language of the code"), max_length=40, blank=True)
    references = models.JSONField(_("references"), default=list, blank=True)
    related = models.ManyToManyField(
        "self", blank=True, symmetrical=True, verbose_name=_("related knowledge")
    )
    source_type = models.CharField(
        _("source"), max_length=20, choices=KnowledgeSource.choices, default=KnowledgeSource.MANUAL
    )
    source = models.ForeignKey(
        LearningItem,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="knowledge",
        verbose_name=_("report"),
    )
    anti_of = models.OneToOneField(
        "self",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="anti_knowledge",
        verbose_name=_("warns about"),
    )
    confidence = models.DecimalField(_("confidence"), max_digits=4, decimal_places=3, default=Decimal("0.7"))
    vouched = models.DecimalField(max_digits=4, decimal_places=3, default=Decimal("0.7"), editable=False)
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.DRAFT)
    redactions = models.JSONField(_("redactions"), default=dict, blank=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)
    drafted_at = models.DateTimeField(_("draft since"), default=timezone.now)
    verified_at = models.DateTimeField(_("verified"), null=True, blank=True)
    referenced_at = models.DateTimeField(_("referenced"), null=True, blank=True)
    applied_at = models.DateTimeField(_("applied"), null=True, blank=True)
    last_decay_at = models.DateTimeField(_("last decay"), null=True, blank=True)
    deprecated_at = models.DateTimeField(_("deprecated"), null=True, blank=True)
    deprecated_by = models.CharField(_("deprecated by"), max_length=200, blank=True)
    archived_at = models.DateTimeField(_("archived"), null=True, blank=True)
    quarantined_at = models.DateTimeField(_("in quarantine since"), null=True, blank=True, editable=False)
    confirmed_by = models.CharField(_("confirmed by"), max_length=200, blank=True)
    confirmed_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    confirmed_at = models.DateTimeField(_("confirmed"), null=True, blank=True)
    confirmed_sha256 = models.CharField(_("confirmed text (SHA-256)"), max_length=64, blank=True)
    created_by = models.CharField(_("reported by"), max_length=200)
    created_by_key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, blank=True, related_name="+")
    version = models.PositiveIntegerField(_("version"), default=1)

    objects = KnowledgeQuerySet.as_manager()

    class Meta:
        verbose_name = _("knowledge")
        verbose_name_plural = _("knowledge")
        ordering = ("-number", "-id")
        permissions = [
            ("confirm_knowledge", "Can activate, deprecate, archive and restore knowledge"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["company", "number"], name="knowledge_knowledge_number"),
            models.CheckConstraint(
                condition=Q(title__length__gte=1) & Q(title__length__lte=MAX_TITLE),
                name="knowledge_knowledge_title_length",
            ),
            models.CheckConstraint(
                condition=Q(summary__length__lte=MAX_SUMMARY), name="knowledge_knowledge_summary_length"
            ),
            models.CheckConstraint(
                condition=Q(details__length__lte=MAX_DETAILS), name="knowledge_knowledge_details_length"
            ),
            models.CheckConstraint(
                condition=Q(confidence__gte=0) & Q(confidence__lte=1), name="knowledge_knowledge_confidence"
            ),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="knowledge_knowledge_status"),
            models.CheckConstraint(
                condition=Q(category__in=Category.values), name="knowledge_knowledge_category"
            ),
            models.CheckConstraint(
                condition=~Q(status=Status.ACTIVE) | ~Q(confirmed_sha256=""),
                name="knowledge_knowledge_active_is_confirmed",
            ),
            models.CheckConstraint(
                condition=~Q(anti_of=models.F("id")), name="knowledge_knowledge_not_its_own_warning"
            ),
        ]
        indexes = [
            # The list, and the queue of drafts: the most trusted first.
            models.Index(fields=["company", "status", "-confidence", "-number"], name="knowledge_by_status"),
            # One agent's items in order.
            models.Index(fields=["company", "agent", "order", "id"], name="knowledge_agent_order"),
            # Is this finding known already?
            models.Index(fields=["company", "category", "title_key"], name="knowledge_same_title"),
            # Deprecated ones whose time is over.
            models.Index(
                fields=["deprecated_at"],
                condition=Q(status=Status.DEPRECATED),
                name="knowledge_by_deprecation",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.code} {show_hidden(self.title)}"

    @property
    def code(self) -> str:
        """k-007."""
        return format_code(PREFIX, self.number)


class ConfidenceEventQuerySet(AppendOnlyQuerySet):
    """Events in the order they happened."""

    def seen_by(self, user) -> ConfidenceEventQuerySet:
        return self if user.is_superuser else self.filter(company__in=user.companies.values("pk"))

    def of_item(self, knowledge_id: int) -> ConfidenceEventQuerySet:
        return self.filter(knowledge_id=knowledge_id).order_by("id")


class ConfidenceEvent(AppendOnlyModel):
    """One change of one confidence, for ever: it outlives a purged item (`code` is a copy).

    `delta` is what the event was worth before `after` was clamped to 0..1. `source_id` tells the occasion; the
    same occasion of the same kind counts once. `principal` is who stood behind it: `user:7`, `key:3`, or empty
    for the house itself.
    """

    company = models.ForeignKey(Company, models.PROTECT, related_name="+", verbose_name=_("company"))
    knowledge = models.ForeignKey(
        Knowledge,
        models.DO_NOTHING,
        db_constraint=False,
        related_name="confidence_events",
        verbose_name=_("knowledge"),
    )
    code = models.CharField(_("code"), max_length=20)
    kind = models.CharField(_("event"), max_length=12, choices=EventKind.choices)
    delta = models.DecimalField(_("change"), max_digits=6, decimal_places=3)
    before = models.DecimalField(_("before"), max_digits=4, decimal_places=3)
    after = models.DecimalField(_("after"), max_digits=4, decimal_places=3)
    actor = models.CharField(_("by"), max_length=200)
    principal = models.CharField(max_length=30, blank=True)
    source_id = models.CharField(_("occasion"), max_length=300, blank=True)
    at = models.DateTimeField(_("when"))

    objects = ConfidenceEventQuerySet.as_manager()

    class Meta:
        verbose_name = _("change of confidence")
        verbose_name_plural = _("changes of confidence")
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(
                fields=["knowledge", "kind", "source_id"],
                condition=~Q(source_id=""),
                name="knowledge_event_occasion",
            ),
        ]
        indexes = [
            # What did this principal add to this item?
            models.Index(fields=["knowledge", "principal"], name="knowledge_event_principal"),
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.kind} {self.delta}"

"""LearningItem: a report waiting to be learnt from. The row is the job."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from common.companies.models import ApiKey, Company
from common.counters.rules import format_code
from common.models import TimestampedModel
from evolution.knowledge.choices import LearningStatus, Priority, SourceType

QUEUE_PREFIX = "LQ-"
MAX_SOURCE_ID = 200
MAX_ATTEMPTS = 3
LEASE = timedelta(minutes=10)
DONE_KEPT_FOR = timedelta(days=7)


class LearningItemQuerySet(models.QuerySet["LearningItem"]):
    """Reports by company, state and turn."""

    def of_company(self, company: Company) -> LearningItemQuerySet:
        return self.filter(company=company)

    def seen_by(self, user) -> LearningItemQuerySet:
        """All for a superuser, else those of the person's companies."""
        return self if user.is_superuser else self.filter(company__in=user.companies.values("pk"))

    def waiting(self, now: datetime) -> LearningItemQuerySet:
        """Those that may be taken: pending, or taken by somebody who never came back. Not the quarantined."""
        lost = Q(status=LearningStatus.PROCESSING, leased_until__lt=now)
        return self.filter(Q(status=LearningStatus.PENDING) | lost, quarantined_at=None)

    def due_for_purge(self, now: datetime) -> LearningItemQuerySet:
        """Done for more than 7 days; those given up stay."""
        return self.filter(status=LearningStatus.DONE, processed_at__lt=now - DONE_KEPT_FOR)


class LearningItem(TimestampedModel):
    """LQ-NNN. The same (company, source type, source id) is one item, however often it is reported.

    `metadata`: {"description", "error_type", "root_cause", "solution", "files_changed", "category", …}, redacted.
    `result` is the code of what came of it (k-001, P-002, …), `note` the reason when nothing did.
    """

    company = models.ForeignKey(
        Company, models.PROTECT, related_name="learning_items", verbose_name=_("company")
    )
    agent = models.ForeignKey(
        Agent,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="learning_items",
        verbose_name=_("agent"),
    )
    number = models.PositiveBigIntegerField(_("number"), editable=False)
    source_type = models.CharField(_("kind of report"), max_length=20, choices=SourceType.choices)
    source_id = models.CharField(_("id at the source"), max_length=MAX_SOURCE_ID)
    priority = models.CharField(_("priority"), max_length=2, choices=Priority.choices)
    metadata = models.JSONField(_("report"), default=dict, blank=True)
    redactions = models.JSONField(_("redactions"), default=dict, blank=True)
    status = models.CharField(
        _("status"), max_length=10, choices=LearningStatus.choices, default=LearningStatus.PENDING
    )
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    error = models.TextField(_("error"), blank=True)
    result = models.CharField(_("result"), max_length=20, blank=True)
    note = models.CharField(_("why nothing came of it"), max_length=300, blank=True)
    processed_at = models.DateTimeField(_("processed"), null=True, blank=True)
    leased_until = models.DateTimeField(_("taken until"), null=True, blank=True)
    created_by = models.CharField(_("reported by"), max_length=200)
    created_by_key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, blank=True, related_name="+")
    quarantined_at = models.DateTimeField(_("in quarantine since"), null=True, blank=True, editable=False)

    objects = LearningItemQuerySet.as_manager()

    class Meta:
        verbose_name = _("report to learn from")
        verbose_name_plural = _("learning queue")
        ordering = ("priority", "id")
        constraints = [
            models.UniqueConstraint(fields=["company", "number"], name="knowledge_learningitem_number"),
            models.UniqueConstraint(
                fields=["company", "source_type", "source_id"], name="knowledge_learningitem_source"
            ),
            models.CheckConstraint(
                condition=Q(source_id__length__gte=1) & Q(source_id__length__lte=MAX_SOURCE_ID),
                name="knowledge_learningitem_source_id_length",
            ),
            models.CheckConstraint(
                condition=Q(status__in=LearningStatus.values), name="knowledge_learningitem_status"
            ),
        ]
        indexes = [
            # The next ones: by priority, first come first served.
            models.Index(fields=["company", "status", "priority", "id"], name="knowledge_queue_turn"),
            # Done ones whose time is over.
            models.Index(
                fields=["processed_at"],
                condition=Q(status=LearningStatus.DONE),
                name="knowledge_queue_done",
            ),
        ]

    def __str__(self) -> str:
        return self.code

    @property
    def code(self) -> str:
        """LQ-007."""
        return format_code(QUEUE_PREFIX, self.number)

"""What was recalled, whether it helped, and what was answered before a change was merged."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from common.companies.models import ApiKey, Company
from evolution.lessons.choices import Purpose, Verdict
from evolution.lessons.models.lesson import Lesson

RECALLS_KEPT_FOR = timedelta(days=90)


class OfCompanyQuerySet(models.QuerySet):
    """Rows of a company, by who may see them."""

    def seen_by(self, user) -> OfCompanyQuerySet:
        """All for a superuser, else those of the person's companies."""
        return self if user.is_superuser else self.filter(company__in=user.companies.values("pk"))


class RecallLogQuerySet(OfCompanyQuerySet):
    """Recalls by age. An archived one is out of the lists, and still counts and answers."""

    def due_for_archive(self, now: datetime) -> RecallLogQuerySet:
        """Older than 90 days: exactly 90 days old stays. docs/rules.md: recall log retention."""
        return self.filter(archived_at=None, created_at__lt=now - RECALLS_KEPT_FOR)

    def archived(self) -> RecallLogQuerySet:
        return self.exclude(archived_at=None)


class RecallLog(models.Model):
    """One recall by a runtime. `hits` is [{"lesson": "EXP-001", "score", "relevance", "band"}], best first."""

    recall_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    company = models.ForeignKey(Company, models.PROTECT, related_name="+", verbose_name=_("company"))
    agent = models.ForeignKey(
        Agent, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("agent")
    )
    purpose = models.CharField(_("purpose"), max_length=20, choices=Purpose.choices)
    reference = models.CharField(_("reference"), max_length=200, blank=True)
    task = models.CharField(_("task"), max_length=200, blank=True)
    tags = models.JSONField(_("tags"), default=list, blank=True)
    files = models.JSONField(_("files"), default=list, blank=True)
    hits = models.JSONField(_("hits"), default=list, blank=True)
    hit_count = models.PositiveIntegerField(_("number of hits"), default=0)
    scanned = models.PositiveIntegerField(_("lessons looked at"), default=0)
    duration_ms = models.FloatField(_("duration (ms)"), default=0)
    asked_by = models.CharField(_("asked by"), max_length=200, blank=True)
    created_at = models.DateTimeField(_("created"))
    archived_at = models.DateTimeField(_("archived"), null=True, blank=True)

    objects = RecallLogQuerySet.as_manager()

    class Meta:
        verbose_name = _("recall")
        verbose_name_plural = _("recalls")
        ordering = ("-created_at", "-id")
        indexes = [
            models.Index(fields=["company", "-created_at", "-id"], name="lessons_recall_recent"),
            # Was anything recalled for this change?
            models.Index(fields=["company", "reference"], name="lessons_recall_reference"),
            # What is older than its keeping time.
            models.Index(fields=["created_at"], condition=Q(archived_at=None), name="lessons_recall_age"),
        ]

    def __str__(self) -> str:
        return str(self.recall_id)


class RecallOutcome(models.Model):
    """A lesson that a recall returned, and whether it helped (null: nobody said)."""

    recall = models.ForeignKey(RecallLog, models.CASCADE, related_name="outcomes")
    lesson = models.ForeignKey(
        Lesson, models.CASCADE, related_name="recall_outcomes", verbose_name=_("lesson")
    )
    position = models.PositiveSmallIntegerField(_("place"), default=0)
    score = models.FloatField(_("score"), default=0)
    relevance = models.FloatField(_("relevance"), default=0)
    helped = models.BooleanField(_("helped"), null=True, blank=True)
    note = models.CharField(_("note"), max_length=500, blank=True)
    reported_by = models.CharField(_("reported by"), max_length=200, blank=True)
    reported_at = models.DateTimeField(_("reported"), null=True, blank=True)

    class Meta:
        verbose_name = _("recalled lesson")
        verbose_name_plural = _("recalled lessons")
        constraints = [
            models.UniqueConstraint(fields=["recall", "lesson"], name="lessons_outcome_recall_lesson"),
        ]
        # The recall history of a lesson.
        indexes = [models.Index(fields=["lesson", "-id"], name="lessons_outcome_lesson")]

    def __str__(self) -> str:
        return f"{self.recall_id} {self.lesson_id}"


class ChangeCheck(models.Model):
    """The last check of a change, by its reference."""

    company = models.ForeignKey(Company, models.PROTECT, related_name="+", verbose_name=_("company"))
    reference = models.CharField(_("reference"), max_length=200)
    verdict = models.CharField(_("verdict"), max_length=10, choices=Verdict.choices)
    subject = models.CharField(_("subject"), max_length=500, blank=True)
    modified_files = models.JSONField(_("changed files"), default=list, blank=True)
    result = models.JSONField(_("result"), default=dict, blank=True)
    checked_by = models.CharField(_("asked by"), max_length=200)
    created_at = models.DateTimeField(_("first checked"))
    updated_at = models.DateTimeField(_("last checked"))

    objects = OfCompanyQuerySet.as_manager()

    class Meta:
        verbose_name = _("check of a change")
        verbose_name_plural = _("checks of changes")
        ordering = ("-updated_at", "-id")
        constraints = [
            models.UniqueConstraint(fields=["company", "reference"], name="lessons_changecheck_reference"),
            models.CheckConstraint(
                condition=Q(reference__length__gte=1) & Q(reference__length__lte=200),
                name="lessons_changecheck_reference_length",
            ),
        ]
        indexes = [models.Index(fields=["company", "-updated_at", "-id"], name="lessons_changecheck_recent")]

    def __str__(self) -> str:
        return self.reference


class LessonCheck(models.Model):
    """What was answered to one item of a lesson's checklist, for one change. `item` counts from 0."""

    company = models.ForeignKey(Company, models.PROTECT, related_name="+", verbose_name=_("company"))
    reference = models.CharField(_("reference"), max_length=200)
    lesson = models.ForeignKey(Lesson, models.CASCADE, related_name="checks", verbose_name=_("lesson"))
    item = models.PositiveSmallIntegerField(_("item"))
    done = models.BooleanField(_("done"))
    note = models.CharField(_("note"), max_length=500, blank=True)
    answered_by = models.CharField(_("answered by"), max_length=200)
    answered_by_key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(_("answered"))

    objects = OfCompanyQuerySet.as_manager()

    class Meta:
        verbose_name = _("answer to a checklist item")
        verbose_name_plural = _("answers to checklist items")
        constraints = [
            models.UniqueConstraint(
                fields=["company", "reference", "lesson", "item"], name="lessons_check_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reference} {self.lesson_id}/{self.item}"

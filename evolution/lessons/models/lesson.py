"""Lesson: the record of one mistake."""

from __future__ import annotations

from datetime import date

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agents.models import Agent, Document
from common.choices import GLOBAL_SLUG
from common.companies.models import ApiKey, Company
from common.models import TimestampedModel
from common.text import show_hidden
from evolution.lessons.choices import ArchiveReason, KeyKind, Source, Status
from evolution.lessons.models.repository import Repository
from evolution.lessons.rules.kinds import (
    MAX_PART,
    MAX_TAKEAWAY,
    MAX_TITLE,
    MAX_TRIGGER,
    Category,
    LessonType,
    lesson_code,
)
from evolution.lessons.rules.kinds import Severity as SeverityWord
from experiences.models import Experience

PREFIX = "EXP-"


class LessonQuerySet(models.QuerySet["Lesson"]):
    """Lessons by company, state and who may see them."""

    def of_company(self, company: Company) -> LessonQuerySet:
        return self.filter(company=company)

    def seen_by(self, user) -> LessonQuerySet:
        """All for a superuser, else those of the person's companies and of `_global`."""
        if user.is_superuser:
            return self
        return self.filter(Q(company__in=user.companies.all()) | Q(company__slug=GLOBAL_SLUG))

    def written_by(self, user) -> LessonQuerySet:
        """Those of companies that the person is a member of: only about these can they decide."""
        return self if user.is_superuser else self.filter(company__in=user.companies.values("pk"))

    def for_agent(self, agent_id: int | None) -> LessonQuerySet:
        """Those of the agent and those of all agents; everything without an agent."""
        return self if agent_id is None else self.filter(Q(agent_id=agent_id) | Q(agent_id=None))

    def trusted(self) -> LessonQuerySet:
        """Without those in quarantine."""
        return self.filter(quarantined_at=None)

    def active(self) -> LessonQuerySet:
        return self.trusted().filter(status=Status.ACTIVE)

    def drafts(self) -> LessonQuerySet:
        """Those that wait for a person."""
        return self.trusted().filter(status=Status.DRAFT)

    def expired(self, today: date) -> LessonQuerySet:
        """Active ones whose last day is over; whether they may be archived, `rules.lifetime` says."""
        return self.active().filter(expires_on__lt=today)


class Lesson(TimestampedModel):
    """EXP-NNN. `version` is its ETag. Written by the services of this room only.

    `type`, `severity` and `category` of an import are kept as written, so the database does not list them.
    """

    company = models.ForeignKey(Company, models.PROTECT, related_name="lessons", verbose_name=_("company"))
    agent = models.ForeignKey(
        Agent,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="lessons",
        verbose_name=_("agent"),
        help_text=_("Empty: for all agents of the company."),
    )
    number = models.PositiveBigIntegerField(_("number"), editable=False)
    title = models.CharField(_("title"), max_length=MAX_TITLE)
    type = models.CharField(_("type"), max_length=40, default=LessonType.BUG_FIX.value)
    severity = models.CharField(_("severity"), max_length=20, default=SeverityWord.MEDIUM.value)
    category = models.CharField(_("category"), max_length=40, default=Category.PRACTICE.value)
    date = models.DateField(_("date"))
    trigger = models.CharField(_("trigger"), max_length=MAX_TRIGGER, blank=True)
    tags = models.JSONField(_("tags"), default=list, blank=True)
    related_files = models.JSONField(_("related files"), default=list, blank=True)
    files_left_out = models.PositiveIntegerField(
        _("further files"), default=0, help_text=_("Changed as well, and not listed.")
    )
    what = models.TextField(_("what went wrong"), blank=True)
    when = models.TextField(_("what set it off"), blank=True)
    how = models.TextField(_("how it was put right"), blank=True)
    takeaway = models.TextField(_("takeaway"), blank=True)
    checklist = models.JSONField(_("checklist"), default=list, blank=True)
    related = models.ManyToManyField("self", blank=True, symmetrical=True, verbose_name=_("related lessons"))
    references = models.JSONField(_("references"), default=list, blank=True)
    supersedes = models.OneToOneField(
        "self",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="superseded_by",
        verbose_name=_("supersedes"),
    )
    rule_experience = models.ForeignKey(
        Experience,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("rule: experience"),
    )
    rule_document = models.ForeignKey(
        Document, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("rule: document")
    )
    signal = models.CharField(_("signal"), max_length=40, blank=True)
    model = models.CharField(_("model"), max_length=100, blank=True)
    config_hash = models.CharField(_("configuration hash"), max_length=128, blank=True)
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.DRAFT)
    expires_on = models.DateField(_("expires"), null=True, blank=True)
    expires_manual = models.BooleanField(_("expiry set by hand"), default=False)
    archived_at = models.DateTimeField(_("archived"), null=True, blank=True)
    archive_reason = models.CharField(
        _("reason of the archive"), max_length=10, choices=ArchiveReason.choices, blank=True
    )
    source = models.CharField(_("source"), max_length=10, choices=Source.choices, default=Source.MANUAL)
    repository = models.ForeignKey(
        Repository,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="lessons",
        verbose_name=_("repository"),
    )
    sha = models.CharField(_("commit"), max_length=64, blank=True)
    subject = models.CharField(_("subject of the commit"), max_length=500, blank=True)
    reverts_sha = models.CharField(_("reverted commit"), max_length=64, blank=True)
    capture_confidence = models.FloatField(_("confidence of the capture"), null=True, blank=True)
    extras = models.JSONField(_("further fields of the file"), default=dict, blank=True)
    warnings = models.JSONField(_("warnings"), default=list, blank=True)
    redactions = models.JSONField(
        _("redactions"),
        default=dict,
        blank=True,
        help_text=_("Secrets taken out before it was stored, by kind."),
    )
    recalled_count = models.PositiveIntegerField(_("recalls"), default=0)
    helped_count = models.PositiveIntegerField(_("helped"), default=0)
    not_helped_count = models.PositiveIntegerField(_("did not help"), default=0)
    last_recalled_at = models.DateTimeField(_("last recalled"), null=True, blank=True)
    created_by = models.CharField(_("reported by"), max_length=200)
    created_by_key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, blank=True, related_name="+")
    decided_by = models.CharField(_("decided by"), max_length=200, blank=True)
    decided_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(_("decided"), null=True, blank=True)
    decision_reason = models.TextField(_("reason"), blank=True)
    quarantined_at = models.DateTimeField(_("in quarantine since"), null=True, blank=True, editable=False)
    version = models.PositiveIntegerField(_("version"), default=1)

    objects = LessonQuerySet.as_manager()

    class Meta:
        verbose_name = _("lesson")
        verbose_name_plural = _("lessons")
        ordering = ("-number", "-id")
        permissions = [
            ("confirm_lesson", "Can confirm, reject, archive and restore lessons"),
            ("promote_lesson", "Can make a lesson an experience"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["company", "number"], name="lessons_lesson_company_number"),
            models.CheckConstraint(
                condition=Q(title__length__gte=1) & Q(title__length__lte=MAX_TITLE),
                name="lessons_lesson_title_length",
            ),
            models.CheckConstraint(
                condition=Q(takeaway__length__lte=MAX_TAKEAWAY), name="lessons_lesson_takeaway_length"
            ),
            models.CheckConstraint(
                condition=Q(what__length__lte=MAX_PART)
                & Q(when__length__lte=MAX_PART)
                & Q(how__length__lte=MAX_PART),
                name="lessons_lesson_part_length",
            ),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="lessons_lesson_status"),
            models.CheckConstraint(
                condition=~Q(supersedes=models.F("id")), name="lessons_lesson_not_its_own_successor"
            ),
        ]
        indexes = [
            # The list: one company's lessons of a state, newest number first.
            models.Index(fields=["company", "status", "-number"], name="lessons_by_status"),
            # The nightly archive.
            models.Index(
                fields=["company", "expires_on"], condition=Q(status="active"), name="lessons_by_expiry"
            ),
            # Above the cap the least recently recalled go.
            models.Index(
                fields=["company", "category", "last_recalled_at"],
                condition=Q(status="active"),
                name="lessons_by_recall",
            ),
            # Has this commit been captured?
            models.Index(fields=["repository", "sha"], name="lessons_by_commit"),
        ]

    def __str__(self) -> str:
        return f"{self.code} {show_hidden(self.title)}"

    @property
    def code(self) -> str:
        """EXP-007."""
        return lesson_code(self.number)


class LessonKey(models.Model):
    """A tag (as key) or a related file of a lesson, for looking lessons up; derived from the lesson's lists."""

    lesson = models.ForeignKey(Lesson, models.CASCADE, related_name="keys")
    kind = models.CharField(max_length=4, choices=KeyKind.choices)
    key = models.CharField(max_length=500)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["lesson", "kind", "key"], name="lessons_key_lesson_kind_key"),
        ]
        # Which lessons list this file or have this tag?
        indexes = [models.Index(fields=["kind", "key", "lesson"], name="lessons_key_lookup")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class LessonCitation(models.Model):
    """Something that cites a lesson (`reference`, e.g. EP-007); while `is_open` the lesson is not archived.

    Written by higher rooms through `services.citations`.
    """

    lesson = models.ForeignKey(Lesson, models.CASCADE, related_name="citations")
    reference = models.CharField(_("cited by"), max_length=200)
    is_open = models.BooleanField(_("open"), default=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("citation")
        verbose_name_plural = _("citations")
        constraints = [
            models.UniqueConstraint(fields=["lesson", "reference"], name="lessons_citation_lesson_reference"),
        ]
        indexes = [models.Index(fields=["reference"], name="lessons_citation_reference")]

    def __str__(self) -> str:
        return f"{self.reference} → {self.lesson_id}"

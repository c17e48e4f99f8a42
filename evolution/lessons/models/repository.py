"""Repository: a git history that staff allow to be read, and which commits of it were seen."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from common.companies.models import Company
from common.models import TimestampedModel
from evolution.lessons.choices import Severity


class RepositoryQuerySet(models.QuerySet["Repository"]):
    """Repositories by switch and who may see them."""

    def enabled(self) -> RepositoryQuerySet:
        return self.filter(enabled=True)

    def seen_by(self, user) -> RepositoryQuerySet:
        """All for a superuser, else those of the person's companies: a path of a server is nobody else's."""
        return self if user.is_superuser else self.filter(company__in=user.companies.values("pk"))

    written_by = seen_by


class Repository(TimestampedModel):
    """Where lessons are captured from. Nothing is read before staff add a row."""

    company = models.ForeignKey(
        Company, models.PROTECT, related_name="repositories", verbose_name=_("company")
    )
    agent = models.ForeignKey(
        Agent,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="repositories",
        verbose_name=_("agent"),
        help_text=_("Empty: what is captured is for all agents of the company."),
    )
    name = models.CharField(_("name"), max_length=100)
    path = models.CharField(
        _("path"),
        max_length=500,
        blank=True,
        help_text=_("The folder on the server. Empty: commits are only sent through the API."),
    )
    enabled = models.BooleanField(_("enabled"), default=True)
    cursor_sha = models.CharField(_("read up to"), max_length=64, blank=True, editable=False)
    last_scan_at = models.DateTimeField(_("last read"), null=True, blank=True, editable=False)
    last_report = models.JSONField(_("last report"), default=dict, blank=True, editable=False)
    churn_threshold = models.PositiveSmallIntegerField(
        _("often changed: commits"), default=3, help_text=_("From 2 to 100.")
    )
    churn_window_days = models.PositiveSmallIntegerField(
        _("often changed: days"), default=7, help_text=_("From 1 to 90.")
    )
    churn_strict = models.BooleanField(
        _("often changed: fixes only"), default=False, help_text=_("Count only fixes and reverts.")
    )
    churn_ignore = models.JSONField(
        _("often changed: ignored"),
        default=list,
        blank=True,
        help_text=_("Patterns of paths, beside those that are always ignored."),
    )
    min_severity = models.CharField(
        _("least severity"), max_length=10, choices=Severity.choices, default=Severity.LOW
    )

    objects = RepositoryQuerySet.as_manager()

    class Meta:
        verbose_name = _("repository")
        verbose_name_plural = _("repositories")
        ordering = ("company", "name", "id")
        constraints = [
            models.UniqueConstraint(fields=["company", "name"], name="lessons_repository_company_name"),
            models.CheckConstraint(
                condition=Q(name__length__gte=1) & Q(name__length__lte=100),
                name="lessons_repository_name_length",
            ),
            models.CheckConstraint(
                condition=Q(churn_threshold__gte=2) & Q(churn_threshold__lte=100),
                name="lessons_repository_churn_threshold",
            ),
            models.CheckConstraint(
                condition=Q(churn_window_days__gte=1) & Q(churn_window_days__lte=90),
                name="lessons_repository_churn_window",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class CapturedCommit(models.Model):
    """What a lesson was made of, once for all: the row stays when the draft is rejected or deleted.

    `key` is the commit's sha, `twin <digest of subject and author date>`, `churn <path> <day>`, `rule <path>`, or
    `label <sha>` for each commit of a pull request that a person asked a lesson of. Paths are redacted.
    """

    repository = models.ForeignKey(Repository, models.CASCADE, related_name="captured")
    key = models.CharField(max_length=600)
    lesson = models.ForeignKey(
        "lessons.Lesson", models.SET_NULL, null=True, blank=True, related_name="captures"
    )
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["repository", "key"], name="lessons_captured_repository_key"),
        ]

    def __str__(self) -> str:
        return f"{self.repository_id} {self.key}"

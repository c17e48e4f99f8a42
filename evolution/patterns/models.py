"""Pattern and where it was seen."""

from __future__ import annotations

from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import Count, Q
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from common.companies.models import ApiKey, Company
from common.counters.rules import format_code
from common.models import TimestampedModel
from common.text import show_hidden
from evolution.patterns.choices import PatternCategory, PatternStatus
from evolution.patterns.rules.values import (
    MAX_DESCRIPTION,
    MAX_LANGUAGE,
    MAX_NAME,
    MAX_REGEX,
    MAX_TEMPLATE,
)

PREFIX = "P-"
MAX_REPOSITORY, MAX_COMMIT, MAX_FILE = 200, 64, 500


class PatternQuerySet(models.QuerySet["Pattern"]):
    """Patterns by company and who may see them."""

    def of_company(self, company: Company) -> PatternQuerySet:
        return self.filter(company=company)

    def seen_by(self, user) -> PatternQuerySet:
        """All for a superuser, else those of the person's companies."""
        return self if user.is_superuser else self.filter(company__in=user.companies.values("pk"))

    def for_agent(self, agent_id: int | None) -> PatternQuerySet:
        """Those of the agent and those of all agents; everything without an agent."""
        return self if agent_id is None else self.filter(Q(agent_id=agent_id) | Q(agent_id=None))

    def offered(self) -> PatternQuerySet:
        """What may be suggested: neither deprecated nor in quarantine."""
        return self.exclude(status=PatternStatus.DEPRECATED).filter(quarantined_at=None)

    def with_occurrences(self) -> PatternQuerySet:
        """Adds `seen`: how many sightings count (see `Pattern.occurrences`)."""
        counted = (
            PatternSighting.objects.filter(pattern=models.OuterRef("pk"), quarantined_at=None)
            .order_by()
            .values("pattern")
            .annotate(count=Count("pk"))
            .values("count")
        )
        return self.annotate(seen=Coalesce(models.Subquery(counted), 0))


class Pattern(TimestampedModel):
    """P-NNN. Written by the services of this room only.

    It is found by `keywords` (two of them in one file), `regex` or `fingerprint` (SHA-256 of five neutralised
    lines). `created_by` is who reported it, `vouched_by` the person who last stood for its text, if anybody did.
    """

    company = models.ForeignKey(Company, models.PROTECT, related_name="patterns", verbose_name=_("company"))
    agent = models.ForeignKey(
        Agent,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="patterns",
        verbose_name=_("agent"),
        help_text=_("Empty: for all agents of the company."),
    )
    number = models.PositiveBigIntegerField(_("number"), editable=False)
    name = models.CharField(_("name"), max_length=MAX_NAME)
    name_key = models.CharField(max_length=400, editable=False)
    category = models.CharField(
        _("category"), max_length=20, choices=PatternCategory.choices, default=PatternCategory.COMMON
    )
    description = models.TextField(_("description"), blank=True)
    keywords = models.JSONField(_("keywords"), default=list, blank=True)
    regex = models.CharField(
        _("regular expression"),
        max_length=MAX_REGEX,
        blank=True,
        help_text=_("In the syntax of RE2: no look-around, no back references."),
    )
    fingerprint = models.CharField(_("fingerprint"), max_length=64, blank=True, editable=False)
    template = models.TextField(
        _("template"), blank=True, help_text=_("{{name}} and ${name} are replaced when it is used.")
    )
    template_language = models.CharField(_("language of the template"), max_length=MAX_LANGUAGE, blank=True)
    confidence = models.DecimalField(_("confidence"), max_digits=4, decimal_places=3, default=Decimal("0.7"))
    status = models.CharField(
        _("status"), max_length=12, choices=PatternStatus.choices, default=PatternStatus.PENDING
    )
    imported_occurrences = models.PositiveIntegerField(_("occurrences before the import"), default=0)
    redactions = models.JSONField(_("redactions"), default=dict, blank=True)
    first_seen = models.DateTimeField(_("first seen"), default=timezone.now)
    created_by = models.CharField(_("reported by"), max_length=200)
    created_by_key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, blank=True, related_name="+")
    vouched_by = models.CharField(_("vouched for by"), max_length=200, blank=True)
    vouched_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    vouched_at = models.DateTimeField(_("vouched for"), null=True, blank=True)
    quarantined_at = models.DateTimeField(_("in quarantine since"), null=True, blank=True, editable=False)
    version = models.PositiveIntegerField(_("version"), default=1)

    objects = PatternQuerySet.as_manager()

    class Meta:
        verbose_name = _("pattern")
        verbose_name_plural = _("patterns")
        ordering = ("-number", "-id")
        permissions = [("decide_pattern", "Can promote, verify and deprecate patterns")]
        constraints = [
            models.UniqueConstraint(fields=["company", "number"], name="patterns_pattern_number"),
            models.UniqueConstraint(fields=["company", "name_key"], name="patterns_pattern_name"),
            models.UniqueConstraint(
                fields=["company", "fingerprint"],
                condition=~Q(fingerprint=""),
                name="patterns_pattern_fingerprint",
            ),
            models.CheckConstraint(
                condition=Q(name__length__gte=1) & Q(name__length__lte=MAX_NAME),
                name="patterns_pattern_name_length",
            ),
            models.CheckConstraint(
                condition=Q(description__length__lte=MAX_DESCRIPTION),
                name="patterns_pattern_description_length",
            ),
            models.CheckConstraint(
                condition=Q(regex__length__lte=MAX_REGEX), name="patterns_pattern_regex_length"
            ),
            models.CheckConstraint(
                condition=Q(template__length__lte=MAX_TEMPLATE), name="patterns_pattern_template_length"
            ),
            models.CheckConstraint(
                condition=Q(confidence__gte=0) & Q(confidence__lte=1), name="patterns_pattern_confidence"
            ),
            models.CheckConstraint(
                condition=Q(status__in=PatternStatus.values), name="patterns_pattern_status"
            ),
            models.CheckConstraint(
                condition=Q(category__in=PatternCategory.values), name="patterns_pattern_category"
            ),
        ]
        indexes = [
            # The list, and what is suggested.
            models.Index(fields=["company", "status", "-number"], name="patterns_by_status"),
        ]

    def __str__(self) -> str:
        return f"{self.code} {show_hidden(self.name)}"

    @property
    def code(self) -> str:
        """P-007."""
        return format_code(PREFIX, self.number)

    @property
    def occurrences(self) -> int:
        """Sightings that count, and those of before the import; of `with_occurrences` without a query."""
        seen = getattr(self, "seen", None)
        if seen is None:
            seen = self.sightings.filter(quarantined_at=None).count()
        return seen + self.imported_occurrences


class PatternSighting(models.Model):
    """A pattern in one file of one commit, once."""

    pattern = models.ForeignKey(Pattern, models.CASCADE, related_name="sightings", verbose_name=_("pattern"))
    repository = models.CharField(_("repository"), max_length=MAX_REPOSITORY)
    commit = models.CharField(_("commit"), max_length=MAX_COMMIT)
    file = models.CharField(_("file"), max_length=MAX_FILE)
    at = models.DateTimeField(_("when"))
    created_by = models.CharField(_("reported by"), max_length=200)
    created_by_key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, blank=True, related_name="+")
    quarantined_at = models.DateTimeField(_("in quarantine since"), null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("sighting of a pattern")
        verbose_name_plural = _("sightings of patterns")
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(
                fields=["pattern", "repository", "commit", "file"], name="patterns_sighting_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.repository} {self.commit} {show_hidden(self.file)}"

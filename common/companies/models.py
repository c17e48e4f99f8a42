"""Company (the tenant) and ApiKey."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Count, Q
from django.utils.translation import gettext_lazy as _

from common.choices import GLOBAL_SLUG
from common.companies.choices import SLUG_PATTERN
from common.models import TimestampedModel


class CompanyQuerySet(models.QuerySet):
    """Companies, by who may see or write them."""

    def enabled(self) -> CompanyQuerySet:
        return self.filter(enabled=True)

    def seen_by(self, user) -> CompanyQuerySet:
        """All for a superuser; else those the user is a member of, and `_global` (to read)."""
        if user.is_superuser:
            return self
        return self.filter(Q(pk__in=user.companies.values("pk")) | Q(slug=GLOBAL_SLUG))

    def written_by(self, user) -> CompanyQuerySet:
        """Companies whose rows the user may change."""
        return self if user.is_superuser else self.filter(pk__in=user.companies.values("pk"))

    def with_counts(self) -> CompanyQuerySet:
        """Adds `member_count` and `agent_count` (agents that live) in the same query."""
        return self.annotate(
            member_count=Count("members", distinct=True),
            agent_count=Count("agents", filter=Q(agents__deleted_at=None), distinct=True),
        )


class Company(TimestampedModel):
    """A tenant. `_global` holds the shared agents and is the default of everything."""

    slug = models.CharField(
        _("slug"),
        max_length=50,
        unique=True,
        validators=[RegexValidator(SLUG_PATTERN)],
        help_text=_("1 to 50 lower-case letters, digits and hyphens; used in URLs and commands."),
    )
    name = models.CharField(_("name"), max_length=100)
    enabled = models.BooleanField(
        _("enabled"), default=True, help_text=_("Keys of a disabled company are refused at once.")
    )
    members = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        verbose_name=_("members"),
        related_name="companies",
        blank=True,
        help_text=_("Staff who may see and change this company's rows, as far as their role allows."),
    )

    objects = CompanyQuerySet.as_manager()

    class Meta:
        verbose_name = _("company")
        verbose_name_plural = _("companies")
        ordering = ("slug", "id")
        constraints = [
            models.CheckConstraint(
                condition=Q(name__length__gte=1) & Q(name__length__lte=100),
                name="companies_company_name_length",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_global(self) -> bool:
        return self.slug == GLOBAL_SLUG


class ApiKeyQuerySet(models.QuerySet):
    """Keys, by who may see them and whether they work."""

    def seen_by(self, user) -> ApiKeyQuerySet:
        """All for a superuser; else the keys of the companies that the user is a member of."""
        return self if user.is_superuser else self.filter(company__in=user.companies.values("pk"))

    def live(self, now: datetime) -> ApiKeyQuerySet:
        """Keys that authenticate at `now`: not revoked, not expired, company enabled."""
        return self.filter(
            Q(expires_at__isnull=True) | Q(expires_at__gt=now),
            revoked_at__isnull=True,
            company__enabled=True,
        )


class ApiKey(models.Model):
    """A runtime's key. Only a prefix and an HMAC of the secret are kept; the text is shown once."""

    company = models.ForeignKey(Company, models.PROTECT, related_name="api_keys", verbose_name=_("company"))
    name = models.CharField(_("name"), max_length=100)
    agent = models.ForeignKey(
        "agents.Agent",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="api_keys",
        verbose_name=_("agent"),
        help_text=_("Leave empty for a key that works for all agents of the company."),
    )
    prefix = models.CharField(_("prefix"), max_length=8, unique=True, editable=False)
    secret_hash = models.CharField(max_length=64, editable=False)
    scopes = models.JSONField(_("scopes"), default=list)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    created_by = models.CharField(_("created by"), max_length=200, blank=True, editable=False)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True, editable=False)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")
        ordering = ("-created_at", "-id")
        permissions = [("revoke_apikey", "Can revoke API key")]
        constraints = [
            models.CheckConstraint(
                condition=Q(name__length__gte=1) & Q(name__length__lte=100),
                name="companies_apikey_name_length",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

"""Quarantine: everything that one key brought since some time, taken out of use until a person lifts it."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from common.companies.models import ApiKey, Company


class QuarantineQuerySet(models.QuerySet["Quarantine"]):
    """Quarantines by company and state."""

    def of_company(self, company: Company) -> QuarantineQuerySet:
        return self.filter(company=company)

    def seen_by(self, user) -> QuarantineQuerySet:
        """All for a superuser, else those of the person's companies."""
        return self if user.is_superuser else self.filter(company__in=user.companies.values("pk"))

    def in_force(self) -> QuarantineQuerySet:
        return self.filter(lifted_at=None)


class Quarantine(models.Model):
    """One decision to distrust a key from `since` on. `held` lists ids by kind: all that it covers, and for
    experiences those that it switched off.
    """

    company = models.ForeignKey(Company, models.PROTECT, related_name="+", verbose_name=_("company"))
    key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, related_name="+", verbose_name=_("API key"))
    key_name = models.CharField(_("name of the key"), max_length=200)
    since = models.DateTimeField(_("brought since"))
    reason = models.TextField(_("reason"))
    held = models.JSONField(default=dict, editable=False)
    counts = models.JSONField(_("held"), default=dict, editable=False)
    created_by = models.CharField(_("by"), max_length=200)
    created_at = models.DateTimeField(_("since"))
    lifted_by = models.CharField(_("lifted by"), max_length=200, blank=True)
    lifted_at = models.DateTimeField(_("lifted"), null=True, blank=True)
    lift_reason = models.TextField(_("reason of the lifting"), blank=True)

    objects = QuarantineQuerySet.as_manager()

    class Meta:
        verbose_name = _("quarantine")
        verbose_name_plural = _("quarantines")
        ordering = ("-created_at", "-id")

    def __str__(self) -> str:
        return f"{self.key_name} {self.since:%Y-%m-%d %H:%M}"

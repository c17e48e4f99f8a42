"""Parameter and its history."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from common.companies.models import Company
from common.models import AppendOnlyModel, AppendOnlyQuerySet


class ParameterQuerySet(models.QuerySet["Parameter"]):
    """Values by company, and by who may see them: a superuser all, others their companies'."""

    def seen_by(self, user) -> ParameterQuerySet:
        return self if user.is_superuser else self.filter(company__in=user.companies.values("pk"))

    def of_company(self, company: Company) -> ParameterQuerySet:
        return self.filter(company=company)


class Parameter(models.Model):
    """A value that differs from the default, or did once. Written by `services` only, after an approval."""

    company = models.ForeignKey(Company, models.PROTECT, related_name="parameters", verbose_name=_("company"))
    name = models.CharField(_("name"), max_length=60)
    value = models.JSONField(_("value"))

    objects = ParameterQuerySet.as_manager()

    class Meta:
        verbose_name = _("parameter")
        verbose_name_plural = _("parameters")
        ordering = ("name",)
        constraints = [
            models.UniqueConstraint(fields=["company", "name"], name="parameters_parameter_company_name"),
        ]

    def __str__(self) -> str:
        return self.name


class ParameterChangeQuerySet(AppendOnlyQuerySet):
    """Changes by who may see them: a superuser all, others their companies'."""

    def seen_by(self, user) -> ParameterChangeQuerySet:
        return self if user.is_superuser else self.filter(company__in=user.companies.values("pk"))

    def of_company(self, company: Company) -> ParameterChangeQuerySet:
        return self.filter(company=company)


class ParameterChange(AppendOnlyModel):
    """One change of one value, for ever; `reverts` is the change that it takes back."""

    company = models.ForeignKey(Company, models.PROTECT, related_name="+", verbose_name=_("company"))
    name = models.CharField(_("parameter"), max_length=60)
    old = models.JSONField(_("before"))
    new = models.JSONField(_("after"))
    reason = models.TextField(_("reason"), blank=True)
    proposal_code = models.CharField(_("proposal"), max_length=20, blank=True)
    approver = models.CharField(_("approved by"), max_length=200, blank=True)
    at = models.DateTimeField(_("when"))
    reverts = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="reverted_by",
        verbose_name=_("takes back"),
    )

    objects = ParameterChangeQuerySet.as_manager()

    class Meta:
        verbose_name = _("change of a parameter")
        verbose_name_plural = _("changes of parameters")
        ordering = ("-at", "-id")
        indexes = [models.Index(fields=["company", "name", "-at"], name="parameters_change_history")]

    def __str__(self) -> str:
        return f"{self.name}: {self.old} → {self.new}"

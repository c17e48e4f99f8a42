"""Protected paths, and the log of every check against them."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.choices import ProtectionLevel, Verdict
from common.companies.models import Company
from common.models import AppendOnlyModel, AppendOnlyQuerySet, TimestampedModel
from common.text import show_hidden


class ProtectedPath(TimestampedModel):
    """A rule: which path, which section of it, how strongly protected."""

    pattern = models.CharField(
        _("pattern"),
        max_length=255,
        help_text=_("`*` is one part of a path, `**` any depth, `${ROOT}/` the root."),
    )
    section = models.CharField(
        _("section"), max_length=100, blank=True, help_text=_("Empty protects the whole file.")
    )
    section_aliases = models.JSONField(_("other names of the section"), default=list, blank=True)
    level = models.CharField(_("level"), max_length=10, choices=ProtectionLevel.choices)
    description = models.CharField(_("description"), max_length=500, blank=True)
    enabled = models.BooleanField(_("enabled"), default=True)
    company = models.ForeignKey(
        Company,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("company"),
        help_text=_("Empty holds for every company."),
    )

    class Meta:
        verbose_name = _("protected path")
        verbose_name_plural = _("protected paths")
        ordering = ("pattern", "section", "id")

    def __str__(self) -> str:
        return f"{self.pattern} § {self.section}" if self.section else self.pattern


class ProtectedAccess(AppendOnlyModel):
    """One verdict of one check; kept for ever."""

    company = models.ForeignKey(
        Company, models.DO_NOTHING, db_constraint=False, related_name="+", verbose_name=_("company")
    )
    agent = models.ForeignKey(
        "agents.Agent",
        models.DO_NOTHING,
        db_constraint=False,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("agent"),
    )
    agent_name = models.CharField(
        _("agent"), max_length=100, blank=True, help_text=_("Empty: a change of the company's parameters.")
    )
    request = models.CharField(
        _("request"), max_length=100, help_text=_("A proposal's code or the API call.")
    )
    actor_name = models.CharField(_("who"), max_length=200)
    path = models.CharField(_("path"), max_length=500)
    rule = models.CharField(_("rule"), max_length=400, blank=True)
    level = models.CharField(_("level"), max_length=10, blank=True)
    verdict = models.CharField(_("verdict"), max_length=20, choices=Verdict.choices)
    reason = models.CharField(_("reason"), max_length=500, blank=True)
    at = models.DateTimeField(_("when"))

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        verbose_name = _("protection check")
        verbose_name_plural = _("protection checks")
        ordering = ("-at", "-id")
        indexes = [models.Index(fields=["company", "-at", "-id"], name="agents_access_company_at")]

    def __str__(self) -> str:
        return f"{show_hidden(self.path)}: {self.get_verdict_display()}"

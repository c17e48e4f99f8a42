"""AgentVersion: what an agent was at each version."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.choices import Source
from agents.models.agent import Agent
from common.models import AppendOnlyModel, AppendOnlyQuerySet


class AgentVersion(AppendOnlyModel):
    """A snapshot of role, settings, rows and document versions; `number` equals `Agent.version` at that time."""

    agent = models.ForeignKey(Agent, models.PROTECT, related_name="versions", verbose_name=_("agent"))
    number = models.PositiveIntegerField(_("version"))
    snapshot = models.JSONField()
    sha256 = models.CharField("SHA-256", max_length=64)
    author = models.CharField(_("author"), max_length=200)
    source = models.CharField(_("source"), max_length=10, choices=Source.choices)
    message = models.CharField(_("message"), max_length=500, blank=True)
    created_at = models.DateTimeField(_("created"))

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        verbose_name = _("agent version")
        verbose_name_plural = _("agent versions")
        ordering = ("agent", "-number")
        constraints = [
            models.UniqueConstraint(fields=["agent", "number"], name="agents_agentversion_agent_number")
        ]

    def __str__(self) -> str:
        return f"v{self.number}"

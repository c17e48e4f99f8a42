"""Agent: one agent's identity and role definition."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Count, Q
from django.utils.translation import gettext_lazy as _

from agents.choices import Language
from common.choices import GLOBAL_SLUG
from common.companies.models import Company
from common.models import TimestampedModel

MAX_NAME = 100
MAX_DESCRIPTION = 1000
MAX_ROLE = 100_000
MAX_TAGS = 20
MAX_TAG = 30


class AgentQuerySet(models.QuerySet["Agent"]):
    """Agents that live, and by who may see them."""

    def live(self) -> AgentQuerySet:
        """Not deleted."""
        return self.filter(deleted_at=None)

    def readable_from(self, company: Company) -> AgentQuerySet:
        """The company's own agents and the shared ones of `_global`."""
        return self.filter(Q(company=company) | Q(company__slug=GLOBAL_SLUG))

    def owned_by(self, company: Company) -> AgentQuerySet:
        return self.filter(company=company)

    def seen_by(self, user) -> AgentQuerySet:
        """What a staff member may see: everything for a superuser, else their companies' and the shared ones."""
        if user.is_superuser:
            return self
        return self.filter(Q(company__slug=GLOBAL_SLUG) | Q(company__in=user.companies.all()))

    def with_counts(self) -> AgentQuerySet:
        """Adds `experience_count` and `enabled_experience_count` in the same query."""
        return self.annotate(
            experience_count=Count("experiences"),
            enabled_experience_count=Count("experiences", filter=Q(experiences__enabled=True)),
        )


class Agent(TimestampedModel):
    """The shared body of an agent. `version` is its ETag and rises with every change of body, rows or settings."""

    company = models.ForeignKey(Company, models.PROTECT, related_name="agents", verbose_name=_("company"))
    name = models.CharField(_("name"), max_length=MAX_NAME)
    name_key = models.CharField(max_length=400, editable=False)
    description = models.TextField(_("description"), blank=True)
    system_prompt = models.TextField(_("role definition"))
    language = models.CharField(_("language"), max_length=2, choices=Language.choices, default=Language.ZH)
    enabled = models.BooleanField(
        _("enabled"), default=True, help_text=_("A disabled agent serves no prompt (410).")
    )
    is_default = models.BooleanField(
        _("default"), default=False, help_text=_("At most one agent of a company; it cannot be deleted.")
    )
    inject_session_recaps = models.BooleanField(
        _("session recaps in the prompt"),
        default=False,
        help_text=_("Recaps are recorded automatically and not confirmed by a person; off is safe."),
    )
    introspection_enabled = models.BooleanField(
        _("weekly introspection"),
        default=False,
        help_text=_("Each Monday, propose what the last seven days taught."),
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="owned_agents",
        verbose_name=_("owner"),
        help_text=_("Approves changes of sections that only the owner may change."),
    )
    tags = models.JSONField(_("tags"), default=list, blank=True)
    skill_names = models.JSONField(
        _("skills"),
        default=list,
        blank=True,
        help_text=_("Skills shown in the prompt; empty shows all."),
    )
    version = models.PositiveIntegerField(_("version"), default=0, editable=False)
    deleted_at = models.DateTimeField(_("deleted"), null=True, blank=True, editable=False)

    objects = AgentQuerySet.as_manager()

    class Meta:
        verbose_name = _("agent")
        verbose_name_plural = _("agents")
        ordering = ("name", "id")
        permissions = [
            ("copy_agent", "Can copy agent"),
            ("switch_agent", "Can enable and disable agent"),
            ("restore_agent", "Can restore an agent version"),
            ("import_agent", "Can import agents"),
        ]
        # What the start page shows first.
        indexes = [models.Index(fields=["-updated_at", "-id"], name="agents_agent_updated")]
        constraints = [
            models.UniqueConstraint(
                fields=["company", "name_key"], condition=Q(deleted_at=None), name="agents_agent_name"
            ),
            models.UniqueConstraint(
                fields=["company"],
                condition=Q(is_default=True, deleted_at=None),
                name="agents_agent_one_default",
            ),
            models.CheckConstraint(
                condition=Q(name__length__gte=1) & Q(name__length__lte=MAX_NAME),
                name="agents_agent_name_length",
            ),
            models.CheckConstraint(
                condition=Q(system_prompt__length__gte=1) & Q(system_prompt__length__lte=MAX_ROLE),
                name="agents_agent_role_length",
            ),
            models.CheckConstraint(
                condition=Q(description__length__lte=MAX_DESCRIPTION), name="agents_agent_description_length"
            ),
        ]

    def __str__(self) -> str:
        return self.name

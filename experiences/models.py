"""Experience: one short thinking shortcut of a post."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from ordered_model.models import OrderedModelBase, OrderedModelManager, OrderedModelQuerySet

from common.choices import GLOBAL_SLUG
from common.models import TimestampedModel


class ExperienceQuerySet(OrderedModelQuerySet):
    """Rows by agent and switch, always in (order, id)."""

    def bulk_create(self, objs, *args, **kwargs):
        """As Django's: the library's own would throw the given orders away."""
        return models.QuerySet.bulk_create(self, objs, *args, **kwargs)

    def enabled(self) -> ExperienceQuerySet:
        return self.filter(enabled=True)

    def seen_by(self, user) -> ExperienceQuerySet:
        """Rows of agents that a staff member may see."""
        if user.is_superuser:
            return self
        company = models.Q(agent__company__slug=GLOBAL_SLUG) | models.Q(
            agent__company__in=user.companies.all()
        )
        return self.filter(company)

    def of_agent(self, agent_id: int) -> ExperienceQuerySet:
        return self.filter(agent_id=agent_id).order_by("order", "id")


ExperienceManager = OrderedModelManager.from_queryset(ExperienceQuerySet)


class Experience(OrderedModelBase, TimestampedModel):
    """A row of 1 to 300 code points. Orders of one agent are exactly 0..n-1 after every write.

    There is no unique (agent, order) constraint on purpose: SQLite cannot defer it, and a swap would break it.
    """

    agent = models.ForeignKey(
        "agents.Agent", models.CASCADE, related_name="experiences", verbose_name=_("agent")
    )
    content = models.TextField(_("content"))
    order = models.PositiveIntegerField(_("order"), default=0)
    enabled = models.BooleanField(_("enabled"), default=True)

    order_field_name = "order"
    order_with_respect_to = "agent"

    objects = ExperienceManager()

    class Meta:
        verbose_name = _("best-practice experience")
        verbose_name_plural = _("best-practice experiences")
        ordering = ("order", "id")
        constraints = [
            models.CheckConstraint(
                condition=Q(content__length__gte=1) & Q(content__length__lte=300),
                name="experiences_experience_content_length",
            )
        ]
        # Reading one agent's rows in order, for the page, the API and the prompt.
        indexes = [models.Index(fields=["agent", "order", "id"], name="experiences_agent_order")]

    def __str__(self) -> str:
        return self.content[:60]

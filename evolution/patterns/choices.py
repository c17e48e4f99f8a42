"""The vocabulary of patterns."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class PatternCategory(models.TextChoices):
    """The words of `rules.values.CATEGORIES`, with labels."""

    WORKFLOW_DEF = "workflow-def", _("definition of a workflow")
    DATA_LAYER = "data-layer", _("data layer")
    UI_LAYER = "ui-layer", _("user interface")
    BUSINESS_LOGIC = "business-logic", _("business logic")
    COMMON = "common", _("common")


class PatternStatus(models.TextChoices):
    PENDING = "pending", _("pending")
    ACTIVE = "active", _("active")
    DEPRECATED = "deprecated", _("deprecated")

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PatternsConfig(AppConfig):
    name = "evolution.patterns"
    label = "patterns"
    verbose_name = _("Patterns")

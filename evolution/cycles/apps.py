from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CyclesConfig(AppConfig):
    name = "evolution.cycles"
    label = "cycles"
    verbose_name = _("Learning")

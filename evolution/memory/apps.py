from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MemoryConfig(AppConfig):
    name = "evolution.memory"
    label = "memory"
    verbose_name = _("Memory")

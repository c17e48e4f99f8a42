from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PromptConfig(AppConfig):
    name = "prompt"
    verbose_name = _("Prompt")

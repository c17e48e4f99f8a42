from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class KnowledgeConfig(AppConfig):
    name = "evolution.knowledge"
    label = "knowledge"
    verbose_name = _("Knowledge")

    def ready(self) -> None:
        from evolution.knowledge.services import indexing  # noqa: PLC0415  models exist only now

        indexing.register_source()

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class LessonsConfig(AppConfig):
    name = "evolution.lessons"
    label = "lessons"
    verbose_name = _("Lessons")

    def ready(self) -> None:
        from evolution.lessons.services import indexing  # noqa: PLC0415  models exist only now

        indexing.register_source()

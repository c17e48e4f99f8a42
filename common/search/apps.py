from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate


def install_marks(using: str = "default", **kwargs: Any) -> None:
    """Put in place what the database proposes documents by, after every migrate."""
    from common.search.candidates import install  # noqa: PLC0415  needs loaded models

    install(connections[using])


class SearchConfig(AppConfig):
    name = "common.search"
    label = "search"

    def ready(self) -> None:
        post_migrate.connect(install_marks, sender=self, dispatch_uid="search.install_marks")

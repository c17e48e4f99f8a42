from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


def install_triggers(using: str = "default", **kwargs: Any) -> None:
    """Put the append-only triggers in place after every migrate."""
    from common.append_only import install  # noqa: PLC0415  needs loaded models

    install(connections[using])


class ReceiptsConfig(AppConfig):
    name = "common.receipts"
    label = "receipts"
    verbose_name = _("Receipts")

    def ready(self) -> None:
        post_migrate.connect(install_triggers, dispatch_uid="receipts.install_triggers")

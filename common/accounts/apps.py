from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "common.accounts"
    label = "accounts"
    verbose_name = _("People")

    def ready(self) -> None:
        from common.accounts.roles import sync_roles  # noqa: PLC0415  models exist only now

        post_migrate.connect(sync_roles, dispatch_uid="accounts.sync_roles")

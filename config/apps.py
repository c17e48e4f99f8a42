"""App configurations of the switchboard."""

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class ConfigConfig(AppConfig):
    """The switchboard as an app, for its commands (demo data) and system checks."""

    name = "config"
    label = "switchboard"
    default = True

    def ready(self) -> None:
        from config import checks  # noqa: F401, PLC0415  registers the system checks


class FieldbookAdminConfig(admin_apps.AdminConfig):
    """`django.contrib.admin` with Fieldbook's site as the default site."""

    default_site = "config.admin_site.FieldbookAdminSite"
    default = False

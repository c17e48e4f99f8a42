from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CompaniesConfig(AppConfig):
    name = "common.companies"
    label = "companies"
    verbose_name = _("Companies")

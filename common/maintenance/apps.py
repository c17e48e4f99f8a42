from django.apps import AppConfig


class MaintenanceConfig(AppConfig):
    name = "common.maintenance"
    label = "maintenance"

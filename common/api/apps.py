from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "common.api"
    label = "api"

from django.apps import AppConfig


class SearchConfig(AppConfig):
    name = "common.search"
    label = "search"

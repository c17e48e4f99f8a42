from django.apps import AppConfig


class CountersConfig(AppConfig):
    name = "common.counters"
    label = "counters"

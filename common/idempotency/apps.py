from django.apps import AppConfig


class IdempotencyConfig(AppConfig):
    name = "common.idempotency"
    label = "idempotency"

"""The stored answer of a request that carried an Idempotency-Key."""

from django.db import models


class IdempotentRequest(models.Model):
    """Unique per (company, kind, key); `kind` names the resource made, e.g. `agents` or `agents/7/experiences`."""

    company = models.ForeignKey("companies.Company", models.CASCADE, related_name="+")
    kind = models.CharField(max_length=100)
    key = models.CharField(max_length=128)
    body_sha256 = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0)
    #: JSON as text: a JSON column of PostgreSQL would give the keys back in another order.
    answer = models.TextField(blank=True)
    headers = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["company", "kind", "key"], name="idempotency_request_key")
        ]
        # The nightly forgetting.
        indexes = [models.Index(fields=["created_at"], name="idempotency_created")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"

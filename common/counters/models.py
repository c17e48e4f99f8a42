"""The last number given out, one row per company and prefix."""

from django.db import models


class IdCounter(models.Model):
    """`last_number` only ever rises; it is locked by whoever takes the next one."""

    company = models.ForeignKey("companies.Company", models.CASCADE, related_name="+")
    prefix = models.CharField(max_length=10)
    last_number = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["company", "prefix"], name="counters_idcounter_company_prefix")
        ]

    def __str__(self) -> str:
        return f"{self.prefix}{self.last_number:03d}"

"""What the index is made from: one row an object, one generation a (company, kind)."""

from __future__ import annotations

import json
from typing import Any

from django.db import models
from django.db.models import Q


class Readable(json.JSONEncoder):
    """Chinese as it is: escaped it takes twice the space."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "ensure_ascii": False})


class SearchGeneration(models.Model):
    """Counts the changes of one (company, kind); whoever changes its documents holds the lock of this row.

    `rows` are all documents that are not removed. `counted` and `lengths` (tokens by field) cover those of state
    0, over which idf and mean lengths are taken. Removed documents up to generation `purged` are gone.
    """

    company = models.ForeignKey("companies.Company", models.CASCADE, related_name="+")
    kind = models.CharField(max_length=20)
    generation = models.PositiveBigIntegerField(default=0)
    purged = models.PositiveBigIntegerField(default=0)
    rows = models.PositiveIntegerField(default=0)
    counted = models.PositiveIntegerField(default=0)
    removed = models.PositiveIntegerField(default=0)
    lengths = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["company", "kind"], name="search_generation_kind")]

    def __str__(self) -> str:
        return f"{self.kind} {self.generation}"


class SearchDocument(models.Model):
    """The tokens of one object by field, separated by newlines; derived, so it has no receipt.

    A removed document stays without tokens until it is purged: other processes learn of the removal by its
    generation.
    """

    company = models.ForeignKey("companies.Company", models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=20)
    object_id = models.PositiveBigIntegerField()
    generation = models.PositiveBigIntegerField()
    removed = models.BooleanField(default=False)
    fields = models.JSONField(default=dict, encoder=Readable)
    state = models.PositiveSmallIntegerField(default=0)
    day = models.PositiveIntegerField(default=1)
    expires = models.PositiveIntegerField(null=True)
    agent_id = models.PositiveBigIntegerField(null=True)
    rank = models.SmallIntegerField(default=0)
    sequence = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["company", "kind", "object_id"], name="search_document_object"),
            models.CheckConstraint(condition=Q(removed=False) | Q(fields={}), name="search_document_removed"),
        ]
        # What changed since a generation.
        indexes = [models.Index(fields=["company", "kind", "generation"], name="search_document_changes")]

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id}"

"""Shapes of outcomes in the API."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from rest_framework import serializers

from common.api.fields import RuledTextField
from evolution.knowledge.choices import Result, Status
from evolution.knowledge.models import Outcome
from evolution.knowledge.rules.outcomes import MAX_BUGS, MAX_MINUTES
from evolution.knowledge.services.outcomes import Recorded


class UseRequestSerializer(serializers.Serializer):
    """What may be sent; limits and faults are those of rules.outcomes. `knowledge` or `injection_id` is needed."""

    knowledge = RuledTextField(required=False, help_text="The code of an item")
    injection_id = RuledTextField(required=False, help_text="Means each of its items that were to be used")
    result = serializers.ChoiceField(Result.choices)
    task = RuledTextField(required=False, help_text="At most 200 characters")
    time_saved_minutes = serializers.IntegerField(
        required=False, allow_null=True, min_value=-MAX_MINUTES, max_value=MAX_MINUTES
    )
    bugs_introduced = serializers.IntegerField(required=False, min_value=0, max_value=MAX_BUGS, default=0)
    notes = RuledTextField(required=False, help_text="At most 2,000 characters")
    idempotency_key = RuledTextField(required=False, help_text="Or the header Idempotency-Key")


class UseOutcomeSerializer(serializers.ModelSerializer):
    """One outcome of one item."""

    knowledge = serializers.CharField(source="code", read_only=True)
    injection_id = serializers.UUIDField(
        source="injection.injection_id", default=None, read_only=True, allow_null=True
    )
    quarantined = serializers.SerializerMethodField()

    class Meta:
        model = Outcome
        fields = (
            "id",
            "knowledge",
            "injection_id",
            "task",
            "result",
            "time_saved_minutes",
            "bugs_introduced",
            "notes",
            "created_by",
            "at",
            "quarantined",
        )

    def get_quarantined(self, outcome: Outcome) -> bool:
        return outcome.quarantined_at is not None


class ItemAfterSerializer(serializers.Serializer):
    """What became of an item."""

    id = serializers.CharField()
    confidence = serializers.FloatField()
    status = serializers.ChoiceField(Status.choices)
    causal_score = serializers.FloatField(allow_null=True)


class RecordedSerializer(serializers.Serializer):
    """The answer: the outcomes, the items as they are now, and the warnings that this report made."""

    outcomes = UseOutcomeSerializer(many=True)
    items = ItemAfterSerializer(many=True)
    anti_knowledge = serializers.ListField(child=serializers.CharField())


def recorded_answer(recorded: Recorded, scores: Mapping[int, Decimal | None]) -> dict[str, Any]:
    """The answer as JSON values."""
    return {
        "outcomes": UseOutcomeSerializer(recorded.outcomes, many=True).data,
        "items": [
            {
                "id": item.code,
                "confidence": float(item.confidence),
                "status": item.status,
                "causal_score": None if scores[item.pk] is None else float(scores[item.pk] or 0),
            }
            for item in recorded.items
        ],
        "anti_knowledge": [warning.code for warning in recorded.warnings],
    }

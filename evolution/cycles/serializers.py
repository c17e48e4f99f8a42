"""Shapes of the learning queue."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from common.api.fields import RuledTextField, WholeNumberField
from evolution.knowledge.choices import LearningStatus, Priority, SourceType
from evolution.knowledge.models import LearningItem

#: Reports that one call works on at most.
MAX_BATCH = 100


class LearningItemSerializer(serializers.ModelSerializer):
    """A report and what became of it."""

    id = serializers.CharField(source="code", help_text="LQ-001")
    agent = serializers.IntegerField(source="agent_id", allow_null=True)

    class Meta:
        model = LearningItem
        fields = (
            "id",
            "agent",
            "source_type",
            "source_id",
            "priority",
            "status",
            "metadata",
            "redactions",
            "attempts",
            "error",
            "result",
            "note",
            "created_at",
            "created_by",
            "processed_at",
            "leased_until",
        )
        read_only_fields = fields


class ReportSerializer(serializers.Serializer):
    """A report; limits and faults are those of rules.queue."""

    agent = WholeNumberField(required=False, allow_null=True, min_value=1, max_value=2**63 - 1)
    source_type = RuledTextField(required=False, allow_null=True, help_text=", ".join(SourceType.values))
    source_id = RuledTextField(
        required=False, allow_null=True, help_text="Its id at the source; reported again it is the same item"
    )
    priority = RuledTextField(
        required=False, allow_null=True, help_text="P0 to P3; P0 is processed on arrival"
    )
    metadata = serializers.JSONField(
        required=False,
        allow_null=True,
        help_text="description, error_type, root_cause, solution, files_changed, category, repository, commit, diff, "
        "structure, …",
    )


class ProcessSerializer(serializers.Serializer):
    """How much to work off."""

    priority = serializers.ChoiceField(
        Priority.choices, required=False, allow_null=True, help_text="This and what is more urgent"
    )
    limit = WholeNumberField(required=False, allow_null=True, min_value=1, max_value=MAX_BATCH)


class ProcessedSerializer(serializers.Serializer):
    """One report that was worked on."""

    id = serializers.CharField()
    status = serializers.ChoiceField(LearningStatus.choices)
    result = serializers.CharField(allow_blank=True)
    note = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_blank=True)


class ProcessAnswerSerializer(serializers.Serializer):
    """What was done, and how much still waits."""

    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    dead = serializers.IntegerField()
    waiting = serializers.IntegerField()
    items = ProcessedSerializer(many=True)


def processed(item: LearningItem) -> dict[str, Any]:
    """A report as the answer of a run names it."""
    return {
        "id": item.code,
        "status": str(item.status),
        "result": item.result,
        "note": item.note,
        "error": item.error,
    }

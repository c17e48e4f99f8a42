"""Shape of the figures in the API."""

from __future__ import annotations

from rest_framework import serializers


class MetricsSerializer(serializers.Serializer):
    """Ratios from 0 to 1, null where there is nothing to divide by, each with its two counts."""

    coverage = serializers.FloatField(allow_null=True)
    recalls = serializers.IntegerField()
    recalls_with_hit = serializers.IntegerField()
    recurrence = serializers.IntegerField(
        help_text="Captures like an older active lesson of the last 30 days"
    )
    captures = serializers.IntegerField()
    confirmed_ratio = serializers.FloatField(allow_null=True)
    confirmed = serializers.IntegerField()
    rejected = serializers.IntegerField()
    helped_ratio = serializers.FloatField(allow_null=True)
    helped = serializers.IntegerField()
    not_helped = serializers.IntegerField()
    counts = serializers.DictField(child=serializers.DictField(child=serializers.IntegerField()))
    drafts_waiting = serializers.IntegerField()
    oldest_draft_days = serializers.IntegerField(allow_null=True)

"""Shapes of the parameters API."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from common.api.fields import RuledValueField
from evolution.parameters.models import ParameterChange


class ParameterSerializer(serializers.Serializer):
    """One parameter: `bounds` are `minimum` and `maximum`, or the words `allowed` in a list."""

    name = serializers.CharField()
    kind = serializers.ChoiceField(["decimal", "integer", "categories"])
    value = RuledValueField()
    default = RuledValueField()
    is_default = serializers.BooleanField()
    bounds = serializers.SerializerMethodField()
    help = serializers.CharField()

    @extend_schema_field({"type": "object", "additionalProperties": {}})
    def get_bounds(self, shown: Any) -> dict[str, Any]:
        return dict(shown.bounds)


class ParameterChangeSerializer(serializers.ModelSerializer):
    """One line of history; `reverts` is the id of the change that it takes back."""

    parameter = serializers.CharField(source="name")
    old = RuledValueField()
    new = RuledValueField()

    class Meta:
        model = ParameterChange
        fields = ("id", "parameter", "old", "new", "reason", "proposal_code", "approver", "at", "reverts")
        read_only_fields = fields

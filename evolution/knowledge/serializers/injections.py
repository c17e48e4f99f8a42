"""Shapes of injections in the API."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from rest_framework import serializers

from common.api.fields import RuledIdField, RuledTextField, RuledTextListField
from evolution.knowledge.models import Injection
from evolution.knowledge.rules.injection import AVOID, USE, injection_text
from evolution.knowledge.selectors.injection import Picked, Selected


class InjectionRequestSerializer(serializers.Serializer):
    """What may be sent; limits and faults are those of rules.injection_request."""

    agent = RuledIdField(required=False, help_text="A key that is bound to an agent needs none")
    phase = RuledTextField(
        required=False, help_text="At most 50 characters; an unknown phase prefers nothing"
    )
    keywords = RuledTextListField(required=False, help_text="At most 10; else the rarest words of the task")
    task = RuledTextField(required=False, help_text="At most 4,000 characters")
    workflow = RuledTextField(required=False, help_text="At most 200 characters")
    conversation_id = RuledTextField(required=False, help_text="What it was told is not told again")


class PickedSerializer(serializers.Serializer):
    """An item with the numbers that brought it here: rank = base × (1 + 0.2 × kw)."""

    id = serializers.CharField()
    kind = serializers.ChoiceField([USE, AVOID])
    title = serializers.CharField()
    category = serializers.CharField()
    summary = serializers.CharField(allow_blank=True)
    confidence = serializers.FloatField()
    causal = serializers.FloatField(allow_null=True)
    samples = serializers.IntegerField()
    kw = serializers.IntegerField()
    base = serializers.FloatField()
    rank = serializers.FloatField()
    auto_apply_hint = serializers.BooleanField()


class InjectionAnswerSerializer(serializers.Serializer):
    """The answer; `injection_id` is null where nothing was logged."""

    injection_id = serializers.UUIDField(allow_null=True)
    keywords = serializers.ListField(child=serializers.CharField())
    items = PickedSerializer(many=True)
    avoid = PickedSerializer(many=True)
    suppressed = serializers.ListField(child=serializers.CharField())
    text = serializers.CharField(allow_blank=True)


class InjectionSerializer(serializers.ModelSerializer):
    """What was handed out once."""

    agent = serializers.IntegerField(source="agent_id", allow_null=True)

    class Meta:
        model = Injection
        fields = (
            "injection_id",
            "agent",
            "phase",
            "keywords",
            "task",
            "workflow",
            "conversation_id",
            "items",
            "is_prompt",
            "asked_by",
            "created_at",
            "archived_at",
        )


def injection_answer(selected: Selected, injection_id: UUID | None) -> dict[str, Any]:
    """The answer as JSON values."""
    return {
        "injection_id": None if injection_id is None else str(injection_id),
        "keywords": selected.keywords,
        "items": [_picked(one) for one in selected.items],
        "avoid": [_picked(one) for one in selected.avoid],
        "suppressed": [one.item.code for one in selected.suppressed],
        "text": injection_text([one.told() for one in selected.items]),
    }


def _picked(one: Picked) -> dict[str, Any]:
    return {
        "id": one.item.code,
        "kind": one.kind,
        "title": one.item.title,
        "category": one.item.category,
        "summary": one.text,
        "confidence": float(one.item.confidence),
        "causal": None if one.causal is None else float(one.causal),
        "samples": one.samples,
        "kw": one.kw,
        "base": float(one.base),
        "rank": float(one.rank),
        "auto_apply_hint": one.auto_apply_hint,
    }

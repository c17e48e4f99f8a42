"""Shapes of the prompt API; what is allowed, `prompt.rules.requests` decides."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from common.text import estimated_tokens
from prompt.rules.requests import MAX_KEYWORDS, TEXT_LIMITS
from prompt.rules.values import Precision
from prompt.services import Prompt


def _text(name: str) -> serializers.CharField:
    return serializers.CharField(
        required=False, allow_null=True, allow_blank=True, max_length=TEXT_LIMITS[name]
    )


def _texts(**kwargs: Any) -> serializers.ListField:
    child = serializers.CharField(allow_blank=True)
    return serializers.ListField(child=child, required=False, allow_null=True, **kwargs)


class PromptRequestSerializer(serializers.Serializer):
    """What POST takes; absent and null mean the same."""

    user_id = serializers.RegexField(r"^[A-Za-z0-9._@-]{1,64}$", required=False, allow_null=True)
    task = _text("task")
    phase = _text("phase")
    keywords = _texts(max_length=MAX_KEYWORDS)
    files = _texts()
    tags = _texts()
    environment = serializers.DictField(
        child=serializers.CharField(allow_blank=True), required=False, allow_null=True
    )
    main_task_summary = _text("main_task_summary")
    system_prompt_override = _text("system_prompt_override")
    tools_guidance = _text("tools_guidance")
    task_management = _text("task_management")
    delegation = _text("delegation")
    time_precision = serializers.ChoiceField(
        choices=[precision.value for precision in Precision], required=False, allow_null=True
    )


class PromptSectionSerializer(serializers.Serializer):
    """One section: the heading is empty for the role, the text comes without it."""

    key = serializers.CharField()
    heading = serializers.CharField(allow_blank=True)
    text = serializers.CharField()
    chars = serializers.IntegerField()
    item_ids = serializers.ListField(child=serializers.JSONField())


class PromptSerializer(serializers.Serializer):
    """The answer."""

    agent_id = serializers.IntegerField()
    version = serializers.IntegerField()
    language = serializers.CharField()
    text = serializers.CharField()
    sections = PromptSectionSerializer(many=True)
    chars = serializers.IntegerField()
    estimated_tokens = serializers.IntegerField()
    injection_id = serializers.CharField(allow_null=True)
    warnings = serializers.ListField(child=serializers.CharField())
    updated_at = serializers.DateTimeField()


def answer_of(prompt: Prompt) -> dict[str, Any]:
    """The answer as `PromptSerializer` describes it; built by hand, because thousands of ids pass here."""
    text = prompt.rendered.text
    return {
        "agent_id": prompt.agent.pk,
        "version": prompt.agent.version,
        "language": prompt.agent.language,
        "text": text,
        "sections": [
            {
                "key": section.key,
                "heading": section.heading,
                "text": section.text,
                "chars": section.chars,
                "item_ids": list(section.item_ids),
            }
            for section in prompt.rendered.sections
        ],
        "chars": len(text),
        "estimated_tokens": estimated_tokens(text),
        "injection_id": prompt.injection_id,
        "warnings": list(prompt.rendered.warnings),
        "updated_at": serializers.DateTimeField().to_representation(prompt.agent.updated_at),
    }

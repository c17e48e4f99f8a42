"""Shapes of the agents API: thin; limits and meaning live in the rules."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from agents.models import Agent, AgentVersion, Document, DocumentVersion
from common.api.fields import IdField, PositionField, RuledTextField, SwitchField, TextField
from experiences.models import Experience
from experiences.rules import RowInput


class ExperienceSerializer(serializers.ModelSerializer):
    """A row as it is answered."""

    sort_order = serializers.IntegerField(source="order", read_only=True)

    class Meta:
        model = Experience
        fields = ("id", "content", "sort_order", "enabled", "created_at", "updated_at")
        read_only_fields = fields


class RowInputSerializer(serializers.Serializer):
    """One item of a nested `experiences` list; what content may be is decided by the rules."""

    id = IdField(required=False, allow_null=True)
    content = RuledTextField(allow_null=True, default=None)
    sort_order = PositionField(required=False, allow_null=True)
    enabled = SwitchField(required=False, allow_null=True)

    def to_internal_value(self, data: Any) -> RowInput:
        values = super().to_internal_value(data)
        return RowInput(
            content=values["content"],
            id=values.get("id"),
            sort_order=values.get("sort_order"),
            enabled=values.get("enabled"),
        )


class AgentInputSerializer(serializers.Serializer):
    """What may be sent of an agent; absent or null leaves a field as it is."""

    name = TextField(required=False, allow_null=True)
    system_prompt = TextField(required=False, allow_null=True)
    description = TextField(required=False, allow_null=True)
    language = serializers.ChoiceField(choices=["zh", "en"], required=False, allow_null=True)
    enabled = SwitchField(required=False, allow_null=True)
    is_default = SwitchField(required=False, allow_null=True)
    inject_session_recaps = SwitchField(required=False, allow_null=True)
    introspection_enabled = SwitchField(required=False, allow_null=True)
    tags = serializers.ListField(child=TextField(), required=False, allow_null=True)
    skill_names = serializers.ListField(child=TextField(), required=False, allow_null=True)
    experiences = RowInputSerializer(many=True, required=False, allow_null=True)


class AgentReplaceSerializer(AgentInputSerializer):
    """PUT and POST: name and role definition must be there."""

    name = TextField()
    system_prompt = TextField()


class AgentSerializer(serializers.ModelSerializer):
    """An agent with all its rows, disabled ones too."""

    company = serializers.CharField(source="company.slug", read_only=True)
    owner = serializers.CharField(source="owner.username", read_only=True, allow_null=True, default=None)
    experiences = ExperienceSerializer(many=True, read_only=True)
    experience_count = serializers.SerializerMethodField()
    enabled_experience_count = serializers.SerializerMethodField()

    class Meta:
        model = Agent
        fields = (
            "id",
            "company",
            "name",
            "description",
            "system_prompt",
            "language",
            "enabled",
            "is_default",
            "inject_session_recaps",
            "introspection_enabled",
            "owner",
            "tags",
            "skill_names",
            "version",
            "experience_count",
            "enabled_experience_count",
            "experiences",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    @extend_schema_field(int)
    def get_experience_count(self, agent: Agent) -> int:
        if hasattr(agent, "experience_count"):
            return agent.experience_count
        return len(agent.experiences.all())

    @extend_schema_field(int)
    def get_enabled_experience_count(self, agent: Agent) -> int:
        if hasattr(agent, "enabled_experience_count"):
            return agent.enabled_experience_count
        return sum(row.enabled for row in agent.experiences.all())


class AgentSummarySerializer(AgentSerializer):
    """An agent without its rows (`?fields=summary`)."""

    class Meta(AgentSerializer.Meta):
        fields = tuple(name for name in AgentSerializer.Meta.fields if name != "experiences")
        read_only_fields = fields


class ExperienceInputSerializer(serializers.Serializer):
    """A single row: absent or null leaves a field as it is; a new row needs content."""

    content = RuledTextField(required=False, allow_null=True)
    sort_order = PositionField(required=False, allow_null=True)
    enabled = SwitchField(required=False, allow_null=True)


class VersionSerializer(serializers.ModelSerializer):
    """A version in the list: everything but the snapshot."""

    class Meta:
        model = AgentVersion
        fields = ("number", "sha256", "author", "source", "message", "created_at")
        read_only_fields = fields


class VersionDetailSerializer(VersionSerializer):
    """A version with its snapshot."""

    class Meta(VersionSerializer.Meta):
        fields = (*VersionSerializer.Meta.fields, "snapshot")
        read_only_fields = fields


class DocumentSerializer(serializers.ModelSerializer):
    """A document with its current text's hash; the text itself is in the detail."""

    company = serializers.CharField(source="company.slug", read_only=True)
    version = serializers.IntegerField(source="current_version", read_only=True)
    sha256 = serializers.CharField(read_only=True)

    class Meta:
        model = Document
        fields = ("id", "company", "path", "kind", "version", "sha256", "created_at", "updated_at")
        read_only_fields = fields


class DocumentDetailSerializer(DocumentSerializer):
    """A document with its current text."""

    text = serializers.CharField(read_only=True)

    class Meta(DocumentSerializer.Meta):
        fields = (*DocumentSerializer.Meta.fields, "text")
        read_only_fields = fields


class DocumentInputSerializer(serializers.Serializer):
    """PUT of a document: `base_version` is the version that was read (0 or null: it must be new)."""

    path = TextField()
    text = TextField()
    base_version = serializers.IntegerField(required=False, allow_null=True, min_value=0, max_value=2**31 - 1)
    note = TextField(required=False, allow_null=True, max_length=2000)


class DocumentVersionSerializer(serializers.ModelSerializer):
    """A version in the list."""

    class Meta:
        model = DocumentVersion
        fields = ("number", "sha256", "source", "author", "proposal_code", "note", "created_at")
        read_only_fields = fields


class DocumentVersionDetailSerializer(DocumentVersionSerializer):
    """A version with its text."""

    class Meta(DocumentVersionSerializer.Meta):
        fields = (*DocumentVersionSerializer.Meta.fields, "text")
        read_only_fields = fields

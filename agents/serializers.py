"""Shapes of the agents API: thin; limits and meaning live in the rules."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field, inline_serializer
from rest_framework import serializers

from agents.choices import Language
from agents.models import Agent, AgentVersion, Document, DocumentVersion
from agents.rules.fields import too_many
from common.api.fields import (
    RuledIdField,
    RuledTextField,
    RuledTextListField,
    SwitchField,
    TextField,
    WholeNumberField,
)
from experiences.models import Experience
from experiences.rules import MAX_ROWS_AT_ONCE, RowInput

Fields = tuple[str, ...]


class ExperienceSerializer(serializers.ModelSerializer):
    """A row as it is answered."""

    sort_order = serializers.IntegerField(source="order", read_only=True)

    class Meta:
        model = Experience
        fields: Fields = ("id", "content", "sort_order", "enabled", "created_at", "updated_at")
        read_only_fields: Fields = fields


class RowListSerializer(serializers.ListSerializer):
    """A list of rows; refused for its length before the first row is looked at."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The framework hands `allow_null` of the list down to its items; an item is never null.
        self.child.allow_null = False

    def to_internal_value(self, data: Any) -> list[Any]:
        if isinstance(data, list) and len(data) > MAX_ROWS_AT_ONCE:
            raise too_many("/experiences", MAX_ROWS_AT_ONCE, len(data))
        return super().to_internal_value(data)


class RowInputSerializer(serializers.Serializer):
    """One item of a nested `experiences` list; what id and content may be is decided by the rules."""

    id = RuledIdField(required=False, allow_null=True)
    content = RuledTextField(required=False, allow_null=True)
    sort_order = WholeNumberField(required=False, allow_null=True)
    enabled = SwitchField(required=False, allow_null=True)

    class Meta:
        list_serializer_class = RowListSerializer

    def to_internal_value(self, data: Any) -> RowInput:  # type: ignore[override]
        return RowInput(**super().to_internal_value(data))


class AgentInputSerializer(serializers.Serializer):
    """What may be sent of an agent; absent or null leaves a field as it is. `message` goes into the history."""

    name = TextField(required=False, allow_null=True)
    system_prompt = TextField(required=False, allow_null=True)
    description = TextField(required=False, allow_null=True)
    language = serializers.ChoiceField(choices=Language.choices, required=False, allow_null=True)
    enabled = SwitchField(required=False, allow_null=True)
    is_default = SwitchField(required=False, allow_null=True)
    inject_session_recaps = SwitchField(required=False, allow_null=True)
    introspection_enabled = SwitchField(required=False, allow_null=True)
    tags = RuledTextListField(required=False, allow_null=True)
    skill_names = RuledTextListField(required=False, allow_null=True)
    experiences = RowInputSerializer(many=True, required=False, allow_null=True)
    message = TextField(required=False, allow_null=True)


class AgentReplaceSerializer(AgentInputSerializer):
    """PUT and POST: name and role definition must be there."""

    name = TextField()
    system_prompt = TextField()


class ReasonSerializer(serializers.Serializer):
    """Why something is done; it goes into the history."""

    message = TextField(required=False, allow_null=True)


class AgentSerializer(serializers.ModelSerializer):
    """An agent with all its rows, disabled ones too."""

    company = serializers.CharField(source="company.slug", read_only=True)
    owner = serializers.CharField(source="owner.username", read_only=True, allow_null=True, default=None)
    experiences = ExperienceSerializer(many=True, read_only=True)
    experience_count = serializers.SerializerMethodField()
    enabled_experience_count = serializers.SerializerMethodField()

    class Meta:
        model = Agent
        fields: Fields = (
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
        read_only_fields: Fields = fields

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
        fields: Fields = tuple(name for name in AgentSerializer.Meta.fields if name != "experiences")
        read_only_fields: Fields = fields


#: What `?fields=` chooses between.
AgentAnswer = PolymorphicProxySerializer(
    "AgentAnswer", [AgentSerializer, AgentSummarySerializer], resource_type_field_name=None, many=False
)
AgentAnswers = PolymorphicProxySerializer(
    "AgentAnswer", [AgentSerializer, AgentSummarySerializer], resource_type_field_name=None, many=True
)


class ExperienceInputSerializer(serializers.Serializer):
    """A single row: absent or null leaves a field as it is; a new row needs content."""

    content = RuledTextField(required=False, allow_null=True)
    sort_order = WholeNumberField(required=False, allow_null=True)
    enabled = SwitchField(required=False, allow_null=True)


class VersionSerializer(serializers.ModelSerializer):
    """A version in the list: everything but the snapshot."""

    class Meta:
        model = AgentVersion
        fields: Fields = ("number", "sha256", "author", "source", "message", "created_at")
        read_only_fields: Fields = fields


class VersionDetailSerializer(VersionSerializer):
    """A version with its snapshot."""

    class Meta(VersionSerializer.Meta):
        fields: Fields = (*VersionSerializer.Meta.fields, "snapshot")
        read_only_fields: Fields = fields


class DocumentSerializer(serializers.ModelSerializer):
    """A document with its current text's hash; the text itself is in the detail."""

    company = serializers.CharField(source="company.slug", read_only=True)
    version = serializers.IntegerField(source="current_version", read_only=True)
    sha256 = serializers.CharField(read_only=True)

    class Meta:
        model = Document
        fields: Fields = ("id", "company", "path", "kind", "version", "sha256", "created_at", "updated_at")
        read_only_fields: Fields = fields


class DocumentDetailSerializer(DocumentSerializer):
    """A document with its current text."""

    text = serializers.CharField(read_only=True)

    class Meta(DocumentSerializer.Meta):
        fields: Fields = (*DocumentSerializer.Meta.fields, "text")
        read_only_fields: Fields = fields


class DocumentInputSerializer(serializers.Serializer):
    """PUT of a document: `base_version` is the version that was read (0 or null: it must be new)."""

    path = TextField()
    text = TextField()
    base_version = WholeNumberField(required=False, allow_null=True, min_value=0)
    note = TextField(required=False, allow_null=True)


class DocumentVersionSerializer(serializers.ModelSerializer):
    """A version in the list."""

    class Meta:
        model = DocumentVersion
        fields: Fields = ("number", "sha256", "source", "author", "proposal_code", "note", "created_at")
        read_only_fields: Fields = fields


class DocumentVersionDetailSerializer(DocumentVersionSerializer):
    """A version with its text."""

    class Meta(DocumentVersionSerializer.Meta):
        fields: Fields = (*DocumentVersionSerializer.Meta.fields, "text")
        read_only_fields: Fields = fields


class RowChangeSerializer(serializers.Serializer):
    """One row that differs between two versions; positions count from 0."""

    kind = serializers.ChoiceField(choices=["added", "removed", "changed", "switched", "moved"])
    id = serializers.IntegerField()
    old = serializers.CharField(allow_blank=True)
    new = serializers.CharField(allow_blank=True)
    old_position = serializers.IntegerField(allow_null=True)
    new_position = serializers.IntegerField(allow_null=True)
    enabled = serializers.BooleanField(allow_null=True)


class SettingChangeSerializer(serializers.Serializer):
    """One setting that differs."""

    name = serializers.CharField()
    old = serializers.JSONField(allow_null=True)
    new = serializers.JSONField(allow_null=True)


class DocumentStateSerializer(serializers.Serializer):
    """A body document as a version of the agent names it."""

    version = serializers.IntegerField()
    sha256 = serializers.CharField()


class DocumentChangeSerializer(serializers.Serializer):
    """One body document that differs; null where it does not exist."""

    path = serializers.CharField()
    old = DocumentStateSerializer(allow_null=True)
    new = DocumentStateSerializer(allow_null=True)


# `from` cannot be the name of an attribute.
VersionDiffSerializer = inline_serializer(
    "VersionDiff",
    {
        "from": serializers.IntegerField(),
        "to": serializers.IntegerField(),
        "role": serializers.CharField(allow_blank=True, help_text="Unified diff; empty when equal."),
        "settings": SettingChangeSerializer(many=True),
        "rows": RowChangeSerializer(many=True),
        "documents": DocumentChangeSerializer(many=True),
    },
)
DocumentDiffSerializer = inline_serializer(
    "DocumentDiff",
    {
        "path": serializers.CharField(),
        "from": serializers.IntegerField(),
        "to": serializers.IntegerField(),
        "diff": serializers.CharField(allow_blank=True, help_text="Unified diff; empty when equal."),
    },
)

"""Shapes of /knowledge."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from common.api.fields import RuledIdField, RuledTextField, RuledTextListField, TextField, WholeNumberField
from evolution.knowledge.choices import Category, KnowledgeSource
from evolution.knowledge.models import Knowledge
from evolution.knowledge.rules.known_issues import known_issue
from evolution.knowledge.selectors.shown import shown_sha256

MAX_ID = 2**63 - 1


class KnowledgeSerializer(serializers.ModelSerializer):
    """An item. `shown_hash` is what an activation may send back; `coverage` stands only in answers of a search."""

    id = serializers.CharField(source="code", read_only=True, help_text="k-001")
    company = serializers.CharField(source="company.slug", read_only=True)
    agent = serializers.IntegerField(source="agent_id", read_only=True, allow_null=True)
    tags = serializers.ListField(child=serializers.CharField(), read_only=True)
    references = serializers.ListField(child=serializers.CharField(), read_only=True)
    related = serializers.SerializerMethodField()
    report = serializers.CharField(source="source.code", read_only=True, allow_null=True, default=None)
    anti_of = serializers.CharField(source="anti_of.code", read_only=True, allow_null=True, default=None)
    anti_knowledge = serializers.SerializerMethodField()
    confidence = serializers.FloatField(read_only=True)
    shown_hash = serializers.SerializerMethodField()
    coverage = serializers.SerializerMethodField()

    class Meta:
        model = Knowledge
        fields = (
            "id",
            "company",
            "agent",
            "order",
            "enabled",
            "title",
            "category",
            "tags",
            "summary",
            "details",
            "code_example",
            "code_language",
            "references",
            "related",
            "source_type",
            "report",
            "anti_of",
            "anti_knowledge",
            "confidence",
            "status",
            "coverage",
            "redactions",
            "created_at",
            "updated_at",
            "drafted_at",
            "verified_at",
            "referenced_at",
            "applied_at",
            "last_decay_at",
            "deprecated_at",
            "deprecated_by",
            "archived_at",
            "quarantined_at",
            "confirmed_by",
            "confirmed_at",
            "confirmed_sha256",
            "shown_hash",
            "created_by",
            "version",
        )
        read_only_fields = fields

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_related(self, item: Knowledge) -> list[str]:
        return [other.code for other in sorted(item.related.all(), key=lambda other: other.number)]

    @extend_schema_field({"type": "string", "nullable": True})
    def get_anti_knowledge(self, item: Knowledge) -> str | None:
        warning = getattr(item, "anti_knowledge", None)
        return warning.code if warning else None

    def get_shown_hash(self, item: Knowledge) -> str:
        return shown_sha256(item)

    @extend_schema_field({"type": "number", "nullable": True})
    def get_coverage(self, item: Knowledge) -> float | None:
        found: dict[int, Any] = self.context.get("coverage", {})
        return found.get(item.pk)


class KnowledgeChangeSerializer(serializers.Serializer):
    """Fields to change; limits and faults are those of rules.values."""

    title = RuledTextField(required=False)
    category = RuledTextField(required=False, help_text=", ".join(Category.values))
    tags = RuledTextListField(required=False, allow_null=True)
    summary = RuledTextField(required=False, allow_null=True)
    details = RuledTextField(required=False, allow_null=True)
    code_example = RuledTextField(required=False, allow_null=True)
    code_language = RuledTextField(required=False, allow_null=True)
    references = RuledTextListField(required=False, allow_null=True)
    related = RuledTextListField(required=False, allow_null=True, help_text="Codes such as k-001")
    enabled = RuledIdField(required=False, help_text="Staff only")
    order = RuledIdField(required=False, help_text="Staff only; its place, from 0")
    confidence = RuledIdField(required=False, help_text="Staff only; 0 to 1")


class KnowledgeInputSerializer(KnowledgeChangeSerializer):
    """A new draft."""

    enabled = order = confidence = None  # type: ignore[assignment]
    title = RuledTextField()
    category = RuledTextField(help_text=", ".join(Category.values))
    agent = WholeNumberField(min_value=1, max_value=MAX_ID, required=False, allow_null=True)
    source_type = RuledTextField(required=False, allow_null=True, help_text=", ".join(KnowledgeSource.values))


class KnowledgeReasonSerializer(serializers.Serializer):
    """Body of the verbs."""

    reason = TextField(required=False, allow_null=True, max_length=2000)


class ActivateSerializer(KnowledgeReasonSerializer):
    """`shown_hash` of the item as it was read: another text is not activated."""

    shown_hash = TextField(required=False, allow_null=True, max_length=64)


class KnownIssueSerializer(serializers.Serializer):
    """A line of the list of known issues."""

    id = serializers.CharField()
    date = serializers.DateField()
    type = serializers.CharField()
    cause = serializers.CharField(allow_blank=True)
    solution = serializers.CharField(allow_blank=True)
    text = serializers.CharField(help_text="date | type | cause | solution (k-001)")

    def to_representation(self, item: Knowledge) -> dict[str, str]:
        return known_issue(
            code=item.code,
            day=timezone.localdate(item.created_at),
            title=item.title,
            summary=item.summary,
            details=item.details,
        )

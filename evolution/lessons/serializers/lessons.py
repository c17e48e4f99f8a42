"""Shapes of /lessons."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from common.api.fields import RuledTextField, RuledTextListField, SwitchField, TextField, WholeNumberField
from evolution.lessons.choices import ArchiveReason
from evolution.lessons.models import Lesson
from evolution.lessons.rules.kinds import lesson_code
from evolution.lessons.rules.lifecycle import completeness_faults
from evolution.lessons.services.records import WAITING, shown_successor, waiting
from evolution.lessons.services.storing import completeness_of

MAX_ID = 2**63 - 1


class CheckSerializer(serializers.Serializer):
    """One item of the checklist (防复发检查)."""

    text = serializers.CharField()
    done = serializers.BooleanField()


class LessonSerializer(serializers.ModelSerializer):
    """A lesson. `missing` names what it lacks to be confirmed; links are codes."""

    code = serializers.CharField(read_only=True)
    company = serializers.CharField(source="company.slug", read_only=True)
    agent = serializers.IntegerField(source="agent_id", read_only=True, allow_null=True)
    tags = serializers.ListField(child=serializers.CharField(), read_only=True)
    related_files = serializers.ListField(child=serializers.CharField(), read_only=True)
    references = serializers.ListField(child=serializers.CharField(), read_only=True)
    warnings = serializers.ListField(child=serializers.CharField(), read_only=True)
    checklist = CheckSerializer(many=True, read_only=True)
    related = serializers.SerializerMethodField()
    supersedes = serializers.SerializerMethodField()
    superseded_by = serializers.SerializerMethodField()
    rule_experience = serializers.IntegerField(source="rule_experience_id", read_only=True, allow_null=True)
    rule_document = serializers.IntegerField(source="rule_document_id", read_only=True, allow_null=True)
    repository = serializers.CharField(
        source="repository.name", read_only=True, allow_null=True, default=None
    )
    archive_reason = serializers.ChoiceField(ArchiveReason.choices, allow_blank=True, read_only=True)
    extras = serializers.SerializerMethodField()
    missing = serializers.SerializerMethodField()

    class Meta:
        model = Lesson
        fields = (
            "code",
            "company",
            "agent",
            "title",
            "type",
            "severity",
            "category",
            "date",
            "trigger",
            "tags",
            "related_files",
            "files_left_out",
            "what",
            "when",
            "how",
            "takeaway",
            "checklist",
            "related",
            "references",
            "supersedes",
            "superseded_by",
            "rule_experience",
            "rule_document",
            "signal",
            "model",
            "config_hash",
            "status",
            "missing",
            "expires_on",
            "expires_manual",
            "archived_at",
            "archive_reason",
            "quarantined_at",
            "source",
            "repository",
            "sha",
            "subject",
            "reverts_sha",
            "capture_confidence",
            "extras",
            "warnings",
            "redactions",
            "recalled_count",
            "helped_count",
            "not_helped_count",
            "last_recalled_at",
            "created_by",
            "decided_by",
            "decided_at",
            "decision_reason",
            "version",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_related(self, lesson: Lesson) -> list[str]:
        return [lesson_code(number) for number in sorted(other.number for other in lesson.related.all())]

    @extend_schema_field({"type": "string", "nullable": True})
    def get_supersedes(self, lesson: Lesson) -> str | None:
        return _code(lesson.supersedes.number if lesson.supersedes else waiting(lesson, "supersedes"))

    @extend_schema_field({"type": "string", "nullable": True})
    def get_superseded_by(self, lesson: Lesson) -> str | None:
        return _code(shown_successor(lesson))

    @extend_schema_field({"type": "object", "additionalProperties": {}})
    def get_extras(self, lesson: Lesson) -> dict[str, Any]:
        return {name: value for name, value in lesson.extras.items() if name not in WAITING}

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_missing(self, lesson: Lesson) -> list[str]:
        faults = completeness_faults(completeness_of(lesson))
        return list(dict.fromkeys(fault.pointer[1:] for fault in faults))


def _code(number: int | None) -> str | None:
    return lesson_code(number) if number else None


@extend_schema_field(
    {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["text"],
            "properties": {"text": {"type": "string"}, "done": {"type": "boolean"}},
        },
    }
)
class ChecklistField(RuledTextListField):
    """Items as {text, done} (or just texts), as far as their rule allows."""


class LessonChangeSerializer(serializers.Serializer):
    """What a draft says, or the fields of a PATCH. Numbers, states and counters are never taken from here."""

    agent = WholeNumberField(min_value=1, max_value=MAX_ID, required=False, allow_null=True)
    title = RuledTextField(required=False)
    type = RuledTextField(required=False)
    severity = RuledTextField(required=False)
    category = RuledTextField(required=False)
    date = serializers.DateField(required=False)
    trigger = RuledTextField(required=False, allow_null=True)
    tags = RuledTextListField(required=False, allow_null=True)
    related_files = RuledTextListField(required=False, allow_null=True)
    what = RuledTextField(required=False, allow_null=True)
    when = RuledTextField(required=False, allow_null=True)
    how = RuledTextField(required=False, allow_null=True)
    takeaway = RuledTextField(required=False, allow_null=True)
    checklist = ChecklistField(required=False, allow_null=True)
    related = RuledTextListField(required=False, allow_null=True)
    references = RuledTextListField(required=False, allow_null=True)
    supersedes = RuledTextField(required=False, allow_null=True)
    rule_experience = WholeNumberField(min_value=1, max_value=MAX_ID, required=False, allow_null=True)
    rule_document = WholeNumberField(min_value=1, max_value=MAX_ID, required=False, allow_null=True)
    signal = RuledTextField(required=False, allow_null=True)
    model = RuledTextField(required=False, allow_null=True)
    config_hash = RuledTextField(required=False, allow_null=True)
    expires_on = serializers.DateField(required=False, allow_null=True)
    expires_manual = SwitchField(required=False)


class LessonInputSerializer(LessonChangeSerializer):
    """A new draft."""

    title = RuledTextField()


class LessonReasonSerializer(serializers.Serializer):
    """Body of confirm, reject, archive, restore."""

    reason = TextField(required=False, allow_null=True, max_length=2000)


class SupersedeSerializer(LessonReasonSerializer):
    """`supersedes`: the older lesson (null: none any more), or `superseded_by`: the newer one; one of them."""

    supersedes = RuledTextField(required=False, allow_null=True)
    superseded_by = RuledTextField(required=False, allow_null=True)


class PromoteSerializer(LessonReasonSerializer):
    """The agent that gets the experience; the lesson's own when it has one."""

    agent = WholeNumberField(min_value=1, max_value=MAX_ID, required=False, allow_null=True)


class IndexRowSerializer(serializers.Serializer):
    """A lesson in the index; `status` stands only in the row of one that is not active."""

    id = serializers.CharField()
    title = serializers.CharField()
    type = serializers.CharField()
    severity = serializers.CharField()
    category = serializers.CharField()
    date = serializers.DateField(allow_null=True)
    tags = serializers.ListField(child=serializers.CharField())
    related_files = serializers.ListField(child=serializers.CharField())
    key_lesson = serializers.CharField()
    path = serializers.CharField()
    expires = serializers.DateField(allow_null=True)
    status = serializers.CharField(required=False)


class IndexSerializer(serializers.Serializer):
    """index.json."""

    version = serializers.CharField()
    last_updated = serializers.DateField(allow_null=True)
    total = serializers.IntegerField()
    type_enum = serializers.ListField(child=serializers.CharField())
    experiences = IndexRowSerializer(many=True)


class MarkdownSerializer(serializers.Serializer):
    """A file, for callers that ask for JSON."""

    markdown = serializers.CharField()

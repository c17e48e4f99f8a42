"""Shapes of patterns."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from common.api.fields import RuledTextField, RuledTextListField, TextField, WholeNumberField
from evolution.patterns.choices import PatternCategory
from evolution.patterns.models import Pattern
from evolution.patterns.rules.scaffold import MAX_PARAMETERS, MAX_VALUE, names_of
from evolution.patterns.services.scanning import Scanned


class PatternSerializer(serializers.ModelSerializer):
    """A pattern, who reported it and who stands for it."""

    id = serializers.CharField(source="code", help_text="P-001")
    agent = serializers.IntegerField(source="agent_id", allow_null=True)
    confidence = serializers.FloatField()
    occurrences = serializers.IntegerField()
    reported_by = serializers.CharField(source="created_by")
    vouched_by = serializers.CharField(help_text="The person who stands for the text; empty: nobody does")
    parameters = serializers.SerializerMethodField(help_text="Names that the template asks for")

    class Meta:
        model = Pattern
        fields = (
            "id",
            "agent",
            "name",
            "category",
            "description",
            "keywords",
            "regex",
            "fingerprint",
            "template",
            "template_language",
            "parameters",
            "confidence",
            "status",
            "occurrences",
            "imported_occurrences",
            "first_seen",
            "reported_by",
            "vouched_by",
            "redactions",
            "version",
        )
        read_only_fields = fields

    def get_parameters(self, pattern: Pattern) -> list[str]:
        return names_of(pattern.template)


class PatternInputSerializer(serializers.Serializer):
    """The fields of a pattern; limits and faults are those of rules.values. Only staff set a confidence."""

    agent = WholeNumberField(required=False, allow_null=True, min_value=1, max_value=2**63 - 1)
    name = RuledTextField(required=False, allow_null=True)
    category = RuledTextField(required=False, help_text=", ".join(PatternCategory.values))
    description = RuledTextField(required=False, allow_null=True)
    keywords = RuledTextListField(required=False, allow_null=True)
    regex = RuledTextField(required=False, allow_null=True, help_text="RE2 syntax, at most 200 characters")
    template = RuledTextField(required=False, allow_null=True, help_text="{{name}} and ${name} are replaced")
    template_language = RuledTextField(required=False, allow_null=True)
    confidence = serializers.JSONField(required=False, help_text="0 to 1 with at most three places")


class ScanRequestSerializer(serializers.Serializer):
    """The difference of one commit."""

    agent = WholeNumberField(required=False, allow_null=True, min_value=1, max_value=2**63 - 1)
    repository = RuledTextField(required=False, allow_null=True)
    commit = RuledTextField(required=False, allow_null=True)
    diff = RuledTextField(required=False, allow_null=True, help_text="A unified diff")


class SightingSerializer(serializers.Serializer):
    """A pattern in a file."""

    pattern = serializers.CharField(source="pattern.code")
    file = serializers.CharField()


class ScanAnswerSerializer(serializers.Serializer):
    """What was found that was not known before."""

    files = serializers.IntegerField()
    files_left_out = serializers.IntegerField()
    sightings = SightingSerializer(many=True)
    new_patterns = PatternSerializer(many=True, source="drafted")
    promoted = serializers.SerializerMethodField()

    def get_promoted(self, report: Scanned) -> list[str]:
        return [pattern.code for pattern in report.promoted]


class SuggestRequestSerializer(serializers.Serializer):
    """What is about to be written."""

    agent = WholeNumberField(required=False, allow_null=True, min_value=1, max_value=2**63 - 1)
    description = TextField(max_length=4000)


class SuggestionSerializer(serializers.Serializer):
    """A pattern that fits."""

    pattern = PatternSerializer()
    similarity = serializers.FloatField()


class SuggestAnswerSerializer(serializers.Serializer):
    """The patterns that fit best, and what to tell the runtime."""

    patterns = SuggestionSerializer(many=True)
    text = serializers.CharField(allow_blank=True)


class ScaffoldRequestSerializer(serializers.Serializer):
    """The values of the names in the template."""

    params = serializers.DictField(child=TextField(max_length=MAX_VALUE), required=False)

    def validate_params(self, value: dict[str, str]) -> dict[str, str]:
        if len(value) > MAX_PARAMETERS:
            told = {"limit": MAX_PARAMETERS, "actual": len(value), "excess": len(value) - MAX_PARAMETERS}
            detail = _("At most %(limit)d entries; there are %(actual)d: remove %(excess)d.")
            raise serializers.ValidationError(detail % told)
        return value


class ScaffoldAnswerSerializer(serializers.Serializer):
    """The text, the names without a value, and who stands for the template."""

    text = serializers.CharField(allow_blank=True)
    missing = serializers.ListField(child=serializers.CharField())
    status = serializers.CharField()
    reported_by = serializers.CharField()
    vouched_by = serializers.CharField(allow_blank=True)

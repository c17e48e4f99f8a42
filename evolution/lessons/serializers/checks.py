"""Shapes of the check of a change in the API."""

from __future__ import annotations

from rest_framework import serializers

from common.api.fields import RuledTextField, RuledTextListField
from evolution.lessons.choices import Verdict


class AnswerSerializer(serializers.Serializer):
    """What was done about one item of a lesson's checklist."""

    lesson = RuledTextField(help_text="The lesson's code")
    item = serializers.IntegerField(min_value=0, help_text="Counted from 0")
    done = serializers.BooleanField()
    note = RuledTextField(required=False, help_text="At most 500 characters")


class CheckRequestSerializer(serializers.Serializer):
    """A change; limits and faults are those of rules.check_request."""

    reference = RuledTextField(help_text="1 to 200 characters, e.g. the pull request")
    modified_files = RuledTextListField(help_text="At most 3,000 paths")
    subject = RuledTextField(required=False, help_text="At most 500 characters")
    body = RuledTextField(required=False, help_text="At most 20,000 characters; a code named here is cited")
    labels = RuledTextListField(required=False)
    cited = RuledTextListField(required=False, help_text="Codes of lessons")
    answers = AnswerSerializer(many=True, required=False)


class OpenItemSerializer(serializers.Serializer):
    """An item that nobody has answered as done."""

    item = serializers.IntegerField()
    text = serializers.CharField()


class TouchedSerializer(serializers.Serializer):
    """A lesson whose files the change meets."""

    id = serializers.CharField()
    title = serializers.CharField()
    severity = serializers.CharField()
    matched_files = serializers.ListField(child=serializers.CharField())
    open_items = OpenItemSerializer(many=True)


class CheckAnswerSerializer(serializers.Serializer):
    """The verdict and what it rests on; `markdown` belongs into the text of the pull request."""

    reference = serializers.CharField()
    verdict = serializers.ChoiceField(Verdict.choices)
    lessons = TouchedSerializer(many=True)
    missing_citations = serializers.ListField(child=serializers.CharField())
    fix_without_lesson = serializers.BooleanField()
    markdown = serializers.CharField()

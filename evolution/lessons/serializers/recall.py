"""Shapes of recall in the API."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers

from common.api.fields import RuledTextField
from evolution.lessons.choices import Purpose
from evolution.lessons.rules.answers import POSSIBLE
from evolution.lessons.rules.recall_request import MAX_TOP_K, TOP_K
from evolution.lessons.selectors.recall import Match, Recalled

FOLDER = ".agent/experiences"


class ListOrCommasField(serializers.ListField):
    """A list of texts, or one text with commas between them."""

    child = serializers.CharField()


class RecallRequestSerializer(serializers.Serializer):
    """What may be sent; limits and faults are those of rules.recall_request. One of task, tags, files is needed."""

    task = RuledTextField(required=False, help_text="At most 4,000 characters")
    tags = ListOrCommasField(required=False, help_text="At most 20; a text with commas is a list too")
    modified_files = ListOrCommasField(required=False, help_text="At most 500 paths; the same as files")
    files = ListOrCommasField(required=False)
    agent = serializers.IntegerField(required=False, min_value=1)
    purpose = serializers.ChoiceField(Purpose.choices, required=False)
    top_k = serializers.IntegerField(required=False, min_value=1, max_value=MAX_TOP_K, default=TOP_K)
    min_relevance = serializers.FloatField(required=False, min_value=0, max_value=1, default=POSSIBLE)
    include_archived = serializers.BooleanField(required=False)
    include_superseded = serializers.BooleanField(required=False)
    reference = RuledTextField(required=False, help_text="At most 200 characters, e.g. the pull request")
    why_not = RuledTextField(required=False, help_text="A lesson's code: why is it not in the answer?")


class MatchSerializer(serializers.Serializer):
    """A lesson of the answer. `parts` x `recency` = `score`."""

    id = serializers.CharField()
    title = serializers.CharField()
    relevance = serializers.FloatField()
    score = serializers.FloatField()
    band = serializers.ChoiceField(["strong", "possible", ""])
    matched_on = serializers.ListField(child=serializers.ChoiceField(["tags", "keywords", "files"]))
    scores = serializers.DictField(child=serializers.FloatField())
    weights = serializers.DictField(child=serializers.FloatField())
    parts = serializers.DictField(child=serializers.FloatField())
    recency = serializers.FloatField()
    key_lesson = serializers.CharField(allow_blank=True)
    severity = serializers.CharField()
    category = serializers.CharField()
    path = serializers.CharField()
    checklist = serializers.ListField(child=serializers.DictField())


class RecallAnswerSerializer(serializers.Serializer):
    """The answer; `recall_id` is null where nothing was logged."""

    recall_id = serializers.UUIDField(allow_null=True)
    matched_experiences = MatchSerializer(many=True)
    warnings = serializers.ListField(child=serializers.CharField())
    total_experiences_scanned = serializers.IntegerField()
    generated_at = serializers.DateTimeField()
    why_not = serializers.DictField(required=False)


class OutcomeRequestSerializer(serializers.Serializer):
    """Whether a recalled lesson helped."""

    lesson = RuledTextField(help_text="The lesson's code")
    helped = serializers.BooleanField()
    note = RuledTextField(required=False, help_text="At most 500 characters")


class OutcomeSerializer(serializers.Serializer):
    """What is known now; `replaced`: an earlier answer was."""

    recall_id = serializers.UUIDField()
    lesson = serializers.CharField()
    helped = serializers.BooleanField()
    note = serializers.CharField(allow_blank=True)
    replaced = serializers.BooleanField()


def recall_answer(recalled: Recalled, recall_id: UUID | None = None) -> dict[str, Any]:
    """The answer as JSON values; docs/rules.md: recall answer."""
    answer: dict[str, Any] = {
        "recall_id": str(recall_id) if recall_id else None,
        "matched_experiences": [_match(match) for match in recalled.matches],
        "warnings": recalled.warnings,
        "total_experiences_scanned": recalled.scanned,
        "generated_at": timezone.localtime(recalled.generated_at).isoformat(),
    }
    if recalled.why_not is not None:
        answer["why_not"] = recalled.why_not
    return answer


def _match(match: Match) -> dict[str, Any]:
    lesson, relevance = match.lesson, match.relevance
    return {
        "id": lesson.code,
        "title": lesson.title,
        "relevance": round(relevance.value, 2),
        "score": round(match.score.total, 6),
        "band": match.band,
        "matched_on": relevance.matched_on,
        "scores": {name: round(value, 3) for name, value in relevance.scores.items()},
        "weights": relevance.weights,
        "parts": {name: round(part, 6) for name, part in match.score.parts.items()},
        "recency": round(match.score.recency, 6),
        "key_lesson": lesson.takeaway or lesson.title,
        "severity": lesson.severity,
        "category": lesson.category,
        "path": f"{FOLDER}/{lesson.code}.md",
        "checklist": lesson.checklist,
    }

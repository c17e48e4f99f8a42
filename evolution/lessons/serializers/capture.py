"""Shapes of pushed commits and of what they gave."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from common.api.fields import RuledTextField, RuledTextListField
from evolution.lessons.choices import Source
from evolution.lessons.services.capture_report import CaptureReport


class PushedCommitSerializer(serializers.Serializer):
    """A commit as git tells it; limits and faults are those of rules.capture_request."""

    sha = RuledTextField(help_text="1 to 64 letters and digits")
    subject = RuledTextField(help_text="The first line of the message")
    body = RuledTextField(required=False, help_text="The rest of it; the first 10,000 characters are read")
    author_date = RuledTextField(required=False, help_text="ISO 8601; the date of the lesson")
    committer_date = RuledTextField(required=False, help_text="ISO 8601; for files that are changed often")
    parents = RuledTextListField(required=False, help_text="With several it is a merge, which is skipped")
    files = serializers.ListField(
        child=serializers.JSONField(),
        required=False,
        help_text="At most 3,000 paths, or objects with `path`, `status` (A, M, D, R) and `old_path`",
    )
    file_count = serializers.IntegerField(
        required=False, help_text="How many it changed, when more than are sent"
    )


class CaptureRequestSerializer(serializers.Serializer):
    """Commits of one repository."""

    repository = RuledTextField(help_text="Its name here")
    commits = PushedCommitSerializer(many=True, help_text="At most 500")
    labels = RuledTextListField(
        required=False, help_text="Of the pull request; `experience-capture` asks for a lesson"
    )


class CreatedSerializer(serializers.Serializer):
    """A draft and the commit that it comes from."""

    id = serializers.CharField()
    sha = serializers.CharField()
    source = serializers.ChoiceField(Source.choices)  # type: ignore[assignment]


class SkippedSerializer(serializers.Serializer):
    """A commit that gave nothing, and why."""

    sha = serializers.CharField()
    reason = serializers.CharField()


class CaptureAnswerSerializer(serializers.Serializer):
    """What was drafted, and what was not."""

    created = CreatedSerializer(many=True)
    skipped = SkippedSerializer(many=True)


def capture_answer(report: CaptureReport) -> dict[str, Any]:
    """The answer; a commit that gave something is not among the skipped."""
    gave = {made.sha for made in report.made if made.source != Source.CHURN}
    return {
        "created": [
            {"id": made.lesson.code, "sha": made.sha, "source": str(made.source)} for made in report.made
        ],
        "skipped": [
            {"sha": skip.sha, "reason": skip.reason} for skip in report.skipped if skip.sha not in gave
        ],
    }

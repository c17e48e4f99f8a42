"""Shapes of the proposals API."""

from __future__ import annotations

from typing import Any

from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from common.api.fields import TextField, WholeNumberField
from common.redaction import PERSONAL, redact
from evolution.proposals.choices import ConflictChoice
from evolution.proposals.models import Proposal, ProposalItem
from evolution.proposals.selectors import HEAVY, lessons_beside
from evolution.proposals.services.locking import hash_of

#: The id of an end user. Not ending in a dot: as a folder such an id would name another user's files.
USER_ID = r"\A(?!.*\.\Z)[A-Za-z0-9._@-]{1,64}\Z"


class UserIdField(TextField):
    """The id of an end user: a text, never a number, which has more than one spelling (1.50)."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_blank=False, **kwargs)
        told = _("A user id has 1 to 64 letters, digits and the signs . _ @ -")
        self.validators += [RegexValidator(USER_ID, told), _check_no_secret]


def _check_no_secret(user_id: str) -> None:
    """An id is kept as it is, in paths too, so what must not be kept can be none."""
    if set(redact(user_id).counts) - PERSONAL:
        raise serializers.ValidationError(_("This looks like a secret; name the user by an id."))


class ItemSerializer(serializers.ModelSerializer):
    """An item with everything that a decision needs."""

    conflict_choice = serializers.ChoiceField(ConflictChoice.choices, allow_blank=True, read_only=True)

    class Meta:
        model = ProposalItem
        fields = (
            "number",
            "type",
            "content",
            "target",
            "new_target",
            "operation",
            "base_version",
            "base_sha256",
            "base_text",
            "new_text",
            "new_sha256",
            "diff",
            "risk",
            "protection",
            "conflicts",
            "conflict_choice",
            "faults",
            "flags",
            "status",
            "changed_at",
            "decided_by",
            "decided_for",
            "rejection_reason",
            "result",
            "reverts",
        )
        read_only_fields = fields


class ItemSummarySerializer(ItemSerializer):
    """An item in a list: without its texts."""

    class Meta(ItemSerializer.Meta):
        fields = tuple(name for name in ItemSerializer.Meta.fields if name not in HEAVY)
        read_only_fields = fields


class LessonBesideSerializer(serializers.Serializer):
    """A lesson that recall found for the proposal or that it cites; `answer` is cited, dismissed or empty."""

    lesson = serializers.CharField(source="lesson.code")
    title = serializers.CharField(source="lesson.title")
    key_lesson = serializers.CharField(source="lesson.takeaway")
    band = serializers.CharField()
    relevance = serializers.FloatField(allow_null=True)
    answer = serializers.CharField()
    reason = serializers.CharField()


class ProposalSerializer(serializers.ModelSerializer):
    """A proposal with its items; `shown_hash` is what an approval may send back."""

    company = serializers.CharField(source="company.slug", read_only=True)
    agent = serializers.IntegerField(source="agent_id", read_only=True, allow_null=True)
    agent_name = serializers.CharField(source="agent.name", read_only=True, allow_null=True)
    code = serializers.CharField(read_only=True)
    shown_hash = serializers.SerializerMethodField()
    lessons = serializers.SerializerMethodField()
    items = ItemSerializer(many=True, read_only=True)

    class Meta:
        model = Proposal
        fields: tuple[str, ...] = (
            "code",
            "company",
            "agent",
            "agent_name",
            "title",
            "kind",
            "trigger",
            "conversation_id",
            "user_id",
            "rationale",
            "risk",
            "status",
            "needs_content",
            "created_by",
            "last_edited_by",
            "cited_lessons",
            "dismissed_lessons",
            "seen_count",
            "approved_by",
            "decided_by",
            "approved_at",
            "approved_hash",
            "decision_reason",
            "pending_at",
            "applied_at",
            "expires_at",
            "failure",
            "failure_code",
            "rolled_back_by",
            "rolled_back_at",
            "rollback_reason",
            "redactions",
            "version",
            "shown_hash",
            "lessons",
            "created_at",
            "updated_at",
            "items",
        )
        read_only_fields: tuple[str, ...] = fields

    @extend_schema_field(str)
    def get_shown_hash(self, proposal: Proposal) -> str:
        return hash_of(proposal.items.all())

    @extend_schema_field(LessonBesideSerializer(many=True))
    def get_lessons(self, proposal: Proposal) -> Any:
        return LessonBesideSerializer(lessons_beside(proposal), many=True).data


class ProposalSummarySerializer(ProposalSerializer):
    """A proposal in a list; what an approval sends back and what history says come with the answer about this one."""

    items = ItemSummarySerializer(many=True, read_only=True)

    class Meta(ProposalSerializer.Meta):
        fields = tuple(
            name for name in ProposalSerializer.Meta.fields if name not in ("shown_hash", "lessons")
        )
        read_only_fields = fields


class ItemInputSerializer(serializers.Serializer):
    """One item of a new proposal. Risk, base and diff are computed, never taken from here."""

    type = TextField()
    operation = TextField()
    target = TextField(required=False, allow_null=True)
    content = TextField(required=False, allow_null=True)
    new_text = TextField(required=False, allow_null=True)
    new_target = TextField(required=False, allow_null=True)


class ProposalInputSerializer(serializers.Serializer):
    """A new proposal; without an agent it may set parameters only."""

    agent = WholeNumberField(min_value=1, max_value=2**63 - 1, required=False, allow_null=True)
    title = TextField(required=False, allow_null=True)
    kind = TextField(required=False, allow_null=True)
    rationale = TextField(required=False, allow_null=True, max_length=10_000)
    user_id = UserIdField(required=False, allow_null=True)
    conversation_id = TextField(required=False, allow_null=True, max_length=200)
    cited_lessons = serializers.ListField(
        child=TextField(max_length=20), required=False, allow_null=True, max_length=50
    )
    items = ItemInputSerializer(many=True, max_length=50)


class DismissedLessonSerializer(serializers.Serializer):
    """A lesson that does not apply, and why."""

    lesson = TextField(max_length=20)
    reason = TextField(max_length=300)


class ProposalChangeSerializer(serializers.Serializer):
    """PATCH of a proposal: which lessons it heeds and which do not apply; a list that is left out stays."""

    cited_lessons = serializers.ListField(child=TextField(max_length=20), required=False, max_length=50)
    dismissed_lessons = serializers.ListField(
        child=DismissedLessonSerializer(), required=False, max_length=50
    )


class ItemChangeSerializer(serializers.Serializer):
    """PATCH of an item: other words, another whole text, another target, or a choice about its conflict."""

    content = TextField(required=False, allow_null=True)
    new_text = TextField(required=False, allow_null=True)
    target = TextField(required=False, allow_null=True)
    new_target = TextField(required=False, allow_null=True)
    conflict_choice = TextField(required=False, allow_null=True)


class DecisionSerializer(serializers.Serializer):
    """Body of the verbs. `items` are item numbers; `confirmation` is the agent's name, typed."""

    items = serializers.ListField(
        child=WholeNumberField(min_value=1, max_value=10_000), required=False, allow_null=True
    )
    reason = TextField(required=False, allow_null=True, max_length=2000)
    confirmation = TextField(required=False, allow_null=True, max_length=200)
    decided_by = UserIdField(required=False, allow_null=True)
    note = TextField(required=False, allow_null=True, max_length=500)
    shown_hash = TextField(required=False, allow_null=True, max_length=64)


class TextAnswerSerializer(serializers.Serializer):
    """The proposal as a text for the conversation."""

    text = serializers.CharField()


class FigureSerializer(serializers.Serializer):
    """One health figure; `value` null when there is nothing to divide by."""

    key = serializers.CharField()
    label = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    numerator = serializers.IntegerField()
    denominator = serializers.IntegerField()
    healthy = serializers.BooleanField(allow_null=True)


class HealthSerializer(serializers.Serializer):
    """The four figures."""

    figures = FigureSerializer(many=True)


class AuditEntrySerializer(serializers.Serializer):
    """One line of the audit view: codes for programs, labels for people."""

    at = serializers.DateTimeField()
    agent = serializers.CharField()
    code = serializers.CharField()
    item = serializers.IntegerField(source="number")
    type = serializers.CharField(source="item_type")
    type_label = serializers.CharField(source="type")
    content = serializers.CharField()
    status = serializers.CharField(source="state")
    status_label = serializers.CharField(source="status")
    confirmed_by = serializers.CharField()

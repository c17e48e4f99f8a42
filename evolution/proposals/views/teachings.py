"""POST /teachings: a runtime passes on a user's message; what it teaches is proposed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.selectors import get_agent
from common.api.fields import TextField, WholeNumberField
from common.api.views import FieldbookView, validated
from common.idempotency.services import Answer
from evolution.memory.rules.teaching import IntentType
from evolution.proposals.serializers import ProposalSerializer, UserIdField
from evolution.proposals.sources.teaching import Learnt, Teaching, learn, recent_changes
from evolution.proposals.views.proposals import answer_for


class MessageSerializer(serializers.Serializer):
    """One earlier message."""

    role = serializers.ChoiceField(choices=["user", "assistant"])
    text = TextField(max_length=20_000)


class TeachingSerializer(serializers.Serializer):
    """A user's message and the ones before it (oldest first)."""

    agent = WholeNumberField(min_value=1, max_value=2**63 - 1)
    user_id = UserIdField()
    text = TextField(max_length=20_000)
    conversation_id = TextField(required=False, allow_null=True, max_length=200)
    # Not `many=True`: there `allow_null` would also let a message be null.
    context = serializers.ListField(  # type: ignore[assignment]
        child=MessageSerializer(), required=False, allow_null=True, max_length=50
    )


class NothingDetectedSerializer(serializers.Serializer):
    """The message teaches nothing, or only asks what was learnt."""

    detected = serializers.BooleanField()


class IntentSerializer(serializers.Serializer):
    """What the user wants kept, and where; `target_hint` is the skill that the message names."""

    type = serializers.ChoiceField(choices=[(kind.value, kind.value) for kind in IntentType])
    target = serializers.CharField()
    content = serializers.CharField(allow_blank=True)
    needs_content = serializers.BooleanField()
    target_hint = serializers.CharField(allow_null=True)


class CorrectionSerializer(serializers.Serializer):
    """What was wrong and right, where the user names both, and the rule behind it."""

    type = serializers.CharField()
    domain = serializers.CharField(allow_null=True)
    skill = serializers.CharField(allow_null=True)
    wrong = serializers.CharField(allow_null=True)
    correct = serializers.CharField(allow_null=True)
    rule = serializers.CharField()


class ImpactSerializer(serializers.Serializer):
    """The target document of a correction, how often this happened in 30 days, how risky the change is."""

    affects = serializers.CharField()
    frequency = serializers.ChoiceField(choices=["low", "medium", "high"])
    risk_level = serializers.CharField()


class TaughtSerializer(ProposalSerializer):
    """The proposal with what was understood: either an intent, or a correction with its impact."""

    detected = serializers.BooleanField(read_only=True)
    intent = IntentSerializer(allow_null=True, read_only=True)
    correction = CorrectionSerializer(allow_null=True, read_only=True)
    impact = ImpactSerializer(allow_null=True, read_only=True)

    class Meta(ProposalSerializer.Meta):
        fields = (*ProposalSerializer.Meta.fields, "detected", "intent", "correction", "impact")
        read_only_fields = fields


class TeachingView(FieldbookView):
    """201 with the proposal; 200 with the one that says it already, with recent changes, or `detected: false`."""

    scopes = {"POST": "report"}
    staff_permissions = {"POST": "proposals.add_proposal"}

    @extend_schema(
        request=TeachingSerializer, responses={201: TaughtSerializer, 200: NothingDetectedSerializer}
    )
    def post(self, request: Request) -> Response:
        return self.idempotently(request, "teachings", lambda: self._learn(request))

    def _learn(self, request: Request) -> Answer:
        fields = validated(TeachingSerializer, request.data)
        agent = get_agent(self.caller.company, fields["agent"], self.caller.agent_id)
        teaching = Teaching(
            agent=agent,
            company=self.caller.company,
            user_id=fields["user_id"],
            text=fields["text"],
            conversation_id=fields.get("conversation_id") or "",
            context=[message["text"] for message in fields.get("context") or ()],
        )
        learnt = learn(teaching=teaching, actor=self.caller.actor, now=timezone.now())
        if learnt.proposal is None:
            return Answer(200, _without_proposal(learnt, teaching))
        answer = answer_for(learnt.proposal, 201 if learnt.created else 200)
        return Answer(answer.status, {**answer.body, **_findings(learnt)}, answer.headers)


def _findings(learnt: Learnt) -> dict[str, Any]:
    intent = {**asdict(learnt.intent), "target": learnt.target} if learnt.intent else None
    correction = asdict(learnt.correction) if learnt.correction else None
    impact = asdict(learnt.impact) if learnt.impact else None
    return {"detected": True, "intent": intent, "correction": correction, "impact": impact}


def _without_proposal(learnt: Learnt, teaching: Teaching) -> dict[str, Any]:
    if not learnt.introspection:
        return {"detected": False}
    changes = [
        {
            "code": item.proposal.code,
            "type": item.type,
            "content": item.content,
            "target": item.target,
            "applied_at": item.proposal.applied_at,
        }
        for item in recent_changes(teaching.agent, teaching.company)
    ]
    return {"detected": True, "type": "introspection", "recent_changes": changes}

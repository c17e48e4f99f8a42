"""POST /parameters/{name}/propose and POST /parameter-changes/{id}/revert: both draft a proposal."""

from __future__ import annotations

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from common.api.fields import RuledValueField, TextField
from common.api.views import FieldbookView, fields_of, validated
from common.idempotency.services import Answer
from evolution.parameters.rules.specs import spec_of
from evolution.parameters.selectors import get_change
from evolution.proposals.serializers import ProposalSerializer
from evolution.proposals.services.drafting import Drafted
from evolution.proposals.sources.parameters import propose_parameter, propose_revert
from evolution.proposals.views.proposals import answer_for


class ParameterProposalSerializer(serializers.Serializer):
    """The wanted value, as JSON has it, and why."""

    value = RuledValueField(allow_null=True)
    reason = TextField()


class RevertSerializer(serializers.Serializer):
    """Why; empty: that it takes the change back."""

    reason = TextField(required=False, allow_null=True)


class ParameterDoor(FieldbookView):
    """Base: whoever may draft proposals, for the whole company."""

    scopes = {"POST": "report"}
    staff_permissions = {"POST": "proposals.add_proposal"}


def _answer(drafted: Drafted) -> Answer:
    if drafted.proposal is not None:
        return answer_for(drafted.proposal, 201)
    return answer_for(drafted.known[0])


class ProposeParameterView(ParameterDoor):
    """201 with the new proposal; 200 with the one that says the same already."""

    @extend_schema(
        request=ParameterProposalSerializer, responses={201: ProposalSerializer, 200: ProposalSerializer}
    )
    def post(self, request: Request, name: str) -> Response:
        self.caller.check_unbound()
        spec_of(name)
        return self.idempotently(request, f"parameters/{name}", lambda: self._propose(request, name))

    def _propose(self, request: Request, name: str) -> Answer:
        fields = validated(ParameterProposalSerializer, request.data)
        drafted = propose_parameter(
            company=self.caller.company,
            name=name,
            value=fields["value"],
            reason=fields["reason"],
            actor=self.caller.actor,
            now=timezone.now(),
        )
        return _answer(drafted)


class RevertChangeView(ParameterDoor):
    """Draft a proposal that brings the value before the change back."""

    @extend_schema(request=RevertSerializer, responses={201: ProposalSerializer, 200: ProposalSerializer})
    def post(self, request: Request, change_id: int) -> Response:
        self.caller.check_unbound()
        get_change(self.caller.company, change_id)
        return self.idempotently(
            request, f"parameter-changes/{change_id}", lambda: self._revert(request, change_id)
        )

    def _revert(self, request: Request, change_id: int) -> Answer:
        fields = validated(RevertSerializer, fields_of(request))
        drafted = propose_revert(
            change=get_change(self.caller.company, change_id),
            company=self.caller.company,
            reason=fields.get("reason") or "",
            actor=self.caller.actor,
            now=timezone.now(),
        )
        return _answer(drafted)

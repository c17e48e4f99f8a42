"""GET|POST /proposals, GET /proposals/{code}, /text, PATCH /items/{n}, and the verbs."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.selectors import get_agent
from common.api.versions import etag, expected_versions
from common.api.views import FieldbookListView, FieldbookView, fields_of, validated
from common.errors import ApplicationError, invalid
from common.idempotency.services import Answer
from evolution.proposals.choices import Kind, Operation, Risk, Status, Trigger
from evolution.proposals.models import Proposal
from evolution.proposals.rules.display import proposal_text
from evolution.proposals.selectors import get_proposal, proposals_of
from evolution.proposals.serializers import (
    DecisionSerializer,
    ItemChangeSerializer,
    ProposalChangeSerializer,
    ProposalInputSerializer,
    ProposalSerializer,
    ProposalSummarySerializer,
    TextAnswerSerializer,
)
from evolution.proposals.services.applying import apply_proposal, approve_and_apply
from evolution.proposals.services.deciding import Decision, reject, skip
from evolution.proposals.services.drafting import Draft, ItemDraft, draft_proposal
from evolution.proposals.services.editing import edit_item, repropose, submit
from evolution.proposals.services.history import answer_lessons
from evolution.proposals.services.rolling_back import roll_back
from evolution.proposals.tasks import hint_mirror

_FILTERS = {"status": Status.values, "risk": Risk.values, "trigger": Trigger.values}


def answer_for(proposal: Proposal, status: int = 200) -> Answer:
    """A proposal as answered, with its ETag."""
    fresh = proposals_of(proposal.company).get(pk=proposal.pk)
    return Answer(status, ProposalSerializer(fresh).data, {"ETag": etag(fresh.version)})


class ProposalListView(FieldbookListView):
    """The company's proposals, newest first; draft one."""

    scopes = {"POST": "report"}
    staff_permissions = {"GET": "proposals.view_proposal", "POST": "proposals.add_proposal"}
    serializer_class = ProposalSerializer

    def get_queryset(self) -> QuerySet[Proposal]:
        queryset = proposals_of(self.caller.company, self.caller.agent_id, with_texts=False)
        queryset = queryset.order_by("-created_at", "-id")
        for name, known in _FILTERS.items():
            value = self.request.query_params.get(name)
            if value is None:
                continue
            if value not in known:
                values = {"name": name, "known": ", ".join(known)}
                raise invalid(f"/{name}", _("“%(name)s” is one of: %(known)s.") % values)
            queryset = queryset.filter(**{name: value})
        agent = self.request.query_params.get("agent")
        if agent is not None:
            queryset = queryset.filter(agent_id=number_of(agent, "agent"))
        return queryset

    @extend_schema(
        parameters=[
            OpenApiParameter("agent", int),
            *[OpenApiParameter(name, str, enum=known) for name, known in _FILTERS.items()],
        ],
        responses=ProposalSummarySerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return self.page_of(self.get_queryset(), ProposalSummarySerializer)

    @extend_schema(
        request=ProposalInputSerializer, responses={201: ProposalSerializer, 200: ProposalSerializer}
    )
    def post(self, request: Request) -> Response:
        return self.idempotently(request, "proposals", lambda: self._draft(request))

    def _draft(self, request: Request) -> Answer:
        fields = validated(ProposalInputSerializer, request.data)
        agent = None
        if fields.get("agent") is not None:
            agent = get_agent(self.caller.company, fields["agent"], self.caller.agent_id)
        if agent is None or any(item["operation"] == Operation.SET_PARAMETER for item in fields["items"]):
            self.caller.check_unbound()  # parameters are the whole company's
        draft = Draft(
            kind=fields.get("kind") or Kind.LEARNING,
            trigger=Trigger.MANUAL,
            title=fields.get("title") or "",
            rationale=fields.get("rationale") or "",
            user_id=fields.get("user_id") or "",
            conversation_id=fields.get("conversation_id") or "",
            cited_lessons=fields.get("cited_lessons") or (),
            items=[_item_draft(item) for item in fields["items"]],
        )
        drafted = draft_proposal(
            company=self.caller.company, agent=agent, draft=draft, actor=self.caller.actor, now=timezone.now()
        )
        if drafted.proposal is not None:
            return answer_for(drafted.proposal, 201)
        return answer_for(drafted.known[0], 200)


def _item_draft(fields: dict[str, Any]) -> ItemDraft:
    return ItemDraft(
        type=fields["type"],
        operation=fields["operation"],
        target=fields.get("target") or "",
        content=fields.get("content") or "",
        new_text=fields.get("new_text"),
        new_target=fields.get("new_target") or "",
    )


def number_of(raw: str, name: str) -> int:
    """A row number from the query. Errors: VALIDATION_ERROR."""
    if not (raw.isascii() and raw.isdigit() and len(raw) <= 18):
        raise invalid(f"/{name}", _("“%(name)s” must be a number.") % {"name": name})
    return int(raw)


class ProposalView(FieldbookView):
    """Base of the endpoints of one proposal."""

    def proposal(self, code: str) -> Proposal:
        return get_proposal(self.caller.company, code, self.caller.agent_id)


class ProposalDetailView(ProposalView):
    """One proposal with its items; say which lessons it heeds and which do not apply."""

    staff_permissions = {"GET": "proposals.view_proposal", "PATCH": "proposals.change_proposal"}

    @extend_schema(responses=ProposalSerializer)
    def get(self, request: Request, code: str) -> Response:
        proposal = self.proposal(code)
        return Response(ProposalSerializer(proposal).data, headers={"ETag": etag(proposal.version)})

    @extend_schema(request=ProposalChangeSerializer, responses=ProposalSerializer)
    def patch(self, request: Request, code: str) -> Response:
        fields = validated(ProposalChangeSerializer, fields_of(request))
        proposal = answer_lessons(
            proposal_id=self.proposal(code).pk,
            cited=fields.get("cited_lessons"),
            dismissed=fields.get("dismissed_lessons"),
            actor=self.caller.actor,
            now=timezone.now(),
            expected=expected_versions(request),
        )
        answer = answer_for(proposal)
        return Response(answer.body, headers=dict(answer.headers))


class ProposalTextView(ProposalView):
    """The proposal as a text to show in a conversation, in the agent's language."""

    staff_permissions = {"GET": "proposals.view_proposal"}

    @extend_schema(responses=TextAnswerSerializer)
    def get(self, request: Request, code: str) -> Response:
        proposal = self.proposal(code)
        text = proposal_text(proposal, list(proposal.items.all()), proposal.language)
        return Response({"text": text})


class ProposalItemView(ProposalView):
    """PATCH an item: it is worked out again; an approved proposal is pending again."""

    staff_permissions = {"PATCH": "proposals.change_proposal"}

    @extend_schema(request=ItemChangeSerializer, responses=ProposalSerializer)
    def patch(self, request: Request, code: str, number: int) -> Response:
        proposal = self.proposal(code)
        edit_item(
            proposal_id=proposal.pk,
            number=number,
            changes=validated(ItemChangeSerializer, request.data),
            actor=self.caller.actor,
            now=timezone.now(),
            expected=expected_versions(request),
        )
        answer = answer_for(proposal)
        return Response(answer.body, headers=dict(answer.headers))


class ProposalVerbView(ProposalView):
    """POST /proposals/{code}/{verb}. A key with `proposals:decide` may relay approve, reject and skip at low risk."""

    verb = ""

    @extend_schema(request=DecisionSerializer, responses=ProposalSerializer)
    def post(self, request: Request, code: str) -> Response:
        proposal = self.proposal(code)
        fields = validated(DecisionSerializer, fields_of(request))
        proposal = self.act(proposal, fields)
        answer = answer_for(proposal)
        return Response(answer.body, headers=dict(answer.headers))

    def act(self, proposal: Proposal, fields: dict[str, Any]) -> Proposal:
        raise NotImplementedError

    def decision(self, fields: dict[str, Any]) -> Decision:
        items = fields.get("items")
        return Decision(
            actor=self.caller.actor,
            now=timezone.now(),
            items=None if items is None else frozenset(items),
            reason=fields.get("reason") or "",
            confirmation=fields.get("confirmation") or "",
            decided_by=fields.get("decided_by") or "",
            shown_hash=fields.get("shown_hash"),
            expected=expected_versions(self.request),
        )

    def may(self, permission: str) -> bool:
        user = self.caller.user
        return user is not None and user.has_perm(permission)  # type: ignore[attr-defined]


NOTHING_WRITTEN = (Status.CONFLICT, Status.FAILED)


def with_outcome(proposal: Proposal) -> Proposal:
    """The proposal; the refusal that says why nothing was written, if an apply failed."""
    if proposal.status in NOTHING_WRITTEN:
        unavailable = proposal.failure_code == "PROTECTED_PATHS_UNAVAILABLE"
        raise ApplicationError(
            proposal.failure_code if unavailable else "STATE_CONFLICT",
            proposal.failure,
            extra={"proposal_status": proposal.status, "failure_code": proposal.failure_code},
        )
    if proposal.status in (Status.APPLIED, Status.ROLLED_BACK):
        hint_mirror(proposal.pk)
    return proposal


class ApproveView(ProposalVerbView):
    """Approve items. Who may also apply applies at once; a relayed approval applies by itself."""

    scopes = {"POST": "proposals:decide"}
    staff_permissions = {"POST": "proposals.approve_proposal"}

    def act(self, proposal: Proposal, fields: dict[str, Any]) -> Proposal:
        decided = approve_and_apply(
            proposal_id=proposal.pk,
            decision=self.decision(fields),
            applies=self.caller.key is not None or self.may("proposals.apply_proposal"),
            note=fields.get("note") or "",
        )
        return with_outcome(decided)


class RejectView(ProposalVerbView):
    """Reject items, with a reason."""

    scopes = {"POST": "proposals:decide"}
    staff_permissions = {"POST": "proposals.approve_proposal"}

    def act(self, proposal: Proposal, fields: dict[str, Any]) -> Proposal:
        return reject(proposal_id=proposal.pk, decision=self.decision(fields))


class SkipView(ProposalVerbView):
    """Skip items: not a rejection."""

    scopes = {"POST": "proposals:decide"}
    staff_permissions = {"POST": "proposals.approve_proposal"}

    def act(self, proposal: Proposal, fields: dict[str, Any]) -> Proposal:
        return skip(proposal_id=proposal.pk, decision=self.decision(fields))


class SubmitView(ProposalVerbView):
    """Let a draft wait for a decision."""

    scopes = {"POST": "report"}
    staff_permissions = {"POST": "proposals.change_proposal"}

    def act(self, proposal: Proposal, fields: dict[str, Any]) -> Proposal:
        return submit(
            proposal_id=proposal.pk,
            actor=self.caller.actor,
            now=timezone.now(),
            expected=expected_versions(self.request),
        )


class ReproposeView(ProposalVerbView):
    """Work a conflicting, failed or blocked proposal out again on the current text."""

    staff_permissions = {"POST": "proposals.change_proposal"}

    def act(self, proposal: Proposal, fields: dict[str, Any]) -> Proposal:
        return repropose(
            proposal_id=proposal.pk,
            actor=self.caller.actor,
            now=timezone.now(),
            expected=expected_versions(self.request),
        )


class ApplyView(ProposalVerbView):
    """Apply an approved proposal; 409 when nothing was written."""

    staff_permissions = {"POST": "proposals.apply_proposal"}

    def act(self, proposal: Proposal, fields: dict[str, Any]) -> Proposal:
        return with_outcome(
            apply_proposal(
                proposal_id=proposal.pk,
                actor=self.caller.actor,
                now=timezone.now(),
                expected=expected_versions(self.request),
                note=fields.get("note") or "",
            )
        )


class RollbackView(ProposalVerbView):
    """Take an applied proposal back."""

    staff_permissions = {"POST": "proposals.rollback_proposal"}

    def act(self, proposal: Proposal, fields: dict[str, Any]) -> Proposal:
        return with_outcome(
            roll_back(
                proposal_id=proposal.pk,
                reason=fields.get("reason") or "",
                actor=self.caller.actor,
                now=timezone.now(),
                decided_by=fields.get("decided_by") or "",
                confirmation=fields.get("confirmation") or "",
                expected=expected_versions(self.request),
            )
        )


VERBS = {
    "approve": ApproveView,
    "reject": RejectView,
    "skip": SkipView,
    "submit": SubmitView,
    "repropose": ReproposeView,
    "apply": ApplyView,
    "rollback": RollbackView,
}

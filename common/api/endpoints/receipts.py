"""GET /receipts, /receipts/{id}, /receipts/verify."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import (
    OpenApiParameter,
    PolymorphicProxySerializer,
    extend_schema,
    extend_schema_field,
)
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from common.api.pagination import whole_number
from common.api.views import FieldbookListView, FieldbookView
from common.errors import ApplicationError, invalid
from common.receipts.choices import ReceiptType
from common.receipts.models import Receipt, ReceiptLine
from common.receipts.selectors import as_yaml, export_shape, texts_of, verify_chain, with_texts

Fields = tuple[str, ...]
FORMATS = ["yaml", "json"]
TYPE = OpenApiParameter("type", str, enum=ReceiptType.values)


class ReceiptLineSerializer(serializers.ModelSerializer):
    """One line with its texts (`context["texts"]`: see `texts_of`)."""

    content = serializers.SerializerMethodField()
    rejection_reason = serializers.SerializerMethodField()

    class Meta:
        model = ReceiptLine
        fields: Fields = (
            "order",
            "type",
            "content",
            "target",
            "risk_level",
            "status",
            "document_version",
            "new_sha256",
            "rejection_reason",
        )
        read_only_fields: Fields = fields

    def get_content(self, line: ReceiptLine) -> str:
        return self.context["texts"].get((line.pk, "content"), "")

    def get_rejection_reason(self, line: ReceiptLine) -> str:
        return self.context["texts"].get((line.pk, "rejection_reason"), "")


class ReceiptSerializer(serializers.ModelSerializer):
    """A receipt in the list."""

    company = serializers.CharField(source="company_slug")
    agent = serializers.IntegerField(source="agent_id", allow_null=True)

    class Meta:
        model = Receipt
        fields: Fields = (
            "id",
            "company",
            "number",
            "agent",
            "agent_name",
            "type",
            "trigger",
            "proposal_code",
            "actor_name",
            "channel",
            "at",
            "totals",
            "detail",
            "sha256",
            "previous_sha256",
        )
        read_only_fields: Fields = fields


class ReceiptDetailSerializer(ReceiptSerializer):
    """A receipt with its lines."""

    lines = serializers.SerializerMethodField()

    class Meta(ReceiptSerializer.Meta):
        fields: Fields = (*ReceiptSerializer.Meta.fields, "lines")
        read_only_fields: Fields = fields

    @extend_schema_field(ReceiptLineSerializer(many=True))
    def get_lines(self, receipt: Receipt) -> Any:
        context = {"texts": texts_of(receipt)}
        return ReceiptLineSerializer(receipt.lines.all(), many=True, context=context).data


class ExportLineSerializer(serializers.Serializer):
    """One line in the export shape."""

    type = serializers.CharField()
    content = serializers.CharField(allow_blank=True)
    target = serializers.CharField()
    risk_level = serializers.CharField(allow_null=True)
    status = serializers.CharField()
    version = serializers.IntegerField(allow_null=True)
    rejection_reason = serializers.CharField(allow_null=True)


class ExportBodySerializer(serializers.Serializer):
    """A receipt in the export shape."""

    type = serializers.CharField()
    timestamp = serializers.DateTimeField()
    trigger = serializers.CharField()
    session_analysis = serializers.JSONField(allow_null=True)
    learning_items = ExportLineSerializer(many=True)
    metadata = serializers.DictField(child=serializers.IntegerField())


class ReceiptExportSerializer(serializers.Serializer):
    """The export shape, under one key."""

    receipt = ExportBodySerializer()


ReceiptAnswer = PolymorphicProxySerializer(
    "ReceiptAnswer", [ReceiptDetailSerializer, ReceiptExportSerializer], resource_type_field_name=None
)


class VerificationSerializer(serializers.Serializer):
    """Outcome of checking the company's chain."""

    company = serializers.CharField()
    checked = serializers.IntegerField()
    intact = serializers.BooleanField()
    first_bad = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)


class ReceiptView(FieldbookView):
    """Which receipts a caller sees: the company's, of one agent only for a key that is bound to one."""

    staff_permissions = {"GET": "receipts.view_receipt"}

    def visible(self) -> QuerySet[Receipt]:
        caller = self.caller
        receipts = Receipt.objects.filter(company=caller.company)
        if caller.user is not None:
            receipts = receipts.seen_by(caller.user)
        return receipts if caller.agent_id is None else receipts.filter(agent_id=caller.agent_id)


class ReceiptListView(ReceiptView, FieldbookListView):
    """The company's receipts, newest first."""

    @extend_schema(
        parameters=[OpenApiParameter("agent", int, description="Only receipts of this agent"), TYPE],
        responses=ReceiptSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        raw = request.query_params.get("agent")
        agent_id = None if raw is None else whole_number(raw)
        if raw is not None and agent_id is None:
            raise invalid("/agent", _("This must be the number of an agent."))
        return self.listed(agent_id)

    def listed(self, agent_id: int | None) -> Response:
        """A page of the receipts, of one agent if wanted, of one type if `?type=` says so."""
        receipts = self.visible()
        kind = self.request.query_params.get("type")
        if kind is not None:
            if kind not in ReceiptType.values:
                known = ", ".join(ReceiptType.values)
                raise invalid("/type", _("Unknown type; there are: %(known)s.") % {"known": known})
            receipts = receipts.filter(type=kind)
        if agent_id is not None:
            receipts = receipts.filter(agent_id=agent_id)
        return self.page_of(receipts.order_by("-at", "-id"), ReceiptSerializer)


class ReceiptDetailView(ReceiptView):
    """One receipt with its lines; `?format=yaml|json` gives the export shape."""

    @extend_schema(
        parameters=[OpenApiParameter("format", str, enum=FORMATS, description="The export shape")],
        responses={
            (200, "application/json"): ReceiptAnswer,
            (200, "application/yaml"): ReceiptExportSerializer,
        },
    )
    def get(self, request: Request, receipt_id: int) -> Response | HttpResponse:
        receipt = with_texts(self.visible()).filter(pk=receipt_id).first()
        if receipt is None:
            raise ApplicationError("NOT_FOUND", _("No such receipt."))
        shape = request.query_params.get("format")
        if shape is None:
            return Response(ReceiptDetailSerializer(receipt).data)
        if shape not in FORMATS:
            raise invalid("/format", _("Choose yaml or json."))
        if shape == "json":
            return Response(export_shape(receipt))
        return HttpResponse(as_yaml(receipt), content_type="application/yaml; charset=utf-8")


class ReceiptVerifyView(FieldbookView):
    """Recomputes the company's whole chain and names the first broken link."""

    staff_permissions = {"GET": "receipts.view_receipt"}

    @extend_schema(responses=VerificationSerializer)
    def get(self, request: Request) -> Response:
        self.caller.check_unbound()
        report = verify_chain(self.caller.company)
        values = {
            "company": report.company_slug,
            "checked": report.checked,
            "intact": report.intact,
            "first_bad": report.first_bad,
            "reason": report.reason,
        }
        return Response(VerificationSerializer(values).data)

"""GET /receipts, /receipts/{id}, /receipts/verify; the agent's receipts are listed by `?agent=`."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from common.api.views import FieldbookListView, FieldbookView
from common.errors import ApplicationError, invalid
from common.receipts.choices import ReceiptType
from common.receipts.models import Receipt, ReceiptLine
from common.receipts.selectors import as_yaml, export_shape, texts_of, verify_chain, with_texts


class ReceiptLineSerializer(serializers.ModelSerializer):
    """One line with its texts."""

    content = serializers.CharField(read_only=True)
    rejection_reason = serializers.CharField(read_only=True)

    class Meta:
        model = ReceiptLine
        fields = (
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
        read_only_fields = fields

    def to_representation(self, line: ReceiptLine) -> dict:
        texts = self.context["texts"]
        line.content = texts.get((line.pk, "content"), "")
        line.rejection_reason = texts.get((line.pk, "rejection_reason"), "")
        return super().to_representation(line)


class ReceiptSerializer(serializers.ModelSerializer):
    """A receipt in the list."""

    company = serializers.CharField(source="company_slug")
    agent = serializers.IntegerField(source="agent_id", allow_null=True)

    class Meta:
        model = Receipt
        fields = (
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
        read_only_fields = fields


class ReceiptDetailSerializer(ReceiptSerializer):
    """A receipt with its lines."""

    lines = serializers.SerializerMethodField()

    class Meta(ReceiptSerializer.Meta):
        fields = (*ReceiptSerializer.Meta.fields, "lines")
        read_only_fields = fields

    @extend_schema_field(ReceiptLineSerializer(many=True))
    def get_lines(self, receipt: Receipt) -> list:
        context = {"texts": texts_of(receipt)}
        return ReceiptLineSerializer(receipt.lines.all(), many=True, context=context).data


class VerificationSerializer(serializers.Serializer):
    """Outcome of checking the company's chain."""

    company = serializers.CharField()
    checked = serializers.IntegerField()
    intact = serializers.BooleanField()
    first_bad = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)


class ReceiptListView(FieldbookListView):
    """The company's receipts, newest first."""

    staff_permissions = {"GET": "receipts.view_receipt"}
    serializer_class = ReceiptSerializer

    def get_queryset(self) -> QuerySet[Receipt]:
        queryset = Receipt.objects.filter(company=self.caller.company)
        if self.caller.agent_id is not None:
            queryset = queryset.filter(agent_id=self.caller.agent_id)
        kind = self.request.query_params.get("type")
        if kind is not None:
            if kind not in ReceiptType.values:
                known = ", ".join(ReceiptType.values)
                raise invalid("/type", _("Unknown type; there are: %(known)s.") % {"known": known})
            queryset = queryset.filter(type=kind)
        agent = self.kwargs.get("pk") or self.request.query_params.get("agent")
        if agent is not None:
            if not str(agent).isdigit() or len(str(agent)) > 18:
                raise invalid("/agent", _("This must be the number of an agent."))
            queryset = queryset.filter(agent_id=int(agent))
        return queryset.order_by("-at", "-id")

    @extend_schema(
        parameters=[
            OpenApiParameter("agent", int, description="Only receipts of this agent"),
            OpenApiParameter("type", str, enum=ReceiptType.values),
        ],
        responses=ReceiptSerializer(many=True),
    )
    def get(self, request: Request, **kwargs: object) -> Response:
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(ReceiptSerializer(page, many=True).data)


class ReceiptDetailView(FieldbookView):
    """One receipt with its lines; `?export=yaml|json` gives the export shape."""

    staff_permissions = {"GET": "receipts.view_receipt"}

    @extend_schema(
        parameters=[OpenApiParameter("export", str, enum=["yaml", "json"])],
        responses=ReceiptDetailSerializer,
    )
    def get(self, request: Request, receipt_id: int) -> Response | HttpResponse:
        queryset = with_texts(Receipt.objects.filter(company=self.caller.company))
        if self.caller.agent_id is not None:
            queryset = queryset.filter(agent_id=self.caller.agent_id)
        receipt = queryset.filter(pk=receipt_id).first()
        if receipt is None:
            raise ApplicationError("NOT_FOUND", _("No such receipt."))
        export = request.query_params.get("export") or request.query_params.get("format")
        if export == "yaml":
            return HttpResponse(as_yaml(receipt), content_type="application/yaml; charset=utf-8")
        if export == "json":
            return Response(export_shape(receipt))
        if export is not None:
            raise invalid("/export", _("Choose yaml or json."))
        return Response(ReceiptDetailSerializer(receipt).data)


class ReceiptVerifyView(FieldbookView):
    """Recomputes the company's whole chain and names the first broken link."""

    staff_permissions = {"GET": "receipts.view_receipt"}

    @extend_schema(responses=VerificationSerializer)
    def get(self, request: Request) -> Response:
        report = verify_chain(self.caller.company)
        values = {
            "company": report.company_slug,
            "checked": report.checked,
            "intact": report.intact,
            "first_bad": report.first_bad,
            "reason": report.reason,
        }
        return Response(VerificationSerializer(values).data)

"""GET /agents/{id}/receipts."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.views.base import AgentsView
from common.api.endpoints.receipts import TYPE, ReceiptListView, ReceiptSerializer


class AgentReceiptListView(AgentsView, ReceiptListView):
    """The receipts of one agent, as far as the caller's company has any, newest first.

    Of a deleted agent they are found by `GET /receipts?agent=`.
    """

    @extend_schema(parameters=[TYPE], responses=ReceiptSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:  # type: ignore[override]
        return self.listed(self.agent(pk).pk)

"""Pages by number: `page`, `page_size` (50, at most 200); answers count, next, previous, results."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import pagination
from rest_framework.request import Request

from common.errors import invalid

_MAX_DIGITS = 18


class PageNumberPagination(pagination.PageNumberPagination):
    """Refuses a page size that is no number from 1 to 200 instead of guessing."""

    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"

    last_page_strings = ()

    def get_page_size(self, request: Request) -> int:
        raw = request.query_params.get("page_size")
        if raw is None:
            return self.page_size
        size = whole_number(raw)
        if size is None or not 1 <= size <= self.max_page_size:
            raise invalid(
                "/page_size",
                _("page_size must be a number from 1 to %(limit)d.") % {"limit": self.max_page_size},
            )
        return size

    def get_page_number(self, request: Request, paginator: Any) -> int:
        number = whole_number(request.query_params.get("page", "1"))
        if not number:
            raise invalid("/page", _("page must be a number from 1."))
        return number

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """The limits, for readers and tests of the OpenAPI document."""
        parameters = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            parameter["schema"]["minimum"] = 1
            if parameter["name"] == self.page_size_query_param:
                parameter["schema"] |= {"maximum": self.max_page_size, "default": self.page_size}
        return parameters


def whole_number(text: str) -> int | None:
    """The number that up to 18 plain digits spell (it fits a 64-bit column), or None."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else None

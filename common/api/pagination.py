"""Pages by number: `page`, `page_size` (50, at most 200); answers count, next, previous, results."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from rest_framework import pagination
from rest_framework.request import Request

from common.errors import invalid


class PageNumberPagination(pagination.PageNumberPagination):
    """Refuses a page size that is no number from 1 to 200 instead of guessing."""

    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"

    def get_page_size(self, request: Request) -> int:
        raw = request.query_params.get("page_size")
        if raw is None:
            return self.page_size
        if not (raw.isascii() and raw.isdigit() and len(raw) < 5 and 1 <= int(raw) <= self.max_page_size):
            raise invalid(
                "/page_size",
                _("page_size must be a number from 1 to %(limit)d.") % {"limit": self.max_page_size},
            )
        return int(raw)

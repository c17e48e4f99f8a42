"""What must happen before a view sees an API request."""

from __future__ import annotations

import io
from collections.abc import Callable

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from common.api.errors import API_PREFIX, problem_response
from common.api.parsers import body_too_large, read_limited
from common.errors import ApplicationError, invalid
from common.text import forbidden_character


class StrictInputMiddleware:
    """Refuses what no view should meet: too large a body, however it is sent, and a NUL in the query."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path.startswith(API_PREFIX):
            # Whatever charset a client announces: bodies and queries of the API are UTF-8.
            request.encoding = "utf-8"
            try:
                _check_size(request)
                _check_query(request)
            except ApplicationError as error:
                return problem_response(error, request)
        return self.get_response(request)


def _check_size(request: HttpRequest) -> None:
    """BODY_TOO_LARGE for an announced body above the limit before anything is read, else while reading."""
    announced = request.META.get("CONTENT_LENGTH") or ""
    if announced.isascii() and announced.isdigit():
        if int(announced[:18]) > settings.API_MAX_BODY_BYTES:
            raise body_too_large(int(announced[:18]))
    elif request.META.get("wsgi.input_terminated") and request.headers.get("Transfer-Encoding"):
        # A chunked body; Django takes a body without a length for an empty one.
        body = read_limited(request.META["wsgi.input"])
        request.META["CONTENT_LENGTH"] = str(len(body))
        request._stream = io.BytesIO(body)  # type: ignore[attr-defined]


def _check_query(request: HttpRequest) -> None:
    """VALIDATION_ERROR for a NUL in the query string: PostgreSQL would fail on it, SQLite would not."""
    for name, values in request.GET.lists():
        if any(forbidden_character(text) for text in (name, *values)):
            raise invalid("", _("The query contains a NUL character; remove it."))


class RequestIdHeaderMiddleware:
    """Returns the request id of the logs to the caller as `X-Request-ID`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = structlog.contextvars.get_contextvars().get("request_id", "")
        response = self.get_response(request)
        response["X-Request-ID"] = request_id
        return response

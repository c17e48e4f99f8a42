"""What must happen before a view sees an API request."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from common.api.errors import API_PREFIX, problem_response
from common.api.parsers import body_too_large


class BodyLimitMiddleware:
    """Answers 413 for an announced body above the limit, before anything is read."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path.startswith(API_PREFIX):
            announced = request.META.get("CONTENT_LENGTH") or "0"
            if announced.isdigit() and int(announced) > settings.API_MAX_BODY_BYTES:
                return problem_response(body_too_large(int(announced)), request)
        return self.get_response(request)


class RequestIdHeaderMiddleware:
    """Returns the request id of the logs to the caller as `X-Request-ID`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = structlog.contextvars.get_contextvars().get("request_id", "")
        response = self.get_response(request)
        response["X-Request-ID"] = request_id
        return response

"""One shape of errors (RFC 9457) for everything under /api: ours, the framework's and the unexpected."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext_lazy as _
from django.views import csrf, defaults
from redis.exceptions import RedisError
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.utils.serializer_helpers import ReturnDict
from rest_framework.views import set_rollback

from common.api.renderers import RESULT, result_error
from common.errors import ApplicationError, Fault, below

PROBLEM = "application/problem+json"
API_PREFIX = "/api/"
#: Where the result+json profile is spoken.
RESULT_PREFIX = "/api/v1/agents"
#: Faults named in one answer; a list of 100,000 wrong items must not make an answer of 10 MB.
MAX_FAULTS = 100
log = structlog.get_logger(__name__)

_TITLES = {
    400: _("Invalid request"),
    401: _("Not authenticated"),
    403: _("Not allowed"),
    404: _("Not found"),
    405: _("Method not allowed"),
    406: _("Not acceptable"),
    409: _("Conflict"),
    410: _("Gone"),
    412: _("Changed in the meantime"),
    413: _("Too large"),
    415: _("Unsupported media type"),
    428: _("If-Match is required"),
    429: _("Too many requests"),
    500: _("Unexpected error"),
    503: _("Not available right now"),
}

_FRAMEWORK_CODES: list[tuple[type[Exception], str]] = [
    (exceptions.ValidationError, "VALIDATION_ERROR"),
    (exceptions.ParseError, "VALIDATION_ERROR"),
    (exceptions.NotAuthenticated, "AUTH_REQUIRED"),
    (exceptions.AuthenticationFailed, "API_KEY_INVALID"),
    (exceptions.PermissionDenied, "PERMISSION_DENIED"),
    (PermissionDenied, "PERMISSION_DENIED"),
    (exceptions.NotFound, "NOT_FOUND"),
    (Http404, "NOT_FOUND"),
    (exceptions.MethodNotAllowed, "METHOD_NOT_ALLOWED"),
    (exceptions.NotAcceptable, "NOT_ACCEPTABLE"),
    (exceptions.UnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE"),
    (exceptions.Throttled, "RATE_LIMITED"),
]


def as_application_error(exc: Exception) -> ApplicationError | None:
    """The application's form of an exception; None for a bug."""
    if isinstance(exc, ApplicationError):
        return exc
    if isinstance(exc, OperationalError | InterfaceError | RedisError):
        log.error("backend_unavailable", exc_info=exc)
        return ApplicationError(
            "SERVICE_UNAVAILABLE", _("A part of the system does not answer; try again shortly.")
        )
    if isinstance(exc, SuspiciousOperation):
        return malformed()
    for kind, code in _FRAMEWORK_CODES:
        if isinstance(exc, kind):
            return _from_framework(exc, code)
    return None


def malformed() -> ApplicationError:
    """What Django itself refuses to read, e.g. a form of more fields than it takes."""
    return ApplicationError("VALIDATION_ERROR", _("The request is malformed, or has too many fields."))


def _from_framework(exc: Exception, code: str) -> ApplicationError:
    if isinstance(exc, exceptions.ValidationError):
        faults = list(faults_of(exc.detail))
        return ApplicationError(code, faults[0].detail if faults else "", errors=faults)
    if isinstance(exc, exceptions.Throttled):
        seconds = max(math.ceil(getattr(exc, "wait", None) or 1), 1)
        message = _("Too many requests; try again in %(seconds)d seconds.") % {"seconds": seconds}
        return ApplicationError(code, message, extra={"retry_after": seconds})
    detail = getattr(exc, "detail", None) or _("There is nothing here.")
    return ApplicationError(code, detail)


def faults_of(detail: Any, pointer: str = "") -> Iterator[Fault]:
    """Walk DRF's nested error detail; yields one Fault a message, with a JSON pointer."""
    if isinstance(detail, (Mapping, ReturnDict)):
        for key, value in detail.items():
            at = pointer if key == "non_field_errors" else below(pointer, key)
            yield from faults_of(value, at)
    elif isinstance(detail, Sequence) and not isinstance(detail, str):
        nested = any(isinstance(item, (Mapping, list)) for item in detail)
        for index, item in enumerate(detail):
            yield from faults_of(item, f"{pointer}/{index}" if nested else pointer)
    elif detail:
        code = str(getattr(detail, "code", "invalid")).upper()
        yield Fault(pointer, "VALIDATION_ERROR" if code == "INVALID" else code, str(detail))


def problem(error: ApplicationError, instance: str) -> dict[str, Any]:
    """The problem document of an error; further members never replace the standard ones."""
    return {
        **error.extra,
        "type": f"urn:fieldbook:problem:{error.code.lower().replace('_', '-')}",
        "title": str(_TITLES.get(error.status, _("Error"))),
        "status": error.status,
        "detail": str(error.message),
        "instance": instance,
        "code": error.code,
        "errors": [
            {"pointer": fault.pointer, "code": fault.code, "detail": str(fault.detail)}
            for fault in error.errors[:MAX_FAULTS]
        ],
    }


def exception_handler(exc: Exception, context: Mapping[str, Any]) -> Response:
    """DRF's hook: every exception of an endpoint leaves as a problem document."""
    set_rollback()
    request = context.get("request")
    instance = request.path if request is not None else ""
    error = as_application_error(exc)
    if error is None:
        log.exception("unexpected_error", exc_info=exc)
        error = ApplicationError("SERVER_ERROR", _("Something went wrong; the request id helps to find it."))
    response = Response(problem(error, instance), status=error.status)
    _headers(response, error)
    return response


def _headers(response: HttpResponse, error: ApplicationError) -> None:
    if error.status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="fieldbook"'
    if error.status in (429, 503):
        response["Retry-After"] = str(int(error.extra.get("retry_after", 1)))


def problem_response(error: ApplicationError, request: HttpRequest) -> JsonResponse:
    """A problem document outside DRF (middleware, unknown routes, CSRF); result+json where that is spoken."""
    document, content_type = problem(error, request.path), PROBLEM
    if request.path.startswith(RESULT_PREFIX) and RESULT in request.headers.get("Accept", ""):
        document, content_type = result_error(error.status, document), RESULT
    response = JsonResponse(
        document,
        status=error.status,
        content_type=content_type,
        json_dumps_params={"ensure_ascii": False},
    )
    _headers(response, error)
    return response


def handle_404(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Unknown routes: a problem under /api, a page elsewhere."""
    if request.path.startswith(API_PREFIX):
        return problem_response(ApplicationError("NOT_FOUND", _("There is nothing here.")), request)
    return defaults.page_not_found(request, exception)


def handle_500(request: HttpRequest) -> HttpResponse:
    """Unexpected errors outside DRF; says nothing about the inside."""
    if request.path.startswith(API_PREFIX):
        return problem_response(ApplicationError("SERVER_ERROR", _("Something went wrong.")), request)
    return defaults.server_error(request)


def handle_400(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Requests that Django itself refuses (bad host, too many fields)."""
    if request.path.startswith(API_PREFIX):
        return problem_response(malformed(), request)
    return defaults.bad_request(request, exception)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A POST without a valid CSRF token."""
    if request.path.startswith(API_PREFIX):
        return problem_response(
            ApplicationError("PERMISSION_DENIED", _("The CSRF token is missing.")), request
        )
    return csrf.csrf_failure(request, reason=reason)

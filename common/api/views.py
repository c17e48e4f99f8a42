"""Bases of the endpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from common.api.callers import Caller
from common.api.errors import PROBLEM
from common.api.pagination import PageNumberPagination
from common.errors import invalid
from common.idempotency.services import Answer, run_once
from common.strict_json import canonical


class FieldbookView(APIView):
    """Every endpoint: `self.caller` is set once the permission has passed.

    Subclasses declare `scopes` and `staff_permissions` per method (see `ScopePermission`).
    """

    caller: Caller
    scopes: dict[str, str] = {}
    staff_permissions: dict[str, str] = {}
    reads: frozenset[str] = frozenset()

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        return as_problem(response)

    def options(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """What may be asked here is in the header `Allow`; shapes are in the OpenAPI document."""
        return Response(status=204)

    def idempotently(self, request: Request, kind: str, effect: Callable[[], Answer]) -> Response:
        """Run `effect` once per Idempotency-Key (header or `idempotency_key`); without a key, just run it."""
        key = idempotency_key(request)
        if key is None:
            answer = effect()
        else:
            body = {name: value for name, value in fields_of(request).items() if name != "idempotency_key"}
            answer = run_once(
                company_id=self.caller.company.pk,
                kind=kind,
                key=key,
                body=canonical(_exact(body)),
                now=timezone.now(),
                effect=effect,
            )
        return Response(answer.body, status=answer.status, headers=dict(answer.headers))


class FieldbookListView(FieldbookView):
    """An endpoint with a paged list."""

    pagination_class = PageNumberPagination

    @cached_property
    def paginator(self) -> PageNumberPagination:
        return self.pagination_class()

    def paginate_queryset(self, rows: Any) -> list[Any]:
        """The page that `page` and `page_size` ask for; the order of `rows` must end in `id`."""
        return list(self.paginator.paginate_queryset(rows, self.request, view=self) or [])

    def get_paginated_response(self, data: Any) -> Response:
        """count, next, previous, results."""
        return self.paginator.get_paginated_response(data)

    def page_of(self, rows: Any, serializer: type[BaseSerializer]) -> Response:
        """The page asked for, in the shape of `serializer`."""
        return self.get_paginated_response(serializer(self.paginate_queryset(rows), many=True).data)


def as_problem(response: Any) -> Any:
    """An error in plain JSON leaves as `application/problem+json`."""
    plain = getattr(response, "accepted_media_type", "").startswith("application/json")
    if isinstance(response, Response) and response.status_code >= 400 and plain:
        response.content_type = PROBLEM
    return response


def idempotency_key(request: Request) -> str | None:
    """The key of a request, from the header or the body; both with different values is an error."""
    header = request.headers.get("Idempotency-Key")
    body = fields_of(request).get("idempotency_key")
    if body is not None and not isinstance(body, str):
        raise invalid("/idempotency_key", _("The key must be a text."))
    if header is not None and body is not None and header != body:
        raise invalid("/idempotency_key", _("Header and body name different keys."))
    return header if header is not None else body


def fields_of(request: Request) -> dict[str, Any]:
    """The body as a mapping, empty without a body; VALIDATION_ERROR for any other JSON value."""
    if not isinstance(request.data, dict):
        raise invalid("", _("The body must be a JSON object."))
    return request.data


def _exact(value: Any) -> Any:
    """Numbers as text, so that any JSON body has one canonical form."""
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_exact(item) for item in value]
    return repr(value) if isinstance(value, float) else value


def validated(serializer: type[BaseSerializer], data: Any) -> dict[str, Any]:
    """The validated fields of a body; raises DRF's ValidationError, which leaves as a problem document."""
    checked = serializer(data=data)
    checked.is_valid(raise_exception=True)
    return dict(checked.validated_data)
